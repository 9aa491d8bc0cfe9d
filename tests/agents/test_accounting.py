"""Every question to a model counts for the run's budget, whichever node asks it."""

from __future__ import annotations

import pytest

import bt_runtime as bt
from bt_runtime import Budget
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.plugins import open_suite
from tests.agents.asking_nodes import NODES, TREE, answer


def test_the_table_has_every_kind_that_asks_a_model() -> None:
    assert {kind.name for kind in shipped_kinds() if kind.asks} == {*NODES}


@pytest.mark.rule("reflect", 4)
@pytest.mark.rule("rewrite", 4)
@pytest.mark.rule("verify", 5)
@pytest.mark.rule("want", 6)
@pytest.mark.parametrize("kind", NODES)
def test_what_a_node_asks_is_counted_and_ends_with_the_budget(kind: str) -> None:
    """An agent's turn is one move: it may take a second question to write it out."""
    suite = open_suite("house")
    world, model = suite.open(), ScriptedModel(answer)
    world.reset(suite.tasks(1, 1)[0])
    tree = bt.load(TREE.format(kind=kind, node=NODES[kind]))
    with bt.Run(tree, model=model, world=world, budget=Budget(decisions=4), clock=Manual()) as run:
        run.spin(ticks=60)
        spent = run.parts.context.services.spent
        assert spent is not None
        assert spent.decisions == len(model.asked)
        assert 4 <= len(model.asked) <= 5 + 2 * (kind == "tree_search")
    world.close()
