"""What agents share in a run: one object of their own, which the tree's services keep without knowing it."""

from __future__ import annotations

import dataclasses

import pytest

from bt_runtime import BtError, Run, load
from bt_runtime.agents.services import AgentServices, agent_services
from bt_runtime.run.resources import FOR_AGENTS
from bt_runtime.tree.context import Context, ScopedContext

TREE = "version: 1\ntree: t\nroot: {log: hello}\n"


def test_an_episode_has_its_own_task_and_the_run_s_models() -> None:
    whole = Context()
    within = ScopedContext(whole)
    agents = agent_services(whole)
    agents.task, agents.stories["get out"] = "t1", ("a story", "done")
    assert agent_services(within) is not agents and agent_services(within).models is agents.models
    assert agent_services(within).task == "" and agent_services(within).stories == {}
    agent_services(within).task = "t2"
    within.serve()
    assert agent_services(within).task == "" and agents.task == "t1"


def test_names_that_agents_keep_are_refused_when_a_run_is_made() -> None:
    names = {field.name for field in dataclasses.fields(AgentServices)}
    assert names | {"model"} == FOR_AGENTS
    for name in names - {"models", "episodes", "prompts", "notebook"}:
        with pytest.raises(BtError, match=f"`{name}` cannot be a service"):
            Run(load(TREE), services={name: "mine"})
