"""What a compiled tree has no case for is done by the strategy of its runs, whose parts return to the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.agents.compile.strategy import agent_of
from bt_runtime.agents.compile.trace import MARK, Trace
from bt_runtime.agents.compile.yaml_text import text

TREES = Path(__file__).parents[3] / "trees"


def _trace(strategy: str, told: str, **inputs: object) -> Trace:
    return Trace("a run", "", "", "craft paper", True, strategy, 0, [], told, inputs=inputs)


@pytest.mark.parametrize("strategy", ["adapt", "reactree"])
def test_parts_that_a_strategy_plans_become_the_compiled_tree(strategy: str) -> None:
    """The tree stands where the strategy planned itself; nothing calls the strategy's own file."""
    made = text(agent_of([_trace(strategy, (TREES / f"{strategy}.yaml").read_text())], "known").node, 0)
    assert "leaf: known" in made
    assert strategy not in made
    assert "unless: given_up" in made


def test_its_inputs_come_along_with_the_values_of_the_runs() -> None:
    """ADaPT counts its depth; the runs' own limit is the default."""
    agent = agent_of([_trace("adapt", (TREES / "adapt.yaml").read_text(), goal="craft paper", max_depth=4)], "known")
    assert agent.inputs == {"depth": {"type": "integer", "default": 1}, "max_depth": {"type": "integer", "default": 4}}


def test_a_strategy_that_plans_nothing_itself_is_called() -> None:
    """Plan-and-Execute has ReAct do its parts: it stays a file of its own."""
    agent = agent_of([_trace("plan_and_execute", (TREES / "plan_and_execute.yaml").read_text())], "known")
    assert agent.node.value["file"] == "plan_and_execute"


def test_runs_of_the_compiled_tree_alone_tell_its_strategy() -> None:
    """Compiled again from its own runs, the tree keeps its agent and where it came from."""
    told = (TREES / "craft.yaml").read_text()
    assert MARK in told
    agent = agent_of([_trace("craft", told)], "craft")
    assert agent.name == "adapt"
    assert "leaf: craft" in text(agent.node, 0)
    assert "max_depth" in agent.inputs
