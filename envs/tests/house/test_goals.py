from __future__ import annotations

from bt_envs.house.goals import Condition, conditions, met
from bt_envs.house.world import HouseWorld


def test_subgoals_are_counted_up_to_what_is_wanted(world: HouseWorld) -> None:
    """WAH-NL's rate: the sum of min(count, goal) over the sum of goals."""
    assert world.verdict() == (0, 2)
    for sentence in ["go to coffee table 1", "pick up apple 2", "go to kitchen 1", "go to fridge 1", "open fridge 1"]:
        assert world.act(sentence).ok
    world.act("put down apple 2")
    assert world.verdict() == (1, 2)
    assert met(Condition("in", "fridge", "apple", 1), world.house, world.state) == 1


def test_more_than_enough_of_one_thing_makes_up_for_nothing_else(world: HouseWorld) -> None:
    """A subgoal is met as often as it is wanted, never more."""
    data = {"house": "flat", "things": [["apple", "sofa 1", "on"]] * 3}
    goal = [{"relation": "on", "thing": thing, "place": "sofa", "amount": 1} for thing in ("apple", "wine")]
    world.reset(world._task._replace(data={**data, "goal": goal}))  # type: ignore[union-attr]
    assert world.verdict() == (1, 2)


def test_every_relation_is_judged_by_class_or_by_number(world: HouseWorld) -> None:
    """On, in, running or not, open or closed, held, sat on; a state of the things when one is wanted."""

    def count(relation: str, place: str = "", thing: str = "", state: str = "") -> int:
        return met(Condition(relation, place, thing, 9, state), world.house, world.state)

    assert (count("on", "coffee table", "apple"), count("on", "coffee table 1", "apple 2")) == (1, 1)
    assert (count("on", "coffee table", "apple 1"), count("in", "coffee table", "apple")) == (0, 0)
    assert (count("closed", "fridge 1"), count("open", "fridge"), count("turned off", "dishwasher")) == (1, 0, 1)
    for sentence in ["go to coffee table 1", "pick up apple 2", "go to sofa 1", "sit on sofa 1"]:
        assert world.act(sentence).ok
    assert (count("held", thing="apple"), count("held", thing="wine"), count("sat on", "sofa")) == (1, 0, 1)
    world.state.made[world.state.index["wine 1"]] = {"cold"}
    assert (count("in", "fridge", "wine", "cold"), count("in", "fridge", "wine", "hot")) == (1, 0)


def test_an_unknown_relation_is_never_met(world: HouseWorld) -> None:
    """Data from elsewhere cannot raise."""
    odd = conditions([{"relation": "under", "place": "sofa", "thing": "apple", "colour": "red"}])
    assert met(odd[0], world.house, world.state) == 0
