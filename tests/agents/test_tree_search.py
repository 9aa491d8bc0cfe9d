"""Tree search: states are tried and undone, the most promising is gone on from, ends are judged."""

from __future__ import annotations

import pytest

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.tree_search import ASKED, State
from bt_runtime.journal import Recording, replay
from bt_runtime.plugins import open_suite
from bt_runtime.testing import FAILURE, SUCCESS
from bt_runtime.types import Observation
from tests.support.oracles import acting

rule = pytest.mark.rule


def acts(prompt):
    """What was done on the way to the state that is asked about."""
    told = prompt.rpartition("Your task is to")[2]
    return [line.removeprefix("Act: ") for line in told.splitlines() if line.startswith("Act: ")]


def knowing(sentences, judge=None):
    """Takes the oracle's next sentence where it is offered, else the first that is; judges by whether all that was
    done is the oracle's, unless it is told how."""
    way = [*sentences, "done"]

    def answer(ask):
        done = [each for each in acts(ask.prompt) if each]
        if ask.prompt.endswith(ASKED):
            return judge(ask.prompt) if judge else "yes" if done == way[: len(done)] else "no"
        wanted = way[len(done)] if done == way[: len(done)] and len(done) < len(way) else ""
        begun = [o for o in ask.options if o.endswith(" ") and wanted.startswith(o.strip())]
        if f" {wanted}" in ask.options or begun:
            return wanted
        whole = [option.strip() for option in ask.options if not option.endswith(" ")]
        return next((o for o in whole if o != "done"), "done")

    return answer


def made(name, seed=7):
    suite = open_suite(name)
    task, world = suite.tasks(seed, 1)[0], suite.open()
    world.reset(task)
    said = []
    for sentence in suite.oracle(world, task):
        said.append(sentence)
        world.act(sentence)
    world.reset(task)
    return task, world, said


@rule("tree_search", 1, 4)
@pytest.mark.parametrize("errand", ["textcraft", "house", "hotpotqa", "webshop", "alfworld"], indirect=True)
def test_it_reaches_the_goal_in_every_world_that_can_be_put_back(errand, start):
    _, task, world, said = errand
    run = start("lats", knowing(said), world=world, goal=task.goal, width=2)
    assert run.spin(seconds=120) is SUCCESS
    verdict = world.verdict()
    assert verdict.met == verdict.total > 0
    assert any(event == "rollback" for event, _ in run.told)


@rule("tree_search", 1, 3)
def test_what_led_nowhere_is_undone_and_another_way_is_gone_on_with(start):
    """The first action tried is a wrong one; the goal is reached by the second, as if the first had not been."""
    task, world, said = made("textcraft")
    wrong = next(s for s in world.skills() if s not in said and s.startswith("get"))
    script, left = knowing(said, lambda prompt: "no" if wrong in prompt else "yes"), [wrong]

    def answer(ask):
        return left.pop() if left and not ask.prompt.endswith(ASKED) else script(ask)

    run = start("lats", answer, world=world, goal=task.goal, width=2)
    assert run.spin(seconds=60) is SUCCESS
    assert any(wrong == what.get("sentence") for event, what in run.told if event == "act")
    assert wrong.split(" ", 2)[2] not in world.act("inventory").text


@rule("tree_search", 4)
def test_when_nothing_is_left_the_world_stands_in_the_best_state(start):
    """Budgets hold as in every agent; the state with the most worth is the one that is left."""
    task, world, said = made("textcraft")
    good = said[0]
    script = knowing([good], lambda prompt: "yes" if f"Act: {good}" in prompt else "no")
    run = start("lats", script, world=world, goal=task.goal, width=2, rounds=2)
    assert run.spin(seconds=60) is FAILURE
    assert [what["why"] for event, what in run.told if event == "end"] == ["budget"]
    assert "2 rounds" in next(what["detail"] for event, what in run.told if event == "end")
    assert world.digest() != made("textcraft")[1].digest()


@rule("tree_search", 2)
def test_a_world_that_cannot_be_put_back_is_told_with_a_way_out(start):
    class Plain:
        instant = True

        def look(self):
            return Observation("Nothing is here.")

        def skills(self):
            return ["go"]

        def act(self, sentence):
            return self.look()

    run = start("lats", acting([]), world=Plain(), goal="go")
    assert run.spin(seconds=120) is FAILURE
    assert "this world cannot" in next(what["detail"] for event, what in run.told if event == "end")


def test_a_search_that_was_recorded_is_replayed_without_world_and_model(tmp_path):
    task, world, said = made("textcraft")
    with Run(load("lats"), inputs={"goal": task.goal, "width": 2}, world=world, journal=tmp_path, task=task,
             services={"model": ScriptedModel(knowing(said))}) as run:  # fmt: skip
        assert run.spin(seconds=60) is SUCCESS
    (path,) = tmp_path.iterdir()
    found = replay(path)
    assert found.same and found.status == "SUCCESS" and found.ticks == Recording(path).last_tick


def test_a_state_that_was_seen_seldom_is_tried_before_one_that_is_as_good():
    root = State(b"", [])
    often, seldom = State(b"", [], root), State(b"", [], root)
    root.below = [often, seldom]
    for _ in range(8):
        often.learn(0.5)
    seldom.learn(0.5)
    assert seldom.promise(1.0) > often.promise(1.0) and seldom.promise(0.0) == often.promise(0.0)
    often.close()
    assert not root.closed
    seldom.close()
    assert root.closed


def test_after_an_empty_thought_the_next_action_is_chosen_without_one():
    """A model that has nothing to say is asked for a thought at every other state only."""
    task, world, said = made("textcraft")
    knows = knowing(said)

    def answer(ask):
        return "" if ask.kind == "write" else knows(ask)

    model = ScriptedModel(answer)
    tree = load(
        "version: 1\ntree: t\ninputs: {goal: {type: string}}\nroot:\n"
        "  tree_search: {goal: '{goal}', moves: [think, act], width: 1, rounds: 2, follow: 2}\n"
    )
    with Run(tree, inputs={"goal": task.goal}, world=world, task=task, model=model) as run:
        run.spin()
    kinds = "".join("w" if ask.kind == "write" else "a" for ask in model.asked if not ask.prompt.endswith(ASKED))
    assert "w" in kinds and "aa" in kinds and "waw" not in kinds
