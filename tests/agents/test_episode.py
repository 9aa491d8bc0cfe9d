"""A task in a world of its own, for a part of a tree."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import pytest

from bt_envs.textcraft.world import TextCraft
from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.prompt import system_text
from bt_runtime.agents.services import agent_services
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.plugins import open_suite
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from bt_runtime.types import Task
from tests.support.oracles import goal_of, ways

rule = pytest.mark.rule
RULES = system_text("agent", {"moves": ["think", "act"], "recall": False}).count("Act: ")

MANY = """
version: 1
tree: many
inputs: {tasks: {type: list}}
outputs: {outcomes: {type: list, default: []}}
root:
  for_all:
    in: "{tasks}"
    as: task
    give: outcome
    into: outcomes
    child:
      episode:
        world: textcraft
        task: "{task}"
        into: outcome
        child:
          tree: {file: react, with: {goal: "{task['goal']}"}}
"""


def tasks(count: int) -> list[dict[str, Any]]:
    return [task._asdict() for task in open_suite("textcraft").tasks(5, count)]


def by_heart(given: list[dict[str, Any]], failing: str = ""):
    """Each agent acts what the oracle would, by what it has done so far; one of them gives up."""
    known = ways([Task(**task) for task in given], "textcraft")

    def script(ask: Any) -> str:
        goal = goal_of(ask.prompt)
        return "Act: failure" if goal == failing else f"Act: {known[goal][ask.prompt.count('Act: ') - RULES]}"

    return script


def one(root: str, **inputs: Any) -> Any:
    return load(f"version: 1\ntree: t\ninputs: {{task: {{type: object}}}}\noutputs: {{outcome: "
                f"{{type: any, default: none}}}}\nroot:\n{root}")  # fmt: skip


@rule("episode", 1, 2, 3)
@pytest.mark.parametrize("journal", [False, True])
def test_every_episode_acts_in_its_own_world_and_says_what_became_of_it(journal, tmp_path):
    given = tasks(3)
    model = ScriptedModel(by_heart(given, failing=given[1]["goal"]), polls=1)
    with Run(load(MANY), inputs={"tasks": given}, model=model, journal=tmp_path if journal else None) as run:
        assert run.spin(seconds=60) is FAILURE  # one of the three was not reached
        outcomes = run.outputs["outcomes"]
    assert [o["reached"] for o in outcomes] == [True, False, True]
    assert [o["task"] for o in outcomes] == [t["id"] for t in given]
    assert [o["ended"] for o in outcomes] == ["done", "failure", "done"]
    assert outcomes[0]["steps"] >= 2 and outcomes[1]["steps"] == 0
    assert outcomes[0]["story"].startswith(f"Your task is to: {given[0]['goal']}")
    assert outcomes[0]["story"].count("Act: ") == outcomes[0]["steps"] + 1


@rule("episode", 1)
def test_each_episode_has_budgets_and_a_working_memory_of_its_own():
    given = tasks(2)
    seen: list[Any] = []

    def script(ask: Any) -> str:
        (episode,) = [n for n in run.nodes() if n.spec.kind.name == "episode" and agent_services(n.inside).task
                      and n.task.goal == goal_of(ask.prompt)]  # fmt: skip
        seen.append((id(agent_services(episode.inside).working_memory), id(episode.inside.services.spent)))
        return "Act: inventory" if sum(s == seen[-1] for s in seen) < 3 else "Act: failure"

    with Run(load(MANY), inputs={"tasks": given}, model=ScriptedModel(script)) as run:
        run.spin(seconds=60)
        assert [o["steps"] for o in run.outputs["outcomes"]] == [2, 2]
        assert agent_services(run.parts.context).working_memory is None and run.parts.context.services.world is None
    assert len(set(seen)) == 2


@rule("episode", 2)
def test_a_child_that_claims_success_does_not_make_it_one():
    root = '  episode: {world: textcraft, task: "{task}", into: outcome, child: {succeed: {}}}\n'
    with Run(one(root), inputs={"task": tasks(1)[0]}) as run:
        assert run.spin(seconds=120) is FAILURE
        assert run.outputs["outcome"]["reached"] is False


@contextmanager
def closings(monkeypatch: pytest.MonkeyPatch):
    closed: list[Any] = []
    monkeypatch.setattr(TextCraft, "close", lambda self: closed.append(self))
    yield closed


@rule("episode", 3, 4)
def test_the_world_is_closed_at_the_end_and_when_the_episode_is_halted(monkeypatch):
    root = '  episode: {world: textcraft, task: "{task}", into: outcome, child: {wait: {until: "false"}}}\n'
    with closings(monkeypatch) as closed:
        with Run(one(root), inputs={"task": tasks(1)[0]}) as run:
            assert run.tick().status is RUNNING  # it is being opened, and the tick did not wait
            while run.parts.engine.root.inside.services.world is None:
                assert run.tick().status is RUNNING
            run.halt("enough")
            assert len(closed) == 1
        assert len(closed) == 1
        with Run(one(root.replace('{wait: {until: "false"}}', "{fail: no}")), inputs={"task": tasks(1)[0]}) as run:
            run.spin(seconds=120)
            assert len(closed) == 2


def test_a_task_that_is_not_whole_and_a_world_that_is_not_there_fail_the_episode_saying_why():
    root = '  episode: {world: textcraft, task: "{task}", into: outcome, child: {succeed: {}}}\n'
    with Run(one(root), inputs={"task": {"goal": "x"}}) as run:
        assert run.spin(seconds=120) is FAILURE
        assert "lacks id, kind, data" in run.parts.context.crashes[-1].message
    with Run(one(root.replace("textcraft", "textcrafd")), inputs={"task": tasks(1)[0]}) as run:
        assert run.spin(seconds=120) is FAILURE
        assert "no world is called `textcrafd`" in run.parts.context.crashes[-1].message


def test_skill_nodes_act_in_the_world_of_their_episode():
    root = (
        "  repeat:\n    times: 2\n    child:\n      force:\n        status: success\n        child:\n"
        '          episode: {world: textcraft, task: "{task}", into: outcome, child: {inventory: {}}}\n'
    )
    tree = load(f"version: 1\ntree: t\nskills: [textcraft]\ninputs: {{task: {{type: object}}}}\noutputs: {{outcome: "
                f"{{type: any, default: none}}}}\nroot:\n{root}")  # fmt: skip
    with Run(tree, inputs={"task": tasks(1)[0]}) as run:
        assert run.spin(seconds=120) is SUCCESS
        assert not run.parts.context.crashes


def test_a_recorded_run_of_several_episodes_is_played_again_without_model_or_world(tmp_path):
    given = tasks(2)
    with Run(
        load(MANY), inputs={"tasks": given}, model=ScriptedModel(by_heart(given), polls=2), journal=tmp_path
    ) as run:
        assert run.spin(seconds=60) is SUCCESS
        path, ticks = run.parts.journal.path, run.parts.engine.count
    played = replay(path)
    assert (played.difference, played.ended, played.status, played.ticks) == ("", "", "SUCCESS", ticks)


def test_a_run_that_was_cut_off_amid_its_episodes_goes_on_with_their_worlds_as_they_were(tmp_path):
    given = tasks(2)
    script = by_heart(given)
    first = Run(load(MANY), inputs={"tasks": given}, model=ScriptedModel(script, polls=1), journal=tmp_path)
    while sum(n.spec.kind.name == "agent" and len(getattr(n, "steps", ())) for n in first.nodes()) < 3:
        first.tick()
    path = first.parts.journal.path
    first.parts.journal.close()  # as if it had been killed: nothing is told any more
    assert sum(event.kind == "done" for event in Recording(path).events) >= 2
    with resume(path, model=ScriptedModel(script, polls=1)) as run:
        assert run.spin(seconds=60) is SUCCESS
        assert [o["reached"] for o in run.outputs["outcomes"]] == [True, True]


PARTED = MANY.replace("{file: react,", "{file: reactree,")


def parts(given: list[dict[str, Any]]):
    """Each agent expands its task into two parts, and those act the oracle's way, each a part of it."""
    todo: dict[str, list[str]] = {}
    for goal, (first, *others) in ways([Task(**task) for task in given], "textcraft").items():
        todo |= {f"begin to {goal}": [first, "done"], f"finish to {goal}": others}

    def script(ask: Any) -> str:
        goal = goal_of(ask.prompt)
        if goal not in todo:
            return f"Expand:\nsequence:\n- begin to {goal}\n- finish to {goal}"
        return f"Act: {todo[goal][ask.prompt.rpartition('Your task is to: ')[2].count('Act: ')]}"

    return script


@rule("episode", 1)
def test_what_grows_below_an_episode_acts_in_its_world_too(tmp_path):
    given = tasks(2)
    with Run(load(PARTED), inputs={"tasks": given}, model=ScriptedModel(parts(given)), journal=tmp_path) as run:
        assert run.spin(seconds=60) is SUCCESS, [c.message for c in run.parts.context.crashes]
        outcomes, path = run.outputs["outcomes"], run.parts.journal.path
    assert [o["reached"] for o in outcomes] == [True, True]
    assert all("Expand:\n" in o["story"] and f"Your task is to: begin to {o['goal']}" in o["story"] for o in outcomes)
    assert replay(path).difference == ""


def test_what_an_operator_grafts_into_an_episode_shares_its_world():
    root = (
        '  episode: {world: textcraft, task: "{task}", into: outcome, child: {sequence: [{wait: {until: "false"}}]}}\n'
    )
    tree = load(one(root).spec.text.replace("tree: t\n", "tree: t\nskills: [textcraft]\n"))
    with Run(tree, inputs={"task": tasks(1)[0]}) as run:
        while run.parts.engine.root.inside.services.world is None:
            run.tick()
        run.insert("/t/0", "inventory: {}", 0)
        run.tick()
        grafted = run.parts.engine.root.children[0].children[0]
        assert (
            grafted.find() is run.parts.engine.root.inside.services.world and run.parts.context.services.world is None
        )


@rule("episode", 1)
def test_options_reach_the_world_that_is_opened():
    task = open_suite("house").tasks(1, 1)[0]._asdict()
    said = {}
    for feedback in ("terse", "detailed"):
        root = (
            f'  episode: {{world: house, options: {{feedback: {feedback}}}, task: "{{task}}", into: outcome, '
            'child: {wait: {until: "false"}}}\n'
        )
        with Run(one(root), inputs={"task": task}) as run:
            while run.parts.engine.root.inside.services.world is None:
                run.tick()
            said[feedback] = run.parts.engine.root.inside.services.world.act("open the moon 1").text
    assert said["terse"] == "Nothing happens." and len(said["detailed"]) > len(said["terse"])
