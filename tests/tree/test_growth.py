"""The engine runs and grows without a run around it: trees that contain themselves, copies, plans, grafts."""

from __future__ import annotations

import pytest

from bt_runtime import Faults, Node
from bt_runtime.language.loader import Loader
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from bt_runtime.tree.build import build
from bt_runtime.tree.context import Context
from bt_runtime.tree.engine import Engine
from bt_runtime.tree.node import path_of
from bt_runtime.tree.nodes.parent import Decorator
from bt_runtime.tree.request import Refused, Request

COUNTDOWN = """
version: 1
tree: countdown
inputs: {left: {type: integer, default: 3}}
root:
  fallback:
    - check: left < 1
    - tree: {file: countdown.yaml, with: {left: "{left - 1}"}}
"""
HEAD = "version: 1\ntree: t\n"
EACH = f"{HEAD}root: {{for_all: {{in: [a, b], as: it, give: it, into: all, child: {{succeed: {{}}}}}}}}\n"


def bare(checked, **caps) -> Engine:
    """An engine and nothing else: no run, no services."""
    spec, context = checked.sound(), Context()
    scope = context.blackboard.root
    for name, port in spec.ports.items():
        scope[name] = port.default
    return Engine(build(spec, context, scope), context, **caps)


def ticked(engine: Engine, most: int = 50):
    while (tick := engine.tick()).running and engine.count < most:
        pass
    return tick.status


def paths(engine: Engine) -> list[str]:
    found, todo = [], [engine.root]
    while todo:
        node = todo.pop()
        found.append(path_of(node))
        todo.extend(node.children)
    return sorted(found)


@pytest.fixture
def countdown(tmp_path):
    (tmp_path / "countdown.yaml").write_text(COUNTDOWN)
    return lambda **caps: bare(Loader(tmp_path).file(tmp_path / "countdown.yaml"), **caps)


def test_a_tree_that_contains_itself_grows_as_deep_as_it_is_reached(countdown):
    engine = countdown()
    assert engine.nodes == 3
    assert ticked(engine) is SUCCESS
    assert engine.nodes == 3 + 3 * 3
    deepest = max(paths(engine), key=len)
    assert deepest.count("countdown") == 4


def test_a_tree_that_contains_itself_needs_no_disk_once_it_is_loaded(countdown, tmp_path):
    engine = countdown()
    (tmp_path / "countdown.yaml").unlink()
    assert ticked(engine) is SUCCESS


def test_growth_beyond_the_caps_is_failure_and_leaves_the_tree_as_it_was(countdown):
    engine = countdown(max_nodes=7)
    assert ticked(engine) is FAILURE
    assert engine.nodes == 6


def test_for_all_makes_its_copies():
    engine = bare(Loader().text(EACH))
    assert ticked(engine) is SUCCESS
    assert engine.context.blackboard.root["all"] == ["a", "b"] and len(engine.root.children) == 2
    assert engine.context.growth.room == 100_000 - engine.nodes


class Planner(Decorator):
    """As an agent does it: the first tick asks for the nodes of a text, and their result is its own."""

    plan, asked = "", None

    def choose(self):
        if self.children:
            return self.children[0]
        if self.asked is None:
            self.asked = self.context.growth.plan(self, self.plan)
        self.asked.poll()
        self.context.tick_soon()
        return RUNNING


@pytest.mark.parametrize("around", ["{}", "sequence: [{}]", "parallel: [{}]"])
def test_a_node_may_ask_for_what_a_model_wrote(around):
    root = around.format("invert: {succeed: {}}")
    engine = bare(Loader().text(f"{HEAD}blackboard: {{seen: {{type: integer, default: 0}}}}\nroot: {{ {root} }}\n"))
    node = next(n for n in below(engine.root) if n.children and not n.children[0].children)
    planner = Planner(node.spec, engine.context, node.scope)
    planner.plan = "sequence: [{set: {seen: 3}}, {check: seen == 3}]"
    asked = engine.request(Request("replace", path_of(node), lambda place: planner))
    assert ticked(engine) is SUCCESS
    assert asked.applied is not None and engine.context.blackboard.root["seen"] == 3
    assert planner.children[0].spec.kind.name == "sequence"


def below(root: Node) -> list[Node]:
    return [root, *(each for child in root.children for each in below(child))]


def test_a_plan_at_fault_is_told_to_the_node_that_asked(countdown):
    engine = countdown()
    node = engine.find("/countdown/1")
    with pytest.raises(Faults, match="sequnce"):
        engine.context.growth.plan(node, "sequnce: [{succeed: {}}]")
    with pytest.raises(Faults, match="BT"):
        engine.context.growth.graft("insert", "/countdown", "set: {left: many}")
    assert not engine.context.requests


def test_a_text_from_outside_is_grafted_into_the_tree_and_scope_of_its_place(countdown):
    engine = countdown()
    ticked(engine)
    path = next(p for p in paths(engine) if p.count("countdown") == 2 and p.endswith("/countdown"))
    asked = engine.context.growth.graft("insert", path, "check: left == 2", 0)
    engine.settle()
    assert asked.applied is not None
    assert engine.context.growth.owner(engine.find(f"{path}/2")).scope is not engine.context.blackboard.root
    assert ticked(engine) is SUCCESS


def test_a_graft_waits_for_nobody_when_the_tree_around_it_was_replaced(countdown):
    engine = countdown()
    ticked(engine)
    path = next(p for p in paths(engine) if p.count("countdown") == 3 and p.endswith("/countdown"))
    over = path.rpartition("/countdown")[0]
    engine.context.growth.graft("replace", over, "tree: {file: countdown.yaml, with: {left: 1}}")
    asked = engine.context.growth.graft("insert", path, "succeed: {}")
    engine.settle()
    with pytest.raises(Refused):
        asked.poll()


def test_nodes_made_in_python_have_no_tree_to_check_a_text_with():
    import py_trees

    context = Context()
    engine = Engine(py_trees.composites.Sequence("root", memory=True), context)
    with pytest.raises(Refused, match="made in Python"):
        engine.context.growth.graft("insert", "/root", "succeed: {}")
