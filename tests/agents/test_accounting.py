"""Every question to a model counts for the run's budget, whichever node asks it."""

from __future__ import annotations

import pytest

import bt_runtime as bt
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.envs.registry import open_suite
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.tree.budget import Budget
from bt_runtime.tree.clock import Manual
from bt_runtime.types import Question

NODES = {  # a node of each kind that asks a model
    "agent": "{goal: tidy, moves: [think, act]}",
    "tree_search": "{goal: tidy, moves: [act]}",
    "plan": "{goal: tidy, leaf: react}",
    "infer": '{prompt: "round {n}", outputs: {kind: {choices: [a, b]}}}',
    "route": "{prompt: go, children: [{wait: {seconds: 0, about: a}}, {wait: {seconds: 0, about: b}}]}",
    "reflect": "{goal: tidy, parts: [summary, flaw], into: notes}",
    "rewrite": "{goal: tidy, reflections: [{goal: tidy, lesson: look}], into: text}",
    "verify": "{goal: is it nice, think: 20}",
}
TREE = """version: 1
tree: t
outputs: {{notes: {{type: list, default: []}}, text: {{type: string, default: ""}}, kind: string}}
blackboard: {{n: {{type: integer, default: 0}}}}
root:
  repeat:
    times: -1
    child:
      sequence:
        - set: {{n: "{{n + 1}}"}}
        - fallback:
            - {kind}: {node}
            - wait: 0
"""


def answer(question: Question) -> str:
    if question.kind == "write":
        return "1. look first\n" if "New plan:" in question.prompt else " look first"
    return "Think: x" if "Think:" in question.moves else question.alternatives[0]


def test_the_table_has_every_kind_that_asks_a_model() -> None:
    assert {kind.name for kind in shipped_kinds() if kind.asks} == {*NODES}


@pytest.mark.rule("reflect", 4)
@pytest.mark.rule("rewrite", 4)
@pytest.mark.rule("verify", 5)
@pytest.mark.parametrize("kind", NODES)
def test_what_a_node_asks_is_counted_and_ends_with_the_budget(kind: str) -> None:
    """An agent's turn is one move: it may take a second question to write it out."""
    suite = open_suite("house")
    world, model = suite.open(), ScriptedModel(answer)
    world.reset(suite.tasks(1, 1)[0])
    tree = bt.load(TREE.format(kind=kind, node=NODES[kind]))
    with bt.Run(tree, model=model, world=world, budget=Budget(decisions=4), clock=Manual()) as run:
        run.spin(ticks=60)
        spent = run.context.services.spent
        assert spent is not None
        assert spent.decisions == len(model.asked)
        assert 4 <= len(model.asked) <= 5 + 2 * (kind == "tree_search")
    world.close()
