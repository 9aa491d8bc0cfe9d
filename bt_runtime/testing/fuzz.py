"""Runs a tree with random sequences of events; finds the smallest one in which the tree breaks a promise.

    found = fuzz("patrol", never="charging and driving", within=600)
    assert found is None, found

The same seed gives the same cases. What finds and shrinks them is Hypothesis: the extra `fuzz`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.nodes import child_name
from bt_runtime.language.spec import NodeSpec
from bt_runtime.run.debug.script import LaterResult
from bt_runtime.run.run import Tree
from bt_runtime.testing.case import BROKEN, Case, Finding, Subject
from bt_runtime.testing.casting import nodes_of, skills_of, trees_of
from bt_runtime.testing.values import ChosenValues
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS
from bt_runtime.types import Json

RUNS = 200
SECONDS = 60.0  # seconds of the tree's clock for a case that need not end
MOST_STARTS = 5  # of a skill that differ; the last act is repeated
MOST_MOVES = 4  # writes and halts from outside
TICKS = (1, 2, 5, 25, 100)  # numbers of ticks for which a skill runs
STEPS = (1, 2, 3, 5, 10, 30)  # between two moves


def fuzz(
    tree: str | Path | Tree,
    *,
    never: str | Iterable[str] = (),
    always: str | Iterable[str] = (),
    within: float | None = None,
    runs: int = RUNS,
    seed: int = 0,
    seconds: float = SECONDS,
    inputs: Mapping[str, Json] | None = None,
    values: Mapping[str, Sequence[Json]] | None = None,
    double: Iterable[str] = (),
    halts: bool = True,
    endless: bool = True,
    project: Path | str | None = None,
    found_by: str = "",
) -> Finding | None:
    """Returns the smallest counterexample found in so many runs, or None. within: seconds of simulated time in which
    the tree must end. inputs: entries with the same value in every case. values: values to try for an entry or a
    skill's output. double: patterns of nodes that a test double replaces. halts: also halts the run at random ticks.
    endless: skills may run for ever."""
    subject = Subject(tree, never, always, project)
    drawn = _Drawn(subject, ChosenValues(subject.tree.spec, values), inputs or {}, list(double), halts, endless)
    cases = drawn.cases(within, seconds)
    case = _least(cases, lambda case: bool(subject.play(case)[0]), runs, seed)
    if case is None:
        subject.known()
        return None
    return subject.finding(case, found_by or f"fuzz(…, seed={seed})")


def _least(cases: Any, wrong: Any, runs: int, seed: int) -> Case | None:
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import NoSuchExample

    how = settings(
        max_examples=runs, database=None, deadline=None, derandomize=False,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )  # fmt: skip
    try:
        least: Case = find(cases, wrong, settings=how, random=random.Random(seed))
    except NoSuchExample:
        return None
    return least


def _paths(node: NodeSpec, path: str) -> Iterable[tuple[str, NodeSpec]]:
    """Yields the nodes of one tree with their paths."""
    yield path, node
    for number, (child, place) in enumerate(zip(node.children, node.places, strict=True)):
        segment = place if place in node.asks else ""
        inner = node.kind.transparent and not segment
        yield from _paths(child, path if inner else f"{path}/{segment or child_name(child) or number}")


class _Drawn:
    """The possible events of a tree, as strategies of Hypothesis."""

    def __init__(
        self,
        subject: Subject,
        values: ChosenValues,
        inputs: Mapping[str, Json],
        doubles: list[str],
        halts: bool,
        endless: bool,
    ) -> None:
        with Extra("fuzz", "`btr fuzz`"):
            import hypothesis.strategies
        self.st: Any = hypothesis.strategies
        self.tree, self.values, self.inputs = subject.tree.spec, values, inputs
        self.doubles, self.halts, self.endless = doubles, halts, endless
        self.skills = skills_of(self.tree)
        self.values.unused(f.name for kind in self.skills.values() for f in kind.fields if f.writes)
        asking = [node for node in nodes_of(self.tree) if node.kind.asks]
        if asking and not doubles:
            raise BtError(*self.ask_a_model(asking))

    def ask_a_model(self, asking: list[NodeSpec]) -> tuple[str, str]:
        """Returns what is wrong with nodes that would need a model, and the doubles that stand for them."""
        each = (found for tree in trees_of(self.tree) for found in _paths(tree.root, f"**/{tree.name}"))
        patterns = [path for path, node in each if any(node is one for one in asking)]
        options = " ".join(f"--double '{path}'" for path in patterns)
        what = f"`{asking[0].kind.name}` ({asking[0].file}:{asking[0].span.line}) asks a model, and there is none here"
        return what, f"let it do anything: {options}, or in Python double={patterns}"

    def cases(self, within: float | None, seconds: float) -> Any:
        st = self.st
        acts = {name: self.acts(kind) for name, kind in self.skills.items()}
        return st.builds(
            Case,
            inputs=st.fixed_dictionaries({name: self.value(port) for name, port in self.starting().items()}).map(
                lambda drawn: {**drawn, **self.inputs}
            ),
            skills=st.fixed_dictionaries(acts),
            doubles=st.fixed_dictionaries({pattern: self.acts(None) for pattern in self.doubles}),
            moves=self.moves(),
            within=st.just(within),
            seconds=st.just(seconds),
        )

    def starting(self) -> dict[str, Any]:
        """Draws the start of a run: inputs, and entries written from outside."""
        ports = {**self.tree.inputs, **{port.name: port for port in self.values.outside()}}
        return {name: port for name, port in ports.items() if name not in self.inputs}

    def value(self, port: Any) -> Any:
        return self.st.sampled_from(self.values.some(port))

    def acts(self, kind: Kind | None) -> Any:
        return self.st.lists(self.act(kind), min_size=1, max_size=MOST_STARTS)

    def act(self, kind: Kind | None) -> Any:
        st, instant = self.st, kind is not None and kind.data["entry"].instant
        outputs = [f for f in kind.fields if f.writes] if kind is not None else []
        good = st.fixed_dictionaries({f.name: self.value(f) for f in outputs}) if outputs else st.just(SUCCESS)
        ends = st.one_of(good, st.just(FAILURE))
        broken = st.builds(RuntimeError, st.just(BROKEN))
        if instant:
            return st.one_of(ends, broken)
        later = st.builds(LaterResult, st.sampled_from(TICKS), ends)
        return st.one_of(ends, later, broken, *([st.just(RUNNING)] if self.endless else []))

    def moves(self) -> Any:
        """Draws pairs of a step and the event after it."""
        st = self.st
        writes = [
            st.tuples(st.just("set"), st.just(port.name), self.value(port))
            for port in self.values.outside()
            if port.name not in self.inputs
        ]
        what = st.one_of(*writes, *([st.just(("halt",))] if self.halts else []))
        if not writes and not self.halts:
            return st.just(())
        steps = st.tuples(st.just("step"), st.sampled_from(STEPS))
        pairs = st.lists(st.tuples(steps, what), max_size=MOST_MOVES)
        return pairs.map(lambda found: tuple(move for pair in found for move in pair))
