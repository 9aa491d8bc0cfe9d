"""Plans that come in the very tick in which the nodes around them begin: they are checked in their real context."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bt_author.proof.domain import Tests as Read
from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.events import PlanRefused
from bt_runtime.plugins import Field, compile
from bt_runtime.run.monitoring.watch import Watch
from packages.author.tests.proof.test_grafts import Played
from tests.support.random_trees import SKILLS

HEAD = """\
version: 1
tree: t
blackboard: {ready: {type: boolean, default: false}}
properties:
  %s
root:
  %s
"""
AGENT = "{agent: {goal: get out, moves: [expand], leaf: react, name: a}}"
Refusals = Callable[[str, str, str], list[str]]


@pytest.fixture
def refusals() -> Iterator[Refusals]:
    """Runs a tree whose agent makes one plan; returns the refusals. The rest of the script gives up."""
    runs: list[Run] = []

    def go(property: str, root: str, plan: str) -> list[str]:
        model = ScriptedModel([f"Expand:\n{plan}", *["Act: done"] * 9])
        tree = load(HEAD % (property, root.replace("AGENT", AGENT)), skills=SKILLS)
        run = Run(tree, services={"model": model, "scripted_skills": Played()}, recall=False)
        run.parts.extensions[Watch].grafts.seconds = 10.0
        runs.append(run)
        found: list[str] = []
        run.listen(lambda event: found.append(event.codes[0]), PlanRefused)
        run.spin(ticks=60)
        if not found:
            assert run.parts.extensions[Watch].violations == {}
        return found

    yield go
    for run in runs:
        run.close()


GRAB = "sequence: [{act: go}, {act: grab}]"


def test_what_stood_before_the_agent_in_this_tick_has_happened(refusals: Refusals) -> None:
    """A sequence's earlier child has succeeded in the same tick; no tick has shown it yet."""
    root = "sequence: [{set: {ready: true}}, AGENT]"
    assert refusals("p: {before: {first: /t/0 is success, then: grab is running}}", root, GRAB) == []
    assert refusals("p: {before: {first: /t/1 is success, then: grab is running}}", root, GRAB) == ["property"]


def test_what_runs_beside_the_agent_since_this_tick_runs_on(refusals: Refusals) -> None:
    """Below a sequence, whose place is held by the agent's part, a parallel has begun in this tick."""
    root = "sequence: [{set: {ready: true}}, {parallel: [{repeat: {times: 9, child: {lift: {}}}}, AGENT]}]"
    assert refusals("p: {never: lift is running and grab is running}", root, GRAB) == ["property"]
    assert refusals("p: {never: lift is running and look is running}", root, GRAB) == []


def test_a_reactive_node_that_began_in_this_tick_has_the_agent_in_turn(refusals: Refusals) -> None:
    """The place that is tried first goes on being asked, and halts the plan before it acts."""
    root = "reactive_fallback: [{sequence: {when: ready, children: [{lift: {}}]}}, AGENT]"
    assert refusals("p: {never: lift is running and grab is running}", root, GRAB) == []
    assert refusals("p: {never: grab is running and not ready}", root, GRAB) == ["property"]


def test_an_earlier_skill_of_the_tick_has_its_result(refusals: Refusals) -> None:
    root = "sequence: [{is_near: {}}, AGENT]"
    assert refusals("p: {before: {first: is_near is success, then: grab is running}}", root, GRAB) == []


def test_a_property_that_nothing_can_break_any_more_is_not_asked(refusals: Refusals) -> None:
    """`before` is kept once the first has come, although it holds no more when the plan is made."""
    root = "sequence: [{go: {}}, {set: {ready: true}}, {lift: {}}, {set: {ready: false}}, AGENT]"
    assert refusals("p: {before: {first: ready, then: grab is running}}", root, GRAB) == []


def test_the_end_of_a_plan_is_not_that_of_the_parts_that_go_on_after_it(refusals: Refusals) -> None:
    """The tree ends with the plan where nothing stands behind it; then what holds at its end is the plan's doing."""
    promise = "p: {never: tree is success and not ready}"
    assert refusals(promise, "sequence: [AGENT, {set: {ready: true}}]", GRAB) == []
    assert refusals(promise, "fallback: [{force: {status: failure, child: AGENT}}, {set: {ready: true}}]", GRAB) == []
    assert refusals(promise, "sequence: [AGENT]", GRAB) == ["property"]


@pytest.mark.parametrize(
    ("tests", "values"),
    [(["n < 2"], (1, 2)), (["n <= 2"], (1, 3)), (["2 < n"], (1, 3)), (["n == 2"], (1, 2, 3)),
     (["n in [1, 2]"], (0, 1, 2, 3)), (["n < 2", "n > 5"], (1, 2, 6))],
)  # fmt: skip
def test_numbers_are_tried_once_for_each_answer_of_the_tests(tests: list[str], values: tuple[int, ...]) -> None:
    read = Read({})
    for text in tests:
        read.add(compile(text))
    assert read.domain(Field("n", "integer", "")) == (values, True)
