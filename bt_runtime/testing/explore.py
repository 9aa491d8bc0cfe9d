"""Every course of events of a tree whose entries are bounded, until no new state comes; by the real engine.

    explored = explore("door", never="open and locked")
    assert explored.finding is None, explored.finding

A state is what nodes and entries are between two ticks. From each, all that may happen next is tried: any running skill
goes on, succeeds or fails, any entry that somebody outside writes gets another of its values, or the time comes at
which the tree wants a tick. Time passes only from one such time to the next.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.run.run import Tree
from bt_runtime.skills.skill import Skill
from bt_runtime.testing.case import BROKEN, Case, Finding, Move, Subject, moved, played
from bt_runtime.testing.casting import nodes_of, skills_of
from bt_runtime.testing.promise import Broken
from bt_runtime.testing.trial import Trial
from bt_runtime.testing.values import Values
from bt_runtime.tree.gist import family_of
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, Node, path_of
from bt_runtime.types import Json

STATES = 5_000  # that are looked at, unless whoever asks says otherwise
_OWN = frozenset(
    {
        "id",
        "name",
        "spec",
        "context",
        "scope",
        "parent",
        "children",
        "segment",
        "born",
        "logger",
        "blackboards",
        "entry",
        "feedback_message",
        "_said",
        "seen_as",
        "places",
        "policy",
        "target",
        "activity",
        "quick",
        "constant",
        "status",
        "taken",
        "written",
        "follows",
        "fixed",
        "sentence",
        "last",
        "inner",
        "within",
        "tree",
        "plain",
        "covered",
        "_Behaviour__status",
        "between",
        "crashes_before",
        "qualified_name",
        "iterator",
        "test",
    }
)  # fmt: skip - of a node: what never changes, or says nothing of what it will do


@dataclass(frozen=True)
class Explored:
    """`whole`: were all states seen, or only so many?"""

    finding: Finding | None
    states: int
    steps: int
    whole: bool


class Oracle:
    """Answers each question by a choice: those of a prefix first, then always the first one."""

    def __init__(self, prefix: Sequence[int] = ()) -> None:
        self.prefix = prefix
        self.trail: list[tuple[int, int]] = []  # the choice, out of how many

    def choose(self, options: Sequence[Any]) -> Any:
        at = len(self.trail)
        choice = self.prefix[at] if at < len(self.prefix) else 0
        self.trail.append((choice, len(options)))
        return options[choice]

    def next(self) -> list[int] | None:
        """The prefix that comes after this trail, in order; None: it was the last."""
        trail = list(self.trail)
        while trail and trail[-1][0] + 1 == trail[-1][1]:
            trail.pop()
        return [*(c for c, _ in trail[:-1]), trail[-1][0] + 1] if trail else None


class Play:
    """One course of events, as far as it was chosen."""

    def __init__(self, explorer: _Explorer) -> None:
        self.explorer = explorer
        self.oracle = Oracle()
        self.acts: dict[str, list[list[Any]]] = {}  # skill → its starts: ticks, result
        self.moves: list[Move] = []
        self.inputs: dict[str, Json] = {}
        self.trial: Trial | None = None

    def begin(self) -> None:
        """The first choices: what the run is given."""
        self.inputs = dict(self.explorer.inputs)
        for name, values in self.explorer.starts.items():
            self.inputs[name] = self.oracle.choose(values)
        subject = self.explorer.subject
        self.trial = Trial(subject.tree, allow="*", inputs=self.inputs, slow=None)
        self.trial.promises = subject.promises
        self.trial.run.context.services.scripted_skills = self

    def get(self, name: str) -> type[Skill]:
        """As the cast of the trial."""
        play, options = self, self.explorer.results[name]

        class Chosen(Skill):
            wakes = True  # time passes by what else is due

            def start(self, **params: Any) -> None:
                self.record: list[Any] = [0, None]
                play.acts.setdefault(name, []).append(self.record)

            def poll(self) -> Any:
                said: Any = play.oracle.choose(options)
                if said is RUNNING:
                    self.record[0] += 1
                    return RUNNING
                self.record[1] = said
                if isinstance(said, BaseException):
                    raise said
                if said is FAILURE:
                    return FAILURE
                if said is SUCCESS:
                    return SUCCESS
                self.result = said
                return SUCCESS

        return Chosen

    def step(self) -> None:
        """One tick, and what happens before it. Raises Broken."""
        trial = self.trial
        assert trial is not None
        began, now = bool(trial.ticks), trial.clock.now()
        if began:
            written = self.oracle.choose(self.explorer.changes(trial))
            if written is not None:
                self.do(("set", *written))
        due = trial.due if began else now
        waits = math.isfinite(due) and due > now
        if waits and self.oracle.choose((False, True)):
            self.do(("advance", due - now))
        else:
            self.do(("tick", 1))

    def do(self, move: Move) -> None:
        assert self.trial is not None
        self.moves.append(move)
        moved(self.trial, move)

    def close(self) -> None:
        if self.trial is not None:
            self.trial.close()

    def case(self) -> Case:
        skills = {name: [played(*start) for start in starts] for name, starts in self.acts.items()}
        return Case(self.inputs, skills, {}, tuple(self.moves))


class _Explorer:
    def __init__(self, subject: Subject, values: Values, inputs: Mapping[str, Json]) -> None:
        self.subject, self.inputs = subject, inputs
        tree = subject.tree.spec
        self.playable(tree)
        kinds = skills_of(tree)
        values.unused(f.name for kind in kinds.values() for f in kind.fields if f.writes)
        catches = any(node.kind.name == "try" for node in nodes_of(tree))
        self.results = {name: self.of(kind, values, catches) for name, kind in kinds.items()}
        self.starts = {n: self.listed(p, values) for n, p in tree.inputs.items() if n not in inputs}
        outside = [port for port in values.outside() if port.name not in inputs]
        self.entries = {port.name: self.listed(port, values) for port in outside}
        self.starts |= {port.name: self.entries[port.name] for port in outside if port.required}

    def playable(self, tree: Any) -> None:
        for node in nodes_of(tree):
            if node.kind.asks or node.kind.foreign or node.again is not None:
                what = (
                    "asks a model" if node.kind.asks else "is none of ours" if node.kind.foreign else "grows the tree"
                )
                raise BtError(
                    f"`{node.kind.name}` ({node.file}:{node.span.line}) {what}: its states cannot be listed",
                    "try the tree by random cases instead: btr fuzz",
                )

    def of(self, kind: Kind, values: Values, catches: bool) -> list[Any]:
        """What a skill may say when it is looked at."""
        good: list[Any] = [{}]
        for output in (f for f in kind.fields if f.writes):
            good = [{**made, output.name: value} for made in good for value in self.listed(output, values)]
        instant = kind.data["entry"].instant
        ends: list[Any] = [*(made or SUCCESS for made in good), FAILURE, *([RuntimeError(BROKEN)] if catches else [])]
        return ends if instant else [RUNNING, *ends]

    def listed(self, port: Any, values: Values) -> list[Json]:
        found = values.bounded(port)
        if found is None:
            default = getattr(port, "default", None)
            if isinstance(default, str | int | float | list | dict):
                return [default]  # it stays as it is
            raise BtError(
                f"the values of `{port.name}` cannot be listed: it is of type {port.type}",
                f"say which are to be tried: --values '{port.name}=…, …', or values={{'{port.name}': […]}}",
            )
        return found

    def changes(self, trial: Trial) -> list[tuple[str, Json] | None]:
        """Nothing, or one entry gets another value."""
        board = trial.board
        there = [(name, values) for name, values in self.entries.items() if len(values) > 1]
        return [None, *((name, value) for name, values in there for value in values if value != board.get(name, _NO))]


_NO = object()


def explore(
    tree: str | Path | Tree,
    *,
    never: str | Iterable[str] = (),
    always: str | Iterable[str] = (),
    states: int = STATES,
    inputs: Mapping[str, Json] | None = None,
    values: Mapping[str, Sequence[Json]] | None = None,
    project: Path | str | None = None,
    found_by: str = "",
) -> Explored:
    """The shortest course of events that breaks a promise, or that there is none; at most so many states are seen."""
    subject = Subject(tree, never, always, project)
    explorer = _Explorer(subject, Values(subject.tree.spec, values), inputs or {})
    search = _Search(explorer, states)
    broken = search.run()
    finding = subject.finding(broken, found_by or "explore(…)") if broken is not None else None
    if broken is None and search.whole and search.last is not None:
        subject.promises.known(search.last.run)
    return Explored(finding, len(search.seen), search.steps, search.whole)


class _Search:
    """Breadth first, so that what is found is the shortest. A state is come to by making its choices once more."""

    def __init__(self, explorer: _Explorer, most: int) -> None:
        self.explorer, self.most = explorer, most
        self.seen: set[Hashable] = set()
        self.todo: deque[tuple[tuple[int, ...], ...]] = deque([()])
        self.steps = 0
        self.whole = True
        self.last: Trial | None = None

    def run(self) -> Case | None:
        while self.todo:
            way = self.todo.popleft()
            prefix: list[int] | None = []
            while prefix is not None:
                if len(self.seen) >= self.most:
                    self.whole = False
                    return None
                play = Play(self.explorer)
                try:
                    prefix, broken = self.beyond(play, way, prefix)
                finally:
                    play.close()
                if broken:
                    return play.case()
        return None

    def beyond(self, play: Play, way: tuple[tuple[int, ...], ...], prefix: list[int]) -> tuple[list[int] | None, bool]:
        """One step more than this way: what is to be tried after it, and whether a promise was broken."""
        for number, chosen in enumerate((*way, tuple(prefix))):
            play.oracle = Oracle(chosen)
            if number == 0:
                play.begin()
            try:
                play.step()
            except Broken:
                return None, True
        trial = self.last = play.trial
        assert trial is not None
        self.steps += 1
        state = seen_as(trial)
        if state not in self.seen:
            self.seen.add(state)
            if trial.status is RUNNING:
                self.todo.append((*way, tuple(choice for choice, _ in play.oracle.trail)))
        if any(crash for crash in trial.crashes if not crash.message.endswith(BROKEN)):
            return None, True
        return play.oracle.next(), False


def seen_as(trial: Trial) -> Hashable:
    """The state between two ticks: nodes, entries, and how far off each time is."""
    now = trial.clock.now()
    nodes = tuple(_node(node, now) for node in trial.run.nodes())
    board = trial.run.context.blackboard.snapshot()
    entries = tuple((path, tuple(sorted((n, repr(v)) for n, v in own.items()))) for path, own in sorted(board.items()))
    due = trial.due - now if math.isfinite(trial.due) else trial.due
    return nodes, entries, round(due, 6) if math.isfinite(due) else due


def _node(node: Behaviour, now: float) -> Hashable:
    about = vars(node)
    spec: Any = node.spec if isinstance(node, Node) else None
    skipped = {"count"} if spec is not None and spec.values.get("times") == -1 else set()  # rounds of what has no end
    if "seen" in about and spec is not None and "updated" in spec.values:
        skipped = skipped | {"seen"}
    kept = tuple((name, _part(value, now)) for name, value in sorted(about.items()) if name not in _OWN | skipped)
    fresh = node.scope.stamp(spec.values["updated"]) > about["seen"] if "seen" in skipped else None  # type: ignore[attr-defined]
    return path_of(node), family_of(node), node.status.name, fresh, kept


def _part(value: Any, now: float) -> Hashable:
    if isinstance(value, float):
        return value if not math.isfinite(value) else "past" if value <= now else round(value - now, 6)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Status):
        return value.name
    if isinstance(value, Behaviour):
        return path_of(value)
    if isinstance(value, Mapping):
        return tuple((str(key), _part(each, now)) for key, each in value.items())
    if isinstance(value, list | tuple | deque | set | frozenset):
        return tuple(_part(each, now) for each in value)
    return type(value).__name__
