from __future__ import annotations

import re

import pytest

from bt_envs.house.notes import Notes, is_a, likely_first
from bt_envs.house.suite import SUITE
from bt_envs.house.world import HouseWorld
from bt_runtime.types import Task


def solve(world: HouseWorld, **options: str) -> list[str]:
    said = []
    for sentence in SUITE.oracle(world, world._task, **options):  # type: ignore[arg-type]
        assert world.act(sentence).ok
        said.append(sentence)
    return said


def test_who_knows_everything_goes_straight_there(world: HouseWorld) -> None:
    """With full knowledge nothing is searched; each thing is brought on its own, the nearest first."""
    assert solve(world, knows="all") == [
        "go to coffee table 1", "pick up apple 2", "go to kitchen 1", "go to fridge 1", "open fridge 1",
        "put down apple 2", "go to kitchen cabinet 1", "open kitchen cabinet 1", "pick up apple 1",
        "go to fridge 1", "put down apple 1",
    ]  # fmt: skip
    assert world.verdict() == (2, 2)


def test_who_has_to_search_reads_only_observations() -> None:
    """Two houses that differ only where nobody has looked yet get the same first sentences."""
    here = [["apple", "bed 1", "on"], ["book", "bookshelf 1", "in"]]
    there = [["apple", "nightstand 1", "in"], ["book", "bookshelf 1", "in"]]
    goal = [{"relation": "in", "thing": "apple", "place": "fridge"}]
    scripts = []
    for things in (here, there):
        world = SUITE.open()
        assert isinstance(world, HouseWorld)
        world.reset(
            Task("t", "put_fridge", "g", {"house": "flat", "start": ["kitchen 1"], "things": things, "goal": goal})
        )
        scripts.append(solve(world))
        assert world.verdict() == (1, 1)
    until = scripts[0].index("go to bedroom 1")
    assert scripts[0][: until + 1] == scripts[1][: until + 1]


def test_what_was_seen_on_the_way_is_not_searched_again() -> None:
    """The second apple was seen while the first was looked for: the expert goes to it at once."""
    world = SUITE.open()
    assert isinstance(world, HouseWorld)
    things = [["wine", "fridge 1", "in"], ["apple", "fridge 1", "in"], ["apple", "kitchen table 1", "on"]]
    goal = [
        {"relation": "on", "thing": "wine", "place": "coffee table"},
        {"relation": "on", "thing": "apple", "place": "coffee table"},
    ]
    world.reset(Task("t", "k", "g", {"house": "flat", "start": ["kitchen 1"], "things": things, "goal": goal}))
    said = solve(world)
    assert said.count("go to kitchen 1") == 1 and said.count("open fridge 1") == 1
    assert world.verdict() == (2, 2)


@pytest.mark.parametrize("knows", ["seen", "all"])
def test_both_oracles_reach_every_goal_and_are_never_refused(knows: str) -> None:
    """In homes that no training has."""
    world = SUITE.open()
    assert isinstance(world, HouseWorld)
    for task in SUITE.tasks(41, 40, "eval"):
        world.reset(task)
        assert solve(world, knows=knows)
        met, total = world.verdict()
        assert met == total > 0


def test_what_is_nowhere_is_given_up_after_every_place_was_tried() -> None:
    """A thing that does not exist is no endless search, and the rest is done all the same."""
    goal = [
        {"relation": "in", "thing": "wine", "place": "fridge"},
        {"relation": "in", "thing": "apple", "place": "fridge"},
    ]
    task = Task("t", "k", "g", {"house": "cottage", "things": [["apple", "sofa 1", "on"]], "goal": goal})
    world = SUITE.open()
    assert isinstance(world, HouseWorld)
    world.reset(task)
    assert solve(world)
    assert world.verdict() == (1, 2)


@pytest.mark.parametrize("relation", ["turned on", "turned off", "open", "closed", "held", "sat on"])
def test_every_kind_of_goal_is_reached(world: HouseWorld, relation: str) -> None:
    """Also those that no kind of task of ours asks for, as recorded episodes do."""
    place = "sofa" if relation == "sat on" else "dishwasher"
    wanted = {
        "relation": relation,
        "thing": "book" if relation == "held" else "",
        "place": "" if relation == "held" else place,
    }
    start = {"running": ["dishwasher 1"]} if relation == "turned off" else {}
    opened = {"open": ["dishwasher 1"]} if relation in ("closed", "turned on") else {}
    world.reset(world._task._replace(data={**world._task.data, "goal": [wanted], **start, **opened}))  # type: ignore[union-attr]
    solve(world)
    assert world.verdict() == (1, 1)


def test_notes_know_the_rooms_and_where_each_thing_was_seen() -> None:
    """Read off observations alone; what is in the hand lies nowhere."""
    notes = Notes()
    notes.read(
        "You are in the house, and there are 2 rooms: bedroom (1), kitchen (1). "
        "You are in the middle of a kitchen (1). Looking quickly around the room, you see fridge (1).",
        "",
    )
    assert notes.rooms == ["bedroom 1", "kitchen 1"]
    assert notes.choose("apple") is None
    notes.read("You arrive at the fridge (1). The fridge (1) is open. You see apple (1, 2), fridge (1)", "fridge 1")
    assert notes.saw["apple 1"] == notes.saw["apple 2"] == ("fridge 1", "kitchen 1")
    notes.read("You pick up apple. You hold apple (2).", "apple 2")
    assert notes.held == ["apple 2"] and notes.choose("apple") == "apple 1"


def test_likely_places_come_first() -> None:
    """In the order in which a thing is usually kept; what holds nothing is left out."""
    places = ["sofa 1", "sink 1", "fridge 2", "fridge 1", "tv 1"]
    assert likely_first(places, ["fridge", "sink"], ["fridge", "sink", "sofa"]) == [
        "fridge 2",
        "fridge 1",
        "sink 1",
        "sofa 1",
    ]
    assert is_a("wine glass 1", "wine glass") and not is_a("wine glass 1", "wine") and is_a("cup 1", "cup 1")


def test_the_oracle_uses_nothing_that_it_was_not_shown() -> None:
    """Every place and thing that it names stood in an observation before; only the taps of a kind are guessed."""
    world = SUITE.open()
    for task in SUITE.tasks(43, 60, "eval"):
        known = world.reset(task).text
        for said in SUITE.oracle(world, task):
            kind, _, number = re.sub(r"^(go to|pick up|put down|turn o[nf]+|open|close) ", "", said).rpartition(" ")
            assert re.search(rf"\b{kind} \((?:\d+, )*{number}(?:, \d+)*\)", known), said
            known += " " + world.act(said).text
