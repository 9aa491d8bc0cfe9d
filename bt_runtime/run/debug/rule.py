"""A debugger's rules for nodes, by path pattern: breakpoints and forced results."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

from py_trees.common import Status

from bt_runtime.language.expression import Expression, ExpressionError, compile
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.pattern import matches
from bt_runtime.run.debug.script import LaterResult, Script, after
from bt_runtime.types import Json

Moment = Literal["before", "after", "success", "failure", "running", "skipped"]
MOMENTS: tuple[str, ...] = get_args(Moment)
RESULTS = {"success": Status.SUCCESS, "failure": Status.FAILURE, "running": Status.RUNNING}
MOST_RULES = 64  # breakpoints and forced results together
MOST_ACTS = 256  # results of one forced node, one a start
LONGEST = 1000  # characters of a pattern or a condition


class Breakpoint(NamedTuple):
    """A breakpoint: `before` a node starts, `after` it ended, or when it newly returns a status."""

    number: int
    pattern: str
    moment: Moment = "before"
    condition: Expression | None = None
    once: bool = False  # gone as soon as it was hit

    def text(self) -> str:
        test = f" if {self.condition.text}" if self.condition is not None else ""
        return f"{self.moment} {self.pattern}{test}"


class ForcedResult(NamedTuple):
    """A forced result: matching nodes follow a script instead of their own behaviour."""

    number: int
    pattern: str
    acts: tuple[Json, ...]  # as written: `failure`, `running`, [3, "success"]
    script: Script

    def begin(self) -> LaterResult:
        begun = self.script.begin({})
        if self.script.started > len(self.script.acts):
            self.script.starts.pop()  # of a long run only the count up to the last act matters
        return begun

    def text(self) -> str:
        said = ", ".join(f"{a[1]} after {a[0]} ticks" if isinstance(a, list) else str(a) for a in self.acts)
        return f"{self.pattern} is forced: {said}"


Rule = Breakpoint | ForcedResult


def breakpoint_of(number: int, pattern: str, moment: str, condition: str, once: bool) -> Breakpoint:
    short(pattern, "a pattern")
    if moment not in MOMENTS:
        raise BtError(f"a breakpoint cannot be `{moment}` a node", f"say one of {', '.join(MOMENTS)}")
    found: Any = moment
    return Breakpoint(number, pattern, found, tested(condition), once)


def tested(condition: str) -> Expression | None:
    if not condition:
        return None
    short(condition, "a condition")
    try:
        return compile(condition)
    except ExpressionError as error:
        raise BtError(
            f"`{condition}`: {error.message}", error.hint or "an expression over entries: battery < 0.2"
        ) from error


def force_of(number: int, pattern: str, acts: tuple[Json, ...]) -> ForcedResult:
    short(pattern, "a pattern")
    if not acts:
        raise BtError("no result is named that is to be forced", f"name one: {', '.join(RESULTS)}")
    if len(acts) > MOST_ACTS:
        raise BtError(
            f"{len(acts):,} results are too many", f"at most {MOST_ACTS}; the last one is given again and again"
        )
    return ForcedResult(number, pattern, acts, Script([act_of(each) for each in acts]))


def act_of(act: Json) -> Any:
    """Parses one result of a script: `failure`, or `[3, "success"]`: running for three ticks, then success."""
    if isinstance(act, str) and act.lower() in RESULTS:
        return RESULTS[act.lower()]
    if isinstance(act, list | tuple) and len(act) == 2 and type(act[0]) is int and act[0] >= 0:
        return after(act[0], act_of(act[1]))
    raise BtError(
        f"`{act}` is no result", 'say success, failure or running, or [3, "success"] for three ticks before it'
    )


def short(text: str, what: str) -> None:
    if not text or len(text) > LONGEST:
        raise BtError(f"{what} has 1 to {LONGEST:,} characters, not {len(text):,}", "a path: /patrol/dock, **/dock")


class Matching:
    """Rules by path. A rule without `*` costs other nodes nothing."""

    def __init__(self, rules: list[Rule]) -> None:
        self.wild = [rule for rule in rules if not rule.pattern.startswith("/") or set("*?") & set(rule.pattern)]
        self.exact: dict[str, list[Rule]] = {}
        for rule in rules:
            if rule not in self.wild:
                self.exact.setdefault(rule.pattern, []).append(rule)

    def at(self, path: str) -> list[Rule]:
        """Returns the rules for a path in the order of their creation."""
        found = [rule for rule in self.wild if matches(rule.pattern, path)]
        found += self.exact.get(path, [])
        return sorted(found, key=lambda rule: rule.number) if found[1:] else found
