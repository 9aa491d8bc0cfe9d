"""py_trees' own behaviours in our trees, and our nodes under theirs."""

from __future__ import annotations

import sys
import types

import py_trees
import pytest

from bt_runtime import Faults
from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, after

rule = pytest.mark.rule
LOG: list[tuple[str, str]] = []


class Motor(py_trees.behaviour.Behaviour):
    """A stock behaviour that writes down its life."""

    def setup(self, **kwargs) -> None:
        LOG.append((self.name, "setup"))

    def initialise(self) -> None:
        LOG.append((self.name, "initialise"))

    def update(self) -> py_trees.common.Status:
        return RUNNING

    def terminate(self, new_status) -> None:
        LOG.append((self.name, f"terminate {new_status.value}"))

    def shutdown(self) -> None:
        LOG.append((self.name, "shutdown"))


class Broken(Motor):
    def update(self) -> py_trees.common.Status:
        raise OSError("no motor")


class Countdown(Motor):
    def __init__(self, name: str, ticks: int) -> None:
        super().__init__(name)
        self.left = ticks

    def update(self) -> py_trees.common.Status:
        self.left -= 1
        return SUCCESS if self.left < 0 else RUNNING


class Memory(py_trees.composites.Sequence):
    def __init__(self, name: str) -> None:
        super().__init__(name, memory=True)


class Alternative(py_trees.composites.Selector):
    def __init__(self, name: str) -> None:
        super().__init__(name, memory=True)


class Together(py_trees.composites.Parallel):
    def __init__(self, name: str) -> None:
        super().__init__(name, py_trees.common.ParallelPolicy.SuccessOnAll())


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The classes of this file, under the name that the trees here import them by."""
    LOG.clear()
    module = types.ModuleType("foreign_nodes")
    module.__dict__.update({c.__name__: c for c in (Motor, Broken, Countdown, Memory, Alternative, Together)})
    monkeypatch.setitem(sys.modules, "foreign_nodes", module)


@rule("py", 1)
def test_a_foreign_behaviour_lives_as_py_trees_would_have_it(make):
    t = make("sequence: [py: {class: 'foreign_nodes:Motor', name: motor}]")
    assert t.tick(2) is RUNNING
    t.run.halt("enough")
    assert t.tick() is RUNNING
    t.close()
    life = [what for name, what in LOG if name == "motor"]
    assert life == ["setup", "initialise", "terminate INVALID", "initialise", "terminate INVALID", "shutdown"]


@rule("py", 2)
def test_our_children_under_foreign_composites_and_decorators(make):
    t = make(
        """
        py:
          class: foreign_nodes:Memory
          children:
            - a: {}
            - py: {class: "py_trees.decorators:Inverter", children: [{sequence: [b: {}, c: {}]}]}
            - d: {}
        """,
        a=SUCCESS, b=after(1), c=FAILURE, d=SUCCESS,
    )  # fmt: skip
    assert t.tick() is RUNNING
    assert t.tick() is SUCCESS
    assert {s: t.skills[s].started for s in "abcd"} == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert t.visits["/t/1/0"] == 2


def test_every_visit_below_a_foreign_composite_counts_once(make):
    t = make(
        "sequence: [py: {class: 'foreign_nodes:Memory', children: [a: {}, {sequence: [b: {}]}]}]", a=SUCCESS, b=SUCCESS
    )
    t.tick()
    assert set(t.visits.values()) == {1}
    assert len(t.visits) == 5


def test_a_foreign_node_that_breaks_fails_with_its_path_and_the_tick_goes_on(make):
    t = make("fallback: [py: {class: 'foreign_nodes:Broken'}, a: {}]", a=SUCCESS)
    assert t.tick() is SUCCESS
    [crash] = t.ticks[-1].crashes
    assert (crash.path, crash.message) == ("/t/0", "OSError: no motor")
    assert ("Broken", "terminate INVALID") in LOG


def test_an_exception_below_a_foreign_composite_halts_its_running_siblings(make):
    t = make(
        """
        fallback:
          - py: {class: 'foreign_nodes:Together', children: [a: {}, py: {class: 'foreign_nodes:Broken'}]}
          - b: {}
        """,
        a=RUNNING, b=SUCCESS,
    )  # fmt: skip
    assert t.tick() is SUCCESS
    assert t.skills["a"].cancels == 1


def test_halting_goes_through_foreign_nodes_children_first_with_the_reason_on_record(make):
    t = make(
        """
        sequence:
          - py:
              class: foreign_nodes:Together
              name: both
              children:
                - sequence: [a: {}]
                - py:
                    class: py_trees.decorators:Inverter
                    name: inv
                    children: [py: {class: 'foreign_nodes:Motor', name: m}]
        """,
        a=RUNNING,
    )
    t.tick()
    t.run.halt("enough", by="me")
    halts = t.ticks[-1].halts
    assert [n.name for n, _ in halts] == ["a", "sequence", "m", "inv", "both", "sequence"]
    assert {why for _, why in halts} == {("me", "enough")}
    assert t.running() == []


def test_a_running_child_below_a_foreign_decorator_that_says_failure_is_halted_too(make):
    t = make("sequence: [py: {class: 'py_trees.decorators:RunningIsFailure', children: [a: {}]}]", a=RUNNING)
    assert t.tick() is FAILURE
    t.run.halt("enough")
    assert t.skills["a"].cancels == 1


def test_the_runner_looks_again_at_a_foreign_node_that_is_running(make):
    t = make("py: {class: 'foreign_nodes:Countdown', args: {ticks: 3}}")
    assert t.run.spin() is SUCCESS
    assert t.run.parts.engine.count == 4


def test_what_cannot_be_made_is_a_fault_with_its_place(make):
    for reference, why in [
        ("foreign_nodes:Nobody", "has no"),
        ("pathlib:Path", "not part of the project"),
        ("py_trees.common:Status", "is not a py_trees behaviour"),
        ("py_trees.decorators:Inverter", "takes one child"),
        ("foreign_nodes:Countdown", "missing 1 required positional argument"),
    ]:
        with pytest.raises(Faults, match=why):
            make(f"py: {{class: '{reference}'}}")


def test_our_tree_under_a_stock_composite():
    from bt_runtime import Run, load

    run = Run(load("version: 1\ntree: ours\nroot:\n  sequence: [succeed: {}, wait: 100]\n"))
    stock = py_trees.composites.Sequence("stock", memory=True, children=[run.parts.engine.root])
    tree = py_trees.trees.BehaviourTree(stock)
    tree.setup()
    tree.tick()
    assert stock.status is RUNNING
    assert [n.status for n in run.parts.engine.root.children] == [SUCCESS, RUNNING]
    stock.stop(INVALID)
    assert {n.status for n in stock.iterate()} == {INVALID}
    run.close()


@rule("py", 3)
def test_an_enum_is_given_by_its_name(make):
    t = make("py: {class: 'py_trees.decorators:OneShot', args: {policy: ON_COMPLETION}, children: [a: {}]}", a=FAILURE)
    assert [t.tick(), t.tick()] == [FAILURE, FAILURE]
    assert t.skills["a"].started == 1
    t = make("py: {class: 'py_trees.decorators:Condition', args: {status: SUCCESS}, children: [a: {}]}", a=after(1))
    assert [t.tick(), t.tick()] == [RUNNING, SUCCESS]


@rule("py", 3)
def test_policies_classes_and_callables_are_given_by_name_mapping_and_path(make):
    body = "py: {class: 'py_trees.composites:Parallel', args: {policy: SuccessOnOne}, children: [a: {}, b: {}]}"
    assert make(body, a=SUCCESS, b=RUNNING).tick() is SUCCESS
    check = "{variable: x, value: 3, operator: 'operator:ge'}"
    kind = "{class: 'py_trees.behaviours:CheckBlackboardVariableValue'"
    body = f"py: {kind}, args: {{check: {check}}}, give: {{x: '{{x}}'}}}}"
    t = make(body, header="blackboard: {x: {type: number, default: 2}}")
    assert t.tick() is FAILURE
    t.board["x"] = 3
    assert t.tick() is SUCCESS
    guard = "{class: 'py_trees.decorators:EternalGuard', args: {condition: {py: 'gc:isenabled'}}, children: [a: {}]}"
    assert make(f"py: {guard}", a=SUCCESS).tick() is SUCCESS


@rule("py", 3)
def test_a_policy_takes_arguments_and_a_list_holds_enums(make):
    policy = "{SuccessOnAll: {synchronise: false}}"
    queue = "py: {class: 'py_trees.behaviours:StatusQueue', args: {queue: [SUCCESS, RUNNING], eventually: SUCCESS}}"
    body = "py: {class: 'py_trees.composites:Parallel', args: {policy: POLICY}, children: [QUEUE, a: {}]}"
    again = make(body.replace("POLICY", policy).replace("QUEUE", queue), a=after(1))
    assert [again.tick() for _ in range(4)] == [RUNNING, RUNNING, RUNNING, SUCCESS]
    kept = make(body.replace("POLICY", "SuccessOnAll").replace("QUEUE", queue), a=after(1))
    assert [kept.tick(), kept.tick()] == [RUNNING, SUCCESS]


@rule("py", 3)
def test_a_word_that_is_no_member_is_a_fault_with_those_there_are(make):
    with pytest.raises(Faults) as caught:
        make("py: {class: 'py_trees.decorators:OneShot', args: {policy: ON_COMPLETE}, children: [succeed: {}]}")
    [found] = caught.value.diagnostics
    assert found.code == "BT046"
    assert found.message == "`policy` takes ON_COMPLETION or ON_SUCCESSFUL_COMPLETION, not `ON_COMPLETE`"
    assert found.help == "did you mean `ON_COMPLETION`?"


@rule("py", 4)
def test_entries_go_to_py_trees_blackboard_and_come_from_it(make):
    store = "py: {class: 'py_trees.decorators:StatusToBlackboard', args: {variable_name: how}, children: [a: {}]"
    t = make(f"{store}, give: {{seen: '{{x + 1}}'}}, take: {{how: how, other: nothing}}}}",
             header="blackboard: {x: {type: number, default: 2}}", a=[after(1), after(2)])  # fmt: skip
    assert t.tick() is RUNNING
    assert (t.board["how"], py_trees.blackboard.Blackboard.get("seen")) == (RUNNING, 3)
    assert "other" not in t.board
    stamp = t.board.stamp("how")
    assert t.tick() is SUCCESS
    assert t.board["how"] is SUCCESS
    assert [t.tick(), t.tick(), t.tick()] == [RUNNING, RUNNING, SUCCESS]
    assert t.board.stamp("how") == stamp + 3  # what has not changed is not written again
