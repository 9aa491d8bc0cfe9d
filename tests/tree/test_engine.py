"""Exceptions become data, and halting reaches everything that runs."""

from __future__ import annotations

import random
import threading

import py_trees
import pytest

from bt_runtime import BtError, Node, Run, Skill, load, skill
from bt_runtime.events import Tick
from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, Double, Script, after
from bt_runtime.tree.node import NodeError

HEAD = "version: 1\ntree: t\nroot:\n"


def running(run):
    return [n for n in run.nodes() if n.status is RUNNING]


# Exceptions -------------------------------------------------------------------------------------------


def test_an_exception_is_failure_with_path_and_traceback_and_siblings_are_halted(make):
    t = make("sequence: [{parallel: [a: {}, b: {}, c: {}]}]", a=RUNNING, b=OSError("no motor"), c=RUNNING)
    assert t.tick() is FAILURE
    [crash] = t.ticks[-1].crashes
    assert (crash.path, crash.message) == ("/t/0/1", "OSError: no motor")
    assert "Traceback" in crash.traceback
    assert (t.skills["a"].cancels, t.skills["c"].cancels, t.skills["c"].started) == (1, 0, 0)
    assert t.running() == []


def test_strict_raises_with_the_path_and_leaves_nothing_running(make):
    for body in (
        "parallel: [a: {}, {sequence: [b: {}]}]",
        "parallel: [{invert: {a: {}}}, {retry: {times: 3, child: {b: {}}}}]",
        "sequence: [{parallel: [{reactive_sequence: [a: {}]}, {fallback: [b: {}]}]}]",
    ):
        t = make(body, a=RUNNING, b=OSError("no motor"), options={"strict": True})
        with pytest.raises(NodeError, match="OSError: no motor") as error:
            t.tick()
        assert error.value.path.startswith("/t/")
        assert t.running() == []
        assert t.skills["a"].cancels == 1
        assert t.ticks[-1].status is INVALID  # observers were told as well
        assert t.ticks[-1].halts


def test_an_exception_that_nobody_should_catch_goes_through_and_leaves_nothing_running(make):
    t = make("parallel: [a: {}, b: {}]", a=RUNNING, b=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        t.tick()
    assert t.running() == []
    assert t.skills["a"].cancels == 1


class Fragile(Skill):
    """Breaks where it is told to."""

    where = ""
    cancels = 0

    def start(self) -> None:
        if self.where == "start":
            raise OSError("start")

    def poll(self):
        if self.where == "poll":
            raise OSError("poll")
        return {"garbage": 42, "none": None, "invalid": INVALID}.get(self.where, RUNNING)

    def cancel(self) -> None:
        type(self).cancels += 1
        if self.where == "cancel":
            raise OSError("cancel")


@pytest.mark.parametrize("where", ["start", "poll", "garbage", "none", "invalid"])
def test_a_skill_that_breaks_anywhere_fails_and_is_cancelled(where):
    kind = type("fragile", (Fragile,), {"where": where, "cancels": 0})
    with Run(load(HEAD + "  fallback: [fragile: {}, succeed: {}]\n", skills=[kind])) as run:
        tick = run.tick()
        assert tick.status is SUCCESS
        [crash] = tick.crashes
        assert crash.path == "/t/0"
        assert kind.cancels == 1


def test_a_skill_that_breaks_while_it_is_cancelled_does_not_keep_others_from_being_cancelled():
    first = type("first", (Fragile,), {"where": "cancel", "cancels": 0})
    second = type("second", (Fragile,), {"where": "cancel", "cancels": 0})
    run = Run(load(HEAD + "  parallel: [first: {}, second: {}]\n", skills=[first, second]), strict=True)
    ticks = []
    run.listen(ticks.append, Tick)
    run.tick()
    assert run.halt("enough") == 3
    assert (first.cancels, second.cancels) == (1, 1)
    assert [c.path for c in ticks[-1].crashes] == ["/t/0", "/t/1"]
    run.close()


class Breaks(py_trees.behaviour.Behaviour):
    where = ""

    def act(self, here: str) -> None:
        if self.where == here:
            raise OSError(here)

    def setup(self, **kwargs) -> None:
        self.act("setup")

    def initialise(self) -> None:
        self.act("initialise")

    def update(self):
        self.act("update")
        return SUCCESS

    def terminate(self, new_status) -> None:
        self.act("terminate")

    def shutdown(self) -> None:
        self.act("shutdown")


class OurBreaks(Node):
    where = ""
    act = Breaks.act
    initialise = Breaks.initialise
    terminate = Breaks.terminate
    update = Breaks.update


def own(run, where):
    """A node of ours that was made by hand."""
    spec = run.parts.tree.spec.root
    node = OurBreaks(spec, run.parts.context, run.blackboard)
    node.where = where
    return node


@pytest.mark.parametrize("where", ["initialise", "update", "terminate"])
@pytest.mark.parametrize("ours", [True, False])
def test_exceptions_in_each_hook_of_a_behaviour_become_failure(where, ours):
    run = Run(load(HEAD + "  fallback: [fail: x]\n"))
    node = own(run, where) if ours else Breaks("breaks")
    node.where = where
    run.insert("/t", node)
    run.insert("/t", "succeed: {}\n")
    tick = run.tick()
    assert tick.status is SUCCESS
    assert [(c.path, c.message) for c in tick.crashes] == [("/t/1", f"OSError: {where}")]
    assert node.status is FAILURE
    run.close()


def test_an_exception_in_setup_is_raised_before_the_first_tick_with_the_path():
    Breaks.where = "setup"
    try:
        run = Run(load(HEAD + "  sequence: [succeed: {}]\n"))
        run.insert("/t", Breaks("breaks"))
        run.parts.engine.settle()
        with pytest.raises(BtError, match=r"/t/1 could not be set up: OSError\('setup'\)"):
            run.tick()
    finally:
        Breaks.where = ""
    run.close()


def test_an_exception_in_shutdown_does_not_keep_others_from_being_shut_down():
    done = []

    class Last(Double):
        def shutdown(self):
            done.append(self.name)

    run = Run(load(HEAD + "  sequence: [succeed: {}]\n"))
    bad = Breaks("bad")
    bad.where = "shutdown"
    for node in (bad, Last("last", Script())):
        run.insert("/t", node)
    run.tick()
    run.close()
    assert done == ["last"]
    assert run.parts.context.crashes[-1].path == "/t/1"


def test_a_node_that_ticks_the_tree_it_is_in_breaks(make):
    box = {}
    t = make("fallback: [a: {}, b: {}]", a=lambda: box["run"].tick() and SUCCESS, b=SUCCESS)
    box["run"] = t.run
    assert t.tick() is SUCCESS
    assert "is being ticked" in t.ticks[-1].crashes[0].message


def test_a_closed_run_cannot_be_ticked_and_its_requests_are_refused(make):
    t = make("a: {}", a=SUCCESS)
    waiting = t.run.insert("/t", "a: {}\n")
    t.close()
    t.close()
    with pytest.raises(BtError, match="closed"):
        t.tick()
    for request in (waiting, t.run.remove("/t")):
        with pytest.raises(BtError, match="closed"):
            request.poll()


# Halting ----------------------------------------------------------------------------------------------

WRAPS = {
    "sequence": "sequence: [succeed: {{}}, {}]",
    "fallback": "fallback: [fail: x, {}]",
    "sequence_with_memory": "sequence_with_memory: [succeed: {{}}, {}]",
    "reactive_sequence": "reactive_sequence: [succeed: {{}}, {}]",
    "reactive_fallback": "reactive_fallback: [fail: x, {}]",
    "parallel": "parallel: [succeed: {{}}, {}]",
    "if": "if: {{check: 1 < 2, then: {}}}",
    "while": "while: {{check: 1 < 2, do: {}}}",
    "switch": "switch: {{on: 1, cases: {{'1': {}}}}}",
    "try": "try: {{do: {}, catch: {{fail: x}}}}",
    "invert": "invert: {}",
    "force": "force: {{status: success, child: {}}}",
    "retry": "retry: {{times: 2, child: {}}}",
    "repeat": "repeat: {{times: 2, child: {}}}",
    "until_failure": "until_failure: {}",
    "for_each": "for_each: {{in: [1], as: i, child: {}}}",
    "timeout": "timeout: {{seconds: 9, child: {}}}",
    "delay": "delay: {{seconds: 0, child: {}}}",
    "rate": "rate: {{hz: 1, child: {}}}",
    "once": "once: {}",
    "precondition": "precondition: {{if: 1 < 2, child: {}}}",
    "skip_unless": "skip_unless: {{updated: n, child: {}}}",
    "stock sequence": "py: {{class: 'bt_stock:Seq', children: [{}]}}",
    "stock parallel": "py: {{class: 'bt_stock:Par', children: [{}]}}",
    "stock decorator": "py: {{class: 'py_trees.decorators:Inverter', children: [{}]}}",
}


class Seq(py_trees.composites.Sequence):
    def __init__(self, name):
        super().__init__(name, memory=True)


class Par(py_trees.composites.Parallel):
    def __init__(self, name):
        super().__init__(name, py_trees.common.ParallelPolicy.SuccessOnAll())


@pytest.fixture
def deepest(monkeypatch):
    """Builds a chain of these wrappers above one leaf that runs for ever, by grafts of at most a few levels."""
    import sys
    import types

    module = types.ModuleType("bt_stock")
    module.Seq, module.Par = Seq, Par
    monkeypatch.setitem(sys.modules, "bt_stock", module)
    runs = []

    def build(wraps: list[str]):
        script = Script(RUNNING)

        @skill(name="leaf")
        class Leaf(Skill):
            def start(self) -> None:
                script.starts.append({})

            def poll(self):
                return RUNNING

            def cancel(self) -> None:
                script.cancels += 1

        body = "{leaf: {}}"
        for wrap in reversed(wraps):
            body = "{" + WRAPS[wrap].format(body) + "}"
        header = "version: 1\ntree: t\nblackboard: {n: {type: integer, default: 1}}\n"
        run = Run(load(f"{header}root:\n  {body}\n", skills=[Leaf]))
        runs.append(run)
        return run, script

    yield build
    for run in runs:
        run.close()


@pytest.mark.parametrize("kind", WRAPS)
def test_halting_reaches_a_leaf_below_255_parents_of_each_kind(deepest, kind):
    run, script = deepest([kind] * 255)
    assert run.tick().running
    assert run.tick().running
    assert len(running(run)) == 256
    assert run.halt("enough") == 256
    assert script.cancels == 1
    assert running(run) == []
    if kind not in ("rate", "skip_unless"):  # those do not start again at once
        assert run.tick().running
        assert len(script.starts) == 2


@pytest.mark.parametrize("seed", range(8))
def test_halting_reaches_a_leaf_below_255_mixed_parents(deepest, seed):
    rng = random.Random(seed)
    run, script = deepest([rng.choice(list(WRAPS)) for _ in range(255)])
    order = []
    run.listen(lambda tick: order.extend(n for n, _ in tick.halts), Tick)
    assert run.tick().running
    assert run.halt("enough") == 256
    assert script.cancels == 1
    for above, below in zip(order[1:], order, strict=False):
        assert below.parent is above  # children first, all the way up


def test_a_halt_from_another_thread_waits_for_the_tick_and_then_reaches_everything(make):
    box, asked, done = {}, threading.Event(), threading.Event()

    def slow():
        thread = threading.Thread(target=lambda: (asked.set(), box["run"].halt("stop", "thread"), done.set()))
        thread.start()
        box["thread"] = thread
        asked.wait(60)
        assert not done.is_set()
        return RUNNING

    t = make("parallel: [a: {}, b: {}]", a=RUNNING, b=slow)
    box["run"] = t.run
    t.tick()
    box["thread"].join(60)
    assert done.is_set()
    assert (t.skills["a"].cancels, t.skills["b"].cancels) == (1, 1)
    assert {why for _, why in t.ticks[-1].halts} == {("thread", "stop")}


def test_a_halt_from_inside_a_node_is_made_when_the_tick_has_ended(make):
    box = {}
    t = make(
        "parallel: [a: {}, b: {}, c: {}]", a=RUNNING, b=lambda: box["run"].halt("enough", "b") or SUCCESS, c=RUNNING
    )
    box["run"] = t.run
    assert t.tick() is INVALID
    assert t.skills["c"].started == 1  # the tick was not cut short
    assert t.running() == []
    assert {why for _, why in t.ticks[-1].halts} == {("b", "enough")}
    assert t.tick() is INVALID  # it asks again
    assert t.skills["a"].started == 2


def test_halting_a_tree_that_does_not_run_does_nothing(make):
    t = make("sequence: [a: {}]", a=SUCCESS)
    assert t.run.halt("x") == 0
    t.tick()
    assert t.run.halt("x") == 0
    assert t.skills["a"].cancels == 0


def test_halts_between_two_ticks_do_not_change_what_an_earlier_tick_told(make):
    t = make("sequence: [a: {}]", a=after(9))
    t.tick()
    first = t.ticks[0]
    t.run.halt("enough")
    assert first.halts == ()
    assert len(t.ticks[1].halts) == 2
    assert t.ticks[1].number == first.number


def test_two_trees_in_one_process_never_meet(make):
    text = "sequence: [set: {x: '{x + 1}'}, a: {}]"
    head = "blackboard: {x: {type: integer, default: 0}}"
    one, two = make(text, header=head, a=RUNNING), make(text, header=head, a=SUCCESS)
    one.tick()
    two.tick(1)
    two.tick(1)
    assert (one.board["x"], two.board["x"]) == (1, 2)
    two.run.halt("x")
    assert one.skills["a"].cancels == 0
    assert one.run.parts.context.blackboard is not two.run.parts.context.blackboard
