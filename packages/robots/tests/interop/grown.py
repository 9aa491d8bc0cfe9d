"""Random trees of BehaviorTree.CPP as XML, and the same tree in its engine (`behaviortreepy`) and in ours."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bt_runtime as bt
from bt_robots.btcpp import exporter, importer
from bt_runtime.clock import Manual

WORDS = {"S": "SUCCESS", "F": "FAILURE", "R": "RUNNING"}
ENTRIES = ("a", "s", "f", "h", "n")  # `a` is written from outside, the others by the tree
LISTS = ("Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback")
GUARDS = ('_skipIf="a==1"', '_successIf="a==1 || n&gt;6"', '_failureIf="!(a==0)"', '_while="a&lt;1 &amp;&amp; n&lt;9"')
AFTER = ('_onSuccess="s:=s+1"', '_onFailure="f+=1"', '_onHalted="h:=h+1"', '_post="n:=n+1"')


class Grown:
    """XML that was drawn, and what its leaves will answer."""

    def __init__(self, rng: random.Random, kinds: Sequence[str], guards: Sequence[str] = (), depth: int = 3) -> None:
        self.rng, self.kinds, self.guards = rng, kinds, guards
        self.scripts: list[str] = []
        self.below: list[str] = []  # trees that are called
        root = self.node(depth)
        self.xml = f'<root BTCPP_format="4" main_tree_to_execute="T">\n<BehaviorTree ID="T">{root}</BehaviorTree>\n'
        self.xml += "".join(self.below) + "</root>"

    def leaf(self, answers: str = "SSFFRR") -> str:
        if answers == "SSFFRR" and self.rng.random() < 0.15:
            return self.rng.choice(
                ('<Script code="n := n + 1; s := n * 2"/>', '<ScriptCondition code="a == 0 ? n &lt; 4 : s &gt; 2"/>',
                 "<AlwaysSuccess/>", "<AlwaysFailure/>")
            )  # fmt: skip
        self.scripts.append("".join(self.rng.choice(answers) for _ in range(60)))
        return f"<l{len(self.scripts) - 1}/>"

    def node(self, depth: int) -> str:
        rng = self.rng
        guard = rng.choice(self.guards) if self.guards and rng.random() < 0.35 else ""
        if depth == 0 or rng.random() < 0.12:
            return self.leaf().replace("/>", f" {guard}/>", 1)
        kind, more = rng.choice(self.kinds), ""
        if kind in ("IfThenElse", "WhileDoElse"):
            below = [self.leaf("SF"), *(self.node(depth - 1) for _ in range(rng.randint(1, 2)))]
        else:
            count = (
                3 if kind == "Switch2" else 1 if kind not in (*LISTS, "Parallel", "ParallelAll") else rng.randint(1, 4)
            )
            below = [self.node(depth - 1) for _ in range(count)]
            many = [-1, *range(1, count + 1)]
            more = {
                "Parallel": f'success_count="{rng.choice(many)}" failure_count="{rng.choice(many)}"',
                "ParallelAll": f'max_failures="{rng.randint(1, count)}"',
                "RunOnce": f'then_skip="{rng.choice(("true", "false"))}"',
                "Switch2": 'variable="{b}" case_1="0" case_2="1"',
                "Precondition": f'if="a != 1" else="{rng.choice(("FAILURE", "SUCCESS", "SKIPPED"))}"',
                "SkipUnlessUpdated": 'entry="{a}"', "RetryUntilSuccessful": f'num_attempts="{rng.randint(1, 3)}"',
                "Repeat": f'num_cycles="{rng.randint(1, 3)}"',
            }.get(kind, "")  # fmt: skip
        if kind == "SubTree":
            name = f"B{len(self.below)}"
            self.below.append("")
            self.below[int(name[1:])] = f'<BehaviorTree ID="{name}">{below[0]}</BehaviorTree>\n'
            ports = " ".join(f'{entry}="{{{entry}}}"' for entry in ENTRIES)
            return f'<SubTree ID="{name}" {ports}/>'
        return f"<{kind} {more} {guard}>{''.join(below)}</{kind}>"


class Told(NamedTuple):
    statuses: list[str]
    visits: list[list[str]]  # `0S`: the first leaf was ticked, and succeeded; `0h`: it was halted
    counts: list[list[int]]


def there(xml: str, scripts: Sequence[str], flags: Sequence[int]) -> Told:
    """`flags`: what is written to `a` before each tick; -1: nothing."""
    import behaviortreepy as cpp

    told, factory, board = Told([], [], []), cpp.BehaviorTreeFactory(), cpp.Blackboard.create()
    for number, script in enumerate(scripts):
        said = iter(script)

        def tick(node: Any, number: int = number, answers: Iterator[str] = said) -> Any:
            told.visits[-1].append(f"{number}{(answer := next(answers))}")
            return getattr(cpp.NodeStatus, WORDS[answer])

        def halted(node: Any, number: int = number) -> None:
            told.visits[-1].append(f"{number}h")

        if "R" in script:
            factory.register_simple_stateful_action(f"l{number}", tick, tick, halted)
        else:
            factory.register_simple_condition(f"l{number}", tick)
    for name in ENTRIES:
        board.set_int(name, 0)
    board.set_string("b", "0")  # what a switch compares is a text there
    factory.register_behavior_tree_from_text(xml)
    tree = factory.create_tree("T", board)
    for flag in flags:
        if flag >= 0:
            board.set_int("a", flag)
            board.set_string("b", str(flag))
        told.visits.append([])
        told.statuses.append(tree.tick_exactly_once().name)
        told.counts.append([board.get_int(name) for name in ENTRIES])
    told.visits.append([])
    tree.halt_tree()
    told.visits.pop()
    return told


def project(xml: str, folder: Path) -> Path:
    """Imports it, without the manifest: its leaves come from Python."""
    (folder / "t.xml").write_text(xml)
    got = importer.load(folder / "t.xml")
    assert not got.report.lost
    (folder / "trees").mkdir(exist_ok=True)
    for name, text in got.files.items():
        if not name.startswith("skills/"):
            (folder / name).write_text(text.replace("skills: [t]\n", ""))
    return folder / "trees" / f"{got.main}.yaml"


def here(tree: Path, scripts: Sequence[str], flags: Sequence[int]) -> tuple[Told, str]:
    """… and the tree as XML again."""
    told = Told([], [], [])
    skills = [_skill(number, iter(script), told.visits) for number, script in enumerate(scripts)]
    loaded = bt.load(tree, skills=skills, project=tree.parents[1])
    with bt.Run(loaded, clock=Manual()) as run:
        for name in ENTRIES:
            run.blackboard[name] = 0
        run.blackboard["b"] = "0"
        for flag in flags:
            if flag >= 0:
                run.blackboard.update(a=flag, b=str(flag))
            told.visits.append([])
            status = run.tick().status
            told.statuses.append("SKIPPED" if status is bt.Status.INVALID else status.name)
            told.counts.append([run.blackboard[name] for name in ENTRIES])
        told.visits.append([])
    told.visits.pop()
    return told, exporter.text(loaded.spec)


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
