from __future__ import annotations

import re
from statistics import mean

import pytest

from bt_runtime.envs.house.rules import describe, sentence
from bt_runtime.envs.house.steward import Steward
from bt_runtime.envs.house.suite import SUITE
from bt_runtime.envs.house.world import HouseWorld
from bt_runtime.envs.registry import Split
from bt_runtime.envs.trajectory import as_react
from bt_runtime.types import Task

KINDS = ["heat", "cool", "clean"]


def open_house(feedback: str = "full") -> HouseWorld:
    world = SUITE.open(feedback=feedback)  # type: ignore[arg-type]
    assert isinstance(world, HouseWorld)
    return world


def tasks(split: Split, sets: int, each: int, hint: bool = False) -> list[Task]:
    return [t for n in range(sets) for t in SUITE.tasks(n, each, split, KINDS, rules=n, hint=hint)]


def play(world: HouseWorld, task: Task, told: bool) -> tuple[int, int]:
    """(acts, refusals) until the goal is reached."""
    world.reset(task)
    acts = refused = 0
    for said in SUITE.oracle(world, task, told=told):
        assert acts % 7 or said in world.skills(), said
        acts += 1
        refused += not world.act(said).ok
    assert world.verdict() == (1, 1), (task.id, told)
    return acts, refused


@pytest.mark.parametrize(("feedback", "sets"), [("full", 84), ("detailed", 14)])
def test_a_thousand_of_a_thousand_are_solved_told_or_not(
    feedback: str, sets: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over 168 sets of rules of both splits; who was told is never refused, who was not is refused and takes longer."""
    world = open_house(feedback)
    every = tasks("train", sets, 6) + tasks("eval", sets, 6)
    told = [play(world, task, True) for task in every]
    untold = [play(world, task, False) for task in every]
    with capsys.disabled():
        acts = {name: round(mean(a for a, _ in found), 1) for name, found in (("told", told), ("not told", untold))}
        print(f"\nhouse rules, {feedback}: {len(every)} of {len(every)} solved, mean acts {acts}")
    assert len(every) == 12 * sets
    assert sum(refused for _, refused in told) == 0 < sum(refused for _, refused in untold)
    assert all(a[0] <= b[0] for a, b in zip(told, untold, strict=True))
    assert mean(a for a, _ in untold) > mean(a for a, _ in told) + 3


def test_who_was_not_told_looks_at_no_rules() -> None:
    """In two houses that differ in their rules alone it says the same until the first answer that differs."""
    world, other = open_house(), open_house()
    for n in range(25):
        task = SUITE.tasks(n, 1, kinds=["heat"], rules=n)[0]
        twin = task._replace(data={**task.data, "rules": SUITE.tasks(n, 1, rules=n + 1)[0].data["rules"]})
        world.reset(task)
        other.reset(twin)
        for one, two in zip(SUITE.oracle(world, task, told=False), SUITE.oracle(other, twin, told=False), strict=False):
            assert one == two
            if world.act(one) != other.act(two):
                break
        else:
            raise AssertionError("these rules made no difference")


def test_who_was_not_told_says_at_last_what_the_rule_is() -> None:
    """Word for word the sentence that it might have been told; also that a door is guarded, where it met that."""
    world = open_house("detailed")
    guarded = 0
    for task in tasks("train", 46, 3) + tasks("eval", 14, 3):
        agent = SUITE.trajectory(world, task, told=False)
        assert world.rules is not None
        thoughts = [step.text for step in agent.steps if step.kind == "think"]
        assert sentence(task.kind, world.rules.of[task.kind]) in thoughts
        said = [thought for thought in thoughts if "only when turned off" in thought]
        guarded += len(said)
        for thought in said:
            (name,) = re.findall(r"The (.+) opens only", thought)
            assert name in world.rules.guarded
    assert guarded > 0


def test_who_was_told_gives_the_rule_as_its_reason() -> None:
    """One of the sentences in which a house's rules are told, so that it can be copied from a plan."""
    world = open_house()
    for task in tasks("eval", 10, 3):
        agent = SUITE.trajectory(world, task)
        assert world.rules is not None
        thoughts = [step.text for step in agent.steps if step.kind == "think"]
        told = [thought for thought in thoughts if thought in describe(world.rules)]
        assert told[0] == sentence(task.kind, world.rules.of[task.kind]) and len(told) <= 2


@pytest.mark.parametrize("told", [True, False])
def test_every_name_in_a_thought_was_read_before(told: bool) -> None:
    """A small model is to learn from it: nothing is known that the text did not show."""
    world = open_house("detailed")
    for task in tasks("train", 20, 3, hint=True) + tasks("eval", 7, 3):
        agent = SUITE.trajectory(world, task, recall=False, told=told)
        read = f"{agent.goal} {agent.opening}".lower()
        for step in agent.steps:
            if step.kind == "think":
                for name in re.findall(r"([a-z]+ \d+)\b", step.text.lower()):
                    kind, _, number = name.rpartition(" ")
                    assert re.search(rf"{kind} \((?:\d+, )*{number}(?:, \d+)*\)|{name}", read), step.text
            read += f" {step.text} {step.observation}".lower()


def test_a_hint_saves_the_search() -> None:
    """It goes straight to where the thing lies."""
    world = open_house()
    with_hint = [play(world, task, True)[0] for task in tasks("train", 30, 3, hint=True)]
    without = [play(world, task, True)[0] for task in tasks("train", 30, 3)]
    assert mean(with_hint) < 0.7 * mean(without)


@pytest.mark.parametrize("told", [True, False])
def test_it_also_works_as_a_tree_of_agents(told: bool) -> None:
    """Find, treat and put down are three nodes in sequence, each told only where it begins."""
    world = open_house()
    for task in tasks("train", 20, 3):
        agent = SUITE.trajectory(world, task, "reactree", told=told)
        assert (agent.ended, world.verdict()) == ("success", (1, 1))
        assert agent.control == "sequence" and len(agent.children) == 3
        assert agent.subgoals[1].startswith(task.kind)


def test_what_gives_no_reason_teaches_nothing() -> None:
    """With terse feedback it gives up where it is first refused in vain, and says that it failed."""
    world = open_house("terse")
    ends = [SUITE.trajectory(world, task, told=False).ended for task in tasks("train", 12, 3)]
    assert "failure" in ends
    assert all(SUITE.trajectory(world, task).ended == "success" for task in tasks("train", 4, 3))


def test_an_appliance_that_no_house_has_is_looked_for_and_given_up() -> None:
    """Told or not, it ends in failure and not in a loop."""
    rules = {"heat": {"with": "oven", "thing": "held"}, "guarded": []}
    task = SUITE.tasks(3, 1, kinds=["heat"], homes=["flat"])[0]
    world = open_house()
    for told in (True, False):
        agent = SUITE.trajectory(world, task._replace(data={**task.data, "rules": rules}), told=told)
        assert agent.ended == "failure" and len(as_react(agent).splitlines()) < 250


def test_the_oracle_of_a_house_with_rules_is_begun_when_it_is_first_asked() -> None:
    """It may be made before the world is reset, as `btr play` does."""
    task = SUITE.tasks(3, 1, kinds=["heat"], rules=1)[0]
    world = open_house()
    script = SUITE.oracle(world, task)
    world.reset(task)
    assert [world.act(said).ok for said in script] and world.verdict() == (1, 1)
    assert isinstance(SUITE._expert(world, "react", "seen", False, 0), Steward)
