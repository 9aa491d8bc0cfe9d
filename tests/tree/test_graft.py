"""Grafts by name: each hazard of changing a py_trees tree that is being ticked, and that it is closed here."""

from __future__ import annotations

import gc
import threading
import tracemalloc

import py_trees
import pytest

from bt_runtime import Run, load
from bt_runtime.language.fragment import load_fragment
from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, Double, Script, after
from bt_runtime.tree.request import Refused


def state(t):
    return [(n.path if hasattr(n, "path") else n.name, id(n), n.status) for n in t.run.nodes()]


def from_inside(t, ask):
    """A skill that asks for a change while the tree is being ticked."""

    def act():
        ask(t["run"])
        return SUCCESS

    return act


# Hazards of stock py_trees ----------------------------------------------------------------------------


def test_an_insert_before_oneself_during_the_tick_does_not_run_the_node_twice(make):
    box = {}
    t = make("sequence: [a: {}, b: {}]", a=lambda: box["run"].insert("/t", "b: {}\n", 0) and SUCCESS, b=SUCCESS)
    box["run"] = t.run
    assert t.tick() is SUCCESS
    assert (t.skills["a"].started, t.skills["b"].started) == (1, 1)
    assert [a.how for a in t.ticks[-1].grafts] == ["insert"]
    assert len(t.run.parts.engine.root.children) == 3


def test_a_node_that_removes_itself_does_not_make_the_sequence_pass_over_its_sibling(make):
    box = {}
    t = make("sequence: [a: {}, b: {}, c: {}]", a=lambda: box["run"].remove("/t/0") and SUCCESS, b=FAILURE, c=SUCCESS)
    box["run"] = t.run
    assert t.tick() is FAILURE
    assert t.skills["b"].started == 1
    assert len(t.run.parts.engine.root.children) == 2


@pytest.mark.parametrize("kind", ["sequence", "sequence_with_memory", "fallback"])
def test_replacing_the_running_child_does_not_run_finished_children_again(make, kind):
    done = FAILURE if kind == "fallback" else SUCCESS
    t = make(f"{kind}: [a: {{}}, b: {{}}, c: {{}}]", a=done, b=RUNNING, c=done)
    t.tick()
    t.replace("/t/1", "c: {}\n")
    assert t.skills["b"].cancels == 1
    t.tick()
    assert (t.skills["a"].started, t.skills["c"].started) == (1, 2)


def test_finished_siblings_keep_their_results_and_running_ones_go_on(make):
    t = make("parallel: [a: {}, b: {}, c: {}]", a=SUCCESS, b=after(3), c=RUNNING)
    t.tick(2)
    t.replace("/t/2", "a: {}\n")
    assert t.tick(2) is SUCCESS
    assert (t.skills["a"].started, t.skills["b"].started, t.skills["c"].cancels) == (2, 1, 1)


@pytest.mark.parametrize("kind", ["Sequence", "Selector"])
def test_replacing_the_running_child_of_a_foreign_composite_with_memory(kind):
    done = SUCCESS if kind == "Sequence" else FAILURE
    first, second, new = (Double(n, Script(s)) for n, s in [("1", done), ("2", RUNNING), ("3", done)])
    stock = getattr(py_trees.composites, kind)("stock", memory=True, children=[first, second])
    run = Run(load("version: 1\ntree: t\nroot:\n  sequence: [succeed: {}]\n"))
    run.insert("/t", stock)
    assert run.tick().running
    run.replace("/t/1/2", new)
    assert run.tick().status is done
    assert (first.script.started, second.script.cancels, new.script.started) == (1, 1, 1)
    run.close()


def test_removing_the_running_last_child_of_a_foreign_sequence_is_refused_as_it_would_begin_again():
    first, second = Double("1", Script(SUCCESS)), Double("2", Script(RUNNING))
    stock = py_trees.composites.Sequence("stock", memory=True, children=[first, second])
    run = Run(load("version: 1\ntree: t\nroot:\n  sequence: [succeed: {}]\n"))
    run.insert("/t", stock)
    run.tick()
    request = run.remove("/t/1/2")
    assert run.tick().running
    with pytest.raises(Refused, match="begin again"):
        request.poll()
    assert (first.script.started, second.script.cancels) == (1, 0)
    run.insert("/t/1", Double("0", Script(SUCCESS)), 0)
    run.remove("/t/1/1")  # the one that is done
    assert run.tick().running
    assert second.script.started == 1
    run.close()


def test_children_of_decorators_can_be_replaced(make):
    t = make("retry: {times: 2, child: {timeout: {seconds: 9, child: {a: {}}}}}", a=RUNNING, b=FAILURE)
    t.tick()
    t.replace("/t/0/0", "b: {}\n")
    assert t.skills["a"].cancels == 1
    assert t.tick(2) is FAILURE
    assert t.skills["b"].started == 2


def test_the_child_of_a_foreign_decorator_can_be_replaced():
    old, new = Double("old", Script(RUNNING)), Double("new", Script(SUCCESS))
    run = Run(load("version: 1\ntree: t\nroot:\n  sequence: [succeed: {}]\n"))
    run.insert("/t", py_trees.decorators.Inverter("inv", child=old))
    run.tick()
    run.replace("/t/1/old", new)
    assert run.tick().status is FAILURE
    assert old.script.cancels == 1
    run.close()


def test_the_root_can_be_replaced_and_keeps_its_path(make):
    t = make("sequence: [a: {}]", a=RUNNING, b=SUCCESS)
    t.tick()
    t.replace("/t", "fallback: [b: {}]\n")
    assert t.skills["a"].cancels == 1
    assert t.tick() is SUCCESS
    assert t.visits["/t/0"] == 2
    assert t.run.parts.engine.root.parent is None


def test_grafts_are_set_up_before_they_are_ticked_and_shut_down_when_they_leave(make):
    life = []

    class Node(Double):
        def setup(self, **kwargs):
            life.append("setup")

        def shutdown(self):
            life.append("shutdown")

        def initialise(self):
            life.append("initialise")
            super().initialise()

    t = make("sequence: [a: {}]", a=SUCCESS)
    t.tick()
    t.insert("/t", Node("new", Script(RUNNING)))
    t.tick()
    t.run.remove("/t/1")
    t.tick()
    assert life == ["setup", "initialise", "shutdown"]


def test_clients_of_the_global_blackboard_are_unregistered(make):
    class Client(Double):
        def __init__(self):
            super().__init__("client", Script(SUCCESS))
            self.attach_blackboard_client(name="client").register_key("k", access=py_trees.common.Access.READ)

    before = len(py_trees.blackboard.Blackboard.clients)
    t = make("sequence: [a: {}]", a=SUCCESS)
    for _ in range(20):
        t.insert("/t", Client())
        t.run.remove("/t/" + t.run.parts.engine.root.children[-1].segment)
        t.tick()
    assert len(py_trees.blackboard.Blackboard.clients) == before


def test_py_trees_own_calls_inside_a_tick_break_that_node_and_change_nothing(make):
    box = {}

    def mischief():
        box["root"].insert_child(Double("x", Script(SUCCESS)), 0)

    t = make("sequence: [fallback: [a: {}, b: {}]]", a=mischief, b=SUCCESS)
    box["root"] = t.run.parts.engine.root
    assert t.tick() is SUCCESS
    assert "ask for the change instead" in t.ticks[-1].crashes[0].traceback
    assert len(t.run.parts.engine.root.children) == 1


# Requests ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda r: r.insert("/t/0", "a: {}\n"), "has no children"),
        (lambda r: r.insert("/t/1", "a: {}\n"), "fixed set"),
        (lambda r: r.insert("/t", "a: {}\n", 9), "no place 9"),
        (lambda r: r.insert("/t", "a: {name: known}\n"), "beside it already"),
        (lambda r: r.remove("/t/1/0"), "needs this child"),
        (lambda r: r.remove("/t"), "root cannot be removed"),
        (lambda r: r.remove("/t/7"), "no node /t/7"),
        (lambda r: r.replace("/t/0", r.parts.engine.root.children[2]), "part of a tree already"),
        (lambda r: r.replace("/t/0", r.parts.engine.root), "part of a tree already"),
        (lambda r: r.insert("/t", deep(300)), "302 nodes deep|301 nodes deep"),
    ],
)  # fmt: skip
def test_a_refused_graft_leaves_the_tree_exactly_as_it_was(make, ask, why):
    t = make("parallel: [a: {}, {retry: {times: 2, child: {a: {}}}}, a: {name: known}]", a=RUNNING)
    t.tick()
    before, nodes = state(t), t.run.parts.engine.nodes
    request = ask(t.run)
    t.run.parts.engine.settle()
    with pytest.raises(Refused, match=why):
        request.poll()
    assert state(t) == before
    assert t.run.parts.engine.nodes == nodes
    assert t.skills["a"].cancels == 0


def deep(levels: int):
    node = Double("leaf", Script(SUCCESS))
    for _ in range(levels - 1):
        node = py_trees.composites.Sequence("s", memory=True, children=[node])
    return node


def test_faults_in_the_text_are_raised_when_the_graft_is_asked_for(make):
    from bt_runtime import Faults

    t = make("sequence: [a: {}]", a=SUCCESS)
    with pytest.raises(Faults, match="did you mean `sequence`"):
        t.run.insert("/t", "seqence: [a: {}]\n")


def test_when_one_new_node_cannot_be_set_up_the_whole_graft_is_refused_and_the_others_shut_down(make):
    life = []

    class Node(Double):
        def setup(self, **kwargs):
            life.append(f"setup {self.name}")
            if self.name == "bad":
                raise OSError("no such motor")

        def shutdown(self):
            life.append(f"shutdown {self.name}")

    t = make("sequence: [a: {}]", a=RUNNING)
    t.tick()
    before = state(t)
    new = py_trees.composites.Sequence("both", True, children=[Node(n, Script()) for n in ("good", "bad", "never")])
    request = t.run.insert("/t", new)
    t.run.parts.engine.settle()
    with pytest.raises(Refused, match=r"could not be set up.*no such motor"):
        request.poll()
    assert life == ["setup good", "setup bad", "shutdown good"]
    assert state(t) == before


def test_a_refused_subtree_leaves_no_scope(make, tmp_path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sub.yaml").write_text("version: 1\ntree: sub\nroot:\n  set: {x: 1}\n")
    t = make("sequence: [tree: sub, a: {}]", a=SUCCESS, options={"project": tmp_path})
    t.tick()
    before = t.run.parts.context.blackboard.snapshot()
    request = t.run.replace("/t/0", "sequence: [tree: sub, py: {class: 'py_trees.behaviours:Nothing'}]\n")
    t.run.parts.engine.settle()
    assert "Nothing" in str(request.refused)
    assert t.run.parts.context.blackboard.snapshot() == before


def test_a_cancelled_request_is_not_made(make):
    t = make("sequence: [a: {}]", a=SUCCESS)
    request = t.run.insert("/t", "a: {}\n")
    request.cancel("changed my mind")
    t.tick()
    assert len(t.run.parts.engine.root.children) == 1
    with pytest.raises(Refused, match="changed my mind"):
        request.poll()


def test_several_requests_are_made_in_the_order_they_were_asked_for(make):
    t = make("sequence: [a: {}]", a=SUCCESS, b=SUCCESS)
    t.run.insert("/t", "b: {name: new}\n")
    t.run.insert("/t", "a: {}\n", 0)
    t.run.replace("/t/new", Double("double", Script()))
    t.run.remove("/t/0")
    t.tick()
    assert [n.segment for n in t.run.parts.engine.root.children] == ["2", "new"]
    assert t.skills["b"].started == 0


def test_requests_may_come_from_any_thread_while_the_tree_is_ticked(make):
    t = make("reactive_sequence: [a: {}, wait: {until: n > 3}]", header="blackboard: {n: {type: integer, default: 0}}",
             a=SUCCESS)  # fmt: skip

    def ask():
        for _ in range(25):
            t.run.insert("/t", "a: {}\n", 1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert t.tick() is RUNNING
    t.tick()
    assert len(t.run.parts.engine.root.children) == 102


def test_a_halt_by_a_graft_is_on_record(make):
    t = make("sequence: [a: {}]", a=RUNNING)
    t.tick()
    t.run.remove("/t/0")
    t.tick()
    [(node, why)] = t.ticks[-1].halts
    assert (node.name, why) == ("a", ("graft", "/t/0 was removed"))


def test_an_optional_branch_can_be_removed_and_then_its_turn_is_a_failure(make):
    t = make("while: {check: x > 0, do: {a: {}}, else: {b: {}}}", header="blackboard: {x: {type: any, default: 0}}",
             a=RUNNING, b=RUNNING)  # fmt: skip
    t.tick()
    t.run.remove("/t/1")
    assert t.tick() is FAILURE
    assert t.skills["b"].cancels == 1
    t.board["x"] = 1
    assert t.tick() is RUNNING


def test_a_graft_under_once_and_rate_starts_the_new_child(make):
    t = make("sequence: [{once: {a: {}}}, {rate: {hz: 1, child: {a: {}}}}]", a=SUCCESS, b=SUCCESS)
    t.tick()
    t.replace("/t/0/0", "b: {}\n")
    t.replace("/t/1/0", "b: {}\n")
    assert t.tick() is SUCCESS
    assert t.skills["b"].started == 2


def test_insert_where_the_running_child_was_removed_runs_the_new_one(make):
    t = make("sequence: [a: {}, b: {}, c: {}]", a=SUCCESS, b=RUNNING, c=SUCCESS, d=SUCCESS)
    t.tick()
    t.run.remove("/t/1")
    t.run.insert("/t", "d: {}\n", 1)
    assert t.tick() is SUCCESS
    assert (t.skills["a"].started, t.skills["d"].started, t.skills["c"].started) == (1, 1, 1)


def test_ten_thousand_grafts_and_prunes_leak_nothing(make, tmp_path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sub.yaml").write_text("version: 1\ntree: sub\nroot:\n  set: {x: 1}\n")
    t = make("sequence: [a: {}]", a=SUCCESS, options={"project": tmp_path})
    t.keep_no_more()  # the trial keeps every tick
    run, plan = t.run, "sequence:\n  - tree: sub\n  - py: {class: 'py_trees.behaviours:Success'}\n"
    spec = load_fragment(run.parts.tree.loader(), plan, run.parts.tree.spec, "plan")

    def cycles(count: int) -> None:
        from bt_runtime.tree.build import build_nodes
        from bt_runtime.tree.request import Request

        def make_nodes(place):
            above, _, segment = place.rpartition("/")
            return build_nodes(spec, run.parts.context, run.blackboard, segment, above, tmp_path)

        for _ in range(count):
            run.parts.engine.request(Request("insert", "/t", make_nodes, 1, plan))
            run.tick()
            run.remove(f"/t/{run.parts.engine.root.children[1].segment}")
            run.tick()
        t.skills["a"].starts.clear()

    def measure() -> tuple:
        gc.collect()
        board = run.parts.context.blackboard
        return (
            len(board.scopes), board.stream.count, len(py_trees.blackboard.Blackboard.clients), run.parts.engine.nodes,
            len(run.parts.context.requests), run.parts.context.crash_count,
        )  # fmt: skip

    assert run.parts.engine.watchdog is not None
    run.parts.engine.watchdog.close()  # what it sees of a slow machine is kept, and would be measured
    cycles(200)
    before = measure()
    tracemalloc.start()
    cycles(1500)  # the interpreter keeps some freed tuples at hand, up to a bound
    gc.collect()
    early = tracemalloc.get_traced_memory()[0]
    cycles(900)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - early
    tracemalloc.stop()
    cycles(7400)
    assert measure() == before
    assert grown < 20_000  # bytes, over 900 cycles: less than one node a cycle by far
    assert run.parts.engine.root.status is not INVALID
