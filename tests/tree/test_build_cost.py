"""What it costs to make the nodes of a tree."""

from __future__ import annotations

from py_trees.behaviours import Success

from bt_runtime import Run, load
from bt_runtime.language.spec import NodeSpec
from bt_runtime.tree.describe import census

WIDE = "version: 1\ntree: t\nroot:\n  sequence:\n"


def test_a_parent_is_asked_once_for_the_places_of_its_tests_however_many_children_it_has(monkeypatch) -> None:
    asked = []
    tree = load(WIDE + "    - succeed: {}\n" * 200)
    plain = NodeSpec.asks.fget
    monkeypatch.setattr(NodeSpec, "asks", property(lambda spec: (asked.append(spec), plain(spec))[1]))
    with Run(tree) as run:
        assert run.parts.engine.nodes == 201
    assert asked.count(tree.spec.root) == 1


def test_a_run_that_is_listened_to_describes_each_of_its_nodes_once(monkeypatch) -> None:
    described, plain = [], census.gist
    monkeypatch.setattr(census, "gist", lambda node: (described.append(node), plain(node))[1])
    with Run(load(WIDE + "    - succeed: {}\n" * 20)) as run:
        shape = run.parts.engine.standing().shape
        assert [row.number for row in shape.add] == list(range(1, 22)) and len(described) == 21
        assert run.parts.engine.standing().shape.add == shape.add  # the next listener hears all of them


def test_a_node_has_all_that_a_behaviour_of_py_trees_has_and_keeps_its_id_and_logger() -> None:
    with Run(load(WIDE + "    - succeed: {}\n" * 2)) as run:
        node, other = run.parts.engine.root.children
        assert all(hasattr(node, name) for name in vars(Success("x")))
        assert node.id == node.id != other.id and node.logger is node.logger
        assert node.logger.prefix == Success(node.name).logger.prefix
