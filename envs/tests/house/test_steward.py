from __future__ import annotations

from statistics import mean

import pytest

from bt_envs.house.suite import SUITE
from bt_envs.house.world import HouseWorld
from bt_runtime.skills.worlds.registry import Split
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


def test_a_hint_saves_the_search() -> None:
    """It goes straight to where the thing lies."""
    world = open_house()
    with_hint = [play(world, task, True)[0] for task in tasks("train", 30, 3, hint=True)]
    without = [play(world, task, True)[0] for task in tasks("train", 30, 3)]
    assert mean(with_hint) < 0.7 * mean(without)


def solved(world: HouseWorld, task: Task, told: bool) -> bool:
    world.reset(task)
    for number, said in enumerate(SUITE.oracle(world, task, told=told)):
        assert number < 250, "it goes on for ever"
        world.act(said)
    return world.verdict() == (1, 1)


def test_what_gives_no_reason_teaches_nothing() -> None:
    """With terse feedback who was not told gives up where it is first refused in vain."""
    world = open_house("terse")
    assert not all(solved(world, task, told=False) for task in tasks("train", 12, 3))
    assert all(solved(world, task, told=True) for task in tasks("train", 4, 3))


@pytest.mark.parametrize("told", [True, False])
def test_an_appliance_that_no_house_has_is_looked_for_and_given_up(told: bool) -> None:
    """Told or not, it ends without success and not in a loop."""
    rules = {"heat": {"with": "oven", "thing": "held"}, "guarded": []}
    task = SUITE.tasks(3, 1, kinds=["heat"], homes=["flat"])[0]
    assert not solved(open_house(), task._replace(data={**task.data, "rules": rules}), told)


def test_the_oracle_of_a_house_with_rules_is_begun_when_it_is_first_asked() -> None:
    """It may be made before the world is reset, as `btr lab play` does."""
    task = SUITE.tasks(3, 1, kinds=["heat"], rules=1)[0]
    world = open_house()
    script = SUITE.oracle(world, task)
    world.reset(task)
    assert [world.act(said).ok for said in script] and world.verdict() == (1, 1)
