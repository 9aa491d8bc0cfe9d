"""A run's world, models and memories: given or named, written at the end, closed only when the run opened them."""

from __future__ import annotations

import pytest

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.services import agent_services
from bt_runtime.plugins import open_suite
from bt_runtime.testing import SUCCESS
from tests.support.oracles import taught

pytest.importorskip("numpy")


@pytest.fixture
def house():
    suite = open_suite("house")
    task = suite.tasks(11, 1)[0]
    world = suite.open()
    world.reset(task)
    return suite, task, world


def test_a_runs_experiences_are_written_at_its_end_with_the_worlds_verdict_and_shown_to_the_next_run(house, tmp_path):
    from bt_runtime.memory import Episodes

    _, task, world = house
    with Run(load("reactree"), inputs={"goal": task.goal}, world=world, task=task, model=ScriptedModel(taught),
             memory=tmp_path / "memory.db", recall=False) as run:  # fmt: skip
        assert run.spin(ticks=5000) is SUCCESS
    with Episodes.open(tmp_path / "memory.db") as episodes:
        found = episodes.retrieve(task.goal, k=3)
        assert found.taken and all(e.verdict is True and e.task == task.id for e in found.taken)
        assert found.taken[0].goal == task.goal and found.taken[0].end == "expand"
        model = ScriptedModel(["Act: done"])
        with Run(load("react"), inputs={"goal": task.goal}, world=world, model=model, memory=episodes) as run:
            run.spin()
        assert "Example 1\n" in model.asked[0].prompt
        assert episodes.retrieve(task.goal, k=1).taken  # the run did not close what it was given


def test_a_run_that_fails_by_the_worlds_account_is_kept_but_not_shown(house, tmp_path):
    from bt_runtime.memory import Episodes

    _, task, world = house
    with Run(load("react"), inputs={"goal": task.goal}, world=world, task=task, model=ScriptedModel(["Act: done"]),
             memory=tmp_path / "memory.db") as run:  # fmt: skip
        assert run.spin() is SUCCESS  # its own word
    with Episodes.open(tmp_path / "memory.db") as episodes:
        assert not episodes.retrieve(task.goal, k=3).taken
        assert episodes.retrieve(task.goal, k=3, failed=True).taken[0].verdict is False


def test_working_memory_answers_where_a_thing_was_seen_by_another_agent_of_the_run(house):
    _, task, world = house
    room = next(s for s in world.skills() if s.startswith("go to "))
    script = [f"Act: {room}", "Act: done"]
    with Run(load("react"), inputs={"goal": task.goal}, world=world, model=ScriptedModel(script)) as run:
        assert run.spin() is SUCCESS
        known = agent_services(run.parts.context).working_memory.snapshot()
        assert run.blackboard["working_memory"] == known
        offered = run.parts.resources.models["default"].asked[-1].moves["Act:"]
        assert any(s.startswith(" recall location of ") for s in offered) == bool(known.things)


def test_a_prompt_tells_of_the_memory_that_can_be_asked_and_of_none_that_cannot(house):
    _, task, world = house
    for recall in (True, False):
        with Run(
            load("react"), inputs={"goal": task.goal}, world=world, recall=recall, model=ScriptedModel(["Act: done"])
        ) as run:
            run.spin()
            asked = run.parts.resources.models["default"].asked[0]
        offered = any(sentence.startswith(" recall location of ") for sentence in asked.moves["Act:"])
        assert (recall, recall) == (offered, "Act: recall location of a thing" in asked.prompt)


def test_a_skill_of_a_manifest_can_recall(house):
    _, _, world = house
    text = "version: 1\ntree: t\nskills: [house]\nroot:\n  recall_location: {thing: unicorn}\n"
    with Run(load(text), world=world) as run:
        assert run.spin() is SUCCESS
        assert run.parts.engine.root.feedback_message == "You have not seen unicorn before."


@pytest.mark.parametrize(
    ("select", "shown"),
    [
        ("semantic", {"fetch a cup"}),
        ("task", {"fetch a cup", "fetch a plate"}),
        ("random", {"fetch a cup", "boil an egg"}),
    ],
)
def test_examples_are_selected_by_similarity_by_kind_of_task_or_one_of_every_kind(select, shown, tmp_path):
    from bt_runtime.memory import Episodes
    from bt_runtime.memory.experience import Experience
    from bt_runtime.types import Task

    tree = f"""
version: 1
tree: t
root:
  agent: {{goal: fetch a cup, examples: {1 if select == "semantic" else 2}, select: {select}, level: task}}
"""
    kinds = {"fetch a cup": "fetch", "fetch a plate": "fetch", "boil an egg": "cook"}
    if select == "random":
        del kinds["fetch a plate"]
    with Episodes.open(tmp_path / "memory.db") as episodes:
        episodes.add(
            Experience(
                goal,
                f"Your task is to: {goal}\nAct: done\n",
                "success",
                task=goal,
                kind=kind,
                run=goal,
                place="/t",
                verdict=True,
            )
            for goal, kind in kinds.items()
        )
        model = ScriptedModel(["Act: done"])
        task = Task("now", "fetch", "fetch a cup", {})
        with Run(load(tree), model=model, memory=episodes, task=task) as run:
            assert run.spin(seconds=120) is SUCCESS
    examples = model.asked[0].prompt.partition("Now the task at hand.")[0]
    assert {goal for goal in kinds if f"Your task is to: {goal}\n" in examples} == shown
