"""The same tree in BehaviorTree.CPP (through `behaviortreepy`) and here, with the same leaves, tick by tick."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import bt_runtime as bt
from bt_runtime.clock import Manual

LISTS = {
    "sequence": "Sequence", "fallback": "Fallback", "reactive_sequence": "ReactiveSequence",
    "reactive_fallback": "ReactiveFallback",
}  # fmt: skip
ONE = {
    "invert": "Inverter", "success": "ForceSuccess", "failure": "ForceFailure", "once": "RunOnce", "skip": "RunOnce",
    "until_failure": "KeepRunningUntilFailure", "retry": "RetryUntilSuccessful", "repeat": "Repeat",
    "updated": "SkipUnlessUpdated",
}  # fmt: skip
GUARDS = {"skip": "_skipIf", "success": "_successIf", "failure": "_failureIf"}
AFTER = {"s": ("_onSuccess", "on_success"), "f": ("_onFailure", "on_failure"), "h": ("_onHalted", "on_halt")}
WORDS = {"S": "SUCCESS", "F": "FAILURE", "R": "RUNNING"}


class Spot(NamedTuple):
    """A node of both trees; `guard`: a condition over the entry `a`."""

    kind: str
    children: tuple[Spot, ...] = ()
    given: Any = None
    guard: str = ""

    def xml(self) -> str:
        words = {
            "": "",
            "while": ' _while="a==0"',
            "after": "".join(f' {on}="{n}:={n}+1"' for n, (on, _) in AFTER.items()),
        }
        said = words.get(self.guard, f' {GUARDS.get(self.guard, "")}="a==1"')
        if not self.children:
            return f"<{self.kind}{said}/>"
        name, more = self.named()
        return f"<{name}{more}{said}>{''.join(child.xml() for child in self.children)}</{name}>"

    def named(self) -> tuple[str, str]:
        k, given = self.kind, self.given
        if k in LISTS:
            return LISTS[k], ""
        more = {
            "once": ' then_skip="false"', "skip": ' then_skip="true"', "retry": f' num_attempts="{given}"',
            "repeat": f' num_cycles="{given}"', "updated": ' entry="{a}"',
        }  # fmt: skip
        if k in ONE:
            return ONE[k], more.get(k, "")
        if k == "parallel":
            return "Parallel", f' success_count="{given[0]}" failure_count="{given[1]}"'
        if k == "switch":
            return "Switch2", ' variable="{b}" case_1="0" case_2="1"'
        return {"all": ("ParallelAll", f' max_failures="{given}"'), "if": ("IfThenElse", "")}.get(
            k, ("WhileDoElse", "")
        )

    def ours(self) -> dict[str, Any]:
        ((kind, fields),) = self.node([child.ours() for child in self.children]).items()
        if self.guard == "while":
            fields["when"] = "a == 0"
        elif self.guard == "after":
            fields |= {on: {name: f"{{{name} + 1}}"} for name, (_, on) in AFTER.items()}
        elif self.guard:
            return {"precondition": {"if": "a != 1", "else": self.guard, "child": {kind: fields}}}
        return {kind: fields}

    def node(self, below: list[Any]) -> dict[str, dict[str, Any]]:
        k, given = self.kind, self.given
        if not below or k in LISTS:
            return {k: {"children": below} if below else {}}
        if k == "parallel":
            return {k: {"success": given[0], "failure": given[1], "children": below}}
        if k == "all":
            return {"parallel": {"wait_all": True, "success": len(below) - given + 1, "failure": -1, "children": below}}
        if k in ("if", "while"):
            return {k: dict(zip(("check", "then" if k == "if" else "do", "else"), below, strict=False))}
        if k == "switch":
            return {k: {"on": "a", "cases": {"0": below[0], "1": below[1]}, "default": below[2]}}
        if k in ("success", "failure"):
            return {"force": {"status": k, "child": below[0]}}
        if k == "until_failure":  # with the other result
            return {"invert": {"child": {k: {"child": below[0]}}}}
        if k == "updated":
            return {"skip_unless": {"updated": "a", "child": below[0]}}
        if k in ("once", "skip"):
            return {"once": {"child": below[0], "then": "skip" if k == "skip" else "result"}}
        return {k: {"child": below[0], **({"times": given} if given else {})}}


class Drawn:
    """A tree that was drawn, with what its leaves will answer."""

    def __init__(self, rng: random.Random, kinds: Sequence[str], guards: Sequence[str], depth: int) -> None:
        self.rng, self.kinds, self.guards = rng, kinds, guards
        self.scripts: list[str] = []
        self.root = self.spot(depth)

    def leaf(self, answers: str = "SSFFRR") -> Spot:
        self.scripts.append("".join(self.rng.choice(answers) for _ in range(60)))
        return Spot(f"l{len(self.scripts) - 1}")

    def spot(self, depth: int) -> Spot:
        rng = self.rng
        guard = rng.choice(self.guards) if self.guards and rng.random() < 0.3 else ""
        if depth == 0 or rng.random() < 0.15:
            return self.leaf()._replace(guard=guard)
        kind, given = rng.choice(self.kinds), None
        if kind in ("if", "while"):
            below = [self.leaf("SF"), *(self.spot(depth - 1) for _ in range(rng.randint(1, 2)))]
        else:
            count = 1 if kind in ONE else 3 if kind == "switch" else rng.randint(1, 4)
            below = [self.spot(depth - 1) for _ in range(count)]
            many = [-1, *range(1, count + 1)]
            given = {"parallel": (rng.choice(many), rng.choice(many)), "all": rng.randint(1, count)}.get(kind)
            given = rng.randint(1, 3) if kind in ("retry", "repeat") else given
        return Spot(kind, tuple(below), given, guard)


class Told(NamedTuple):
    """What came of it, tick by tick."""

    statuses: list[str]
    visits: list[list[str]]  # `0S`: the first leaf was ticked, and succeeded; `0h`: it was halted
    counts: list[list[int]]  # how often something was written after a node


def there(drawn: Drawn, flags: Sequence[int]) -> Told:
    """In BehaviorTree.CPP. `flags`: what is written to `a` before each tick; -1: nothing."""
    import behaviortreepy as cpp

    told, factory, board = Told([], [], []), cpp.BehaviorTreeFactory(), cpp.Blackboard.create()
    for number, script in enumerate(drawn.scripts):
        answers = iter(script)

        def tick(node: Any, number: int = number, answers: Iterator[str] = answers) -> Any:
            told.visits[-1].append(f"{number}{(answer := next(answers))}")
            return getattr(cpp.NodeStatus, WORDS[answer])

        def halted(node: Any, number: int = number) -> None:
            told.visits[-1].append(f"{number}h")

        if "R" in script:
            factory.register_simple_stateful_action(f"l{number}", tick, tick, halted)
        else:  # one that takes time keeps its answer where nobody resets it
            factory.register_simple_condition(f"l{number}", tick)
    for name in ("a", *AFTER):
        board.set_int(name, 0)
    board.set_string("b", "0")
    text = f'<root BTCPP_format="4"><BehaviorTree ID="T">{drawn.root.xml()}</BehaviorTree></root>'
    tree = factory.create_tree_from_text(text, board)
    for flag in flags:
        if flag >= 0:
            board.set_int("a", flag)
            board.set_string("b", str(flag))  # what a switch compares
        told.visits.append([])
        told.statuses.append(tree.tick_exactly_once().name)
        told.counts.append([board.get_int(name) for name in AFTER])
    told.visits.append([])  # leaving halts
    tree.halt_tree()
    told.visits.pop()
    return told


def here(drawn: Drawn, flags: Sequence[int]) -> Told:
    told = Told([], [], [])
    skills = [_skill(number, iter(script), told.visits) for number, script in enumerate(drawn.scripts)]
    entries = {name: {"type": "integer", "default": 0} for name in ("a", *AFTER)}
    text = json.dumps({"version": 1, "tree": "t", "blackboard": entries, "root": drawn.root.ours()})
    with bt.Run(bt.load(text + "\n", skills=skills), clock=Manual()) as run:
        for flag in flags:
            if flag >= 0:
                run.blackboard["a"] = flag
            told.visits.append([])
            status = run.tick().status
            told.statuses.append("SKIPPED" if status is bt.Status.INVALID else status.name)
            told.counts.append([run.blackboard[name] for name in AFTER])
        told.visits.append([])  # leaving halts
    told.visits.pop()
    return told


def _skill(number: int, answers: Iterator[str], visits: list[list[str]]) -> Any:
    class Leaf(bt.Skill):
        def start(self) -> None:
            pass

        def poll(self) -> bt.Status:
            visits[-1].append(f"{number}{(answer := next(answers))}")
            return bt.Status[WORDS[answer]]

        def cancel(self) -> None:
            visits[-1].append(f"{number}h")

    made: Callable[[Any], Any] = bt.skill(name=f"l{number}")
    return made(Leaf)


def ordered(visits: Sequence[Sequence[str]]) -> list[list[str]]:
    """Halts of one tick first: in which order they come, neither promises."""
    return [
        sorted(tick, key=lambda each: (not each.endswith("h"), each if each.endswith("h") else "")) for tick in visits
    ]
