from __future__ import annotations

import pickle
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.house.speech import hear, say
from bt_envs.house.suite import SUITE
from bt_envs.house.world import HouseWorld
from bt_runtime import BtError
from bt_runtime.types import Task


def open_house(task: Task) -> HouseWorld:
    world = SUITE.open(sitting=True)
    assert isinstance(world, HouseWorld)
    world.reset(task)
    return world


def sound(world: HouseWorld) -> None:
    """Every thing is in exactly one place, and no body holds more than two."""
    state = world.state
    where: Counter[int] = Counter()
    for place, things in enumerate(state.contents):
        assert all(state.place[thing] == place for thing in things)
        where.update(things)
    for who, body in enumerate(state.bodies):
        assert len(body.hands) <= 2 and all(state.place[thing] == -1 - who for thing in body.hands)
        where.update(body.hands)
    assert where == Counter(range(len(state.kinds)))


VERBS = ["go to", "pick up", "put down", "open", "close", "turn on", "turn off", "sit on", "fly"]
NAMES = [
    "apple 1",
    "fridge 1",
    "kitchen 1",
    "dishwasher 1",
    "kitchen cabinet 2",
    "plate 1",
    "apple",
    "unicorn 3",
    "",
    "1",
]


@settings(max_examples=80, derandomize=True)
@given(
    st.integers(0, 300),
    st.lists(st.tuples(st.sampled_from(VERBS), st.sampled_from(NAMES)), max_size=15),
    st.text(max_size=30),
)
def test_no_sentence_raises_or_loses_a_thing(seed: int, acts: list[tuple[str, str]], noise: str) -> None:
    """Impossible acts, unknown objects and noise give a sentence; nothing is ever in two places or in none."""
    world = open_house(SUITE.tasks(seed, 1)[0])
    for verb, name in acts:
        for sentence in (f"{verb} {name}", f"{noise} {name}", f"{verb} {noise}"):
            reply = world.act(sentence)
            assert reply.text and (reply.ok or reply.why)
    sound(world)


@settings(max_examples=25, derandomize=True)
@given(st.integers(0, 300), st.lists(st.integers(0, 1000), max_size=25))
def test_whatever_is_offered_can_be_done_and_is_said_by_the_grammar(seed: int, picks: list[int]) -> None:
    """Every sentence of `skills` succeeds where it is offered, and its observation is one that `hear` reads back."""
    world = open_house(SUITE.tasks(seed, 1, "eval")[0])
    for pick in picks:
        offered = world.skills()
        assert len(set(offered)) == len(offered)
        before = world.snapshot()
        for sentence in offered:
            reply = world.act(sentence)
            assert reply.ok, sentence
            heard = hear(reply.text)
            assert heard is not None and say(heard) == reply.text
            world.restore(before)
        world.act(offered[pick % len(offered)])
    sound(world)


@settings(max_examples=25, derandomize=True)
@given(st.integers(0, 300), st.lists(st.integers(0, 1000), max_size=20), st.lists(st.integers(0, 1000), max_size=10))
def test_a_snapshot_brings_everything_back(seed: int, first: list[int], then: list[int]) -> None:
    """A restored world, also a fresh one, says from there on exactly what the first one said."""

    def walk(world: HouseWorld, picks: list[int]) -> list[str]:
        return [world.act(offered[pick % len(offered)]).text for pick in picks if (offered := world.skills())]

    world = open_house(SUITE.tasks(seed, 1)[0])
    walk(world, first)
    taken = world.snapshot()
    said = walk(world, then)
    world.restore(taken)
    other = SUITE.open(sitting=True)
    other.restore(taken)
    assert walk(world, then) == said == walk(other, then)  # type: ignore[arg-type]
    assert world.snapshot() == other.snapshot()
    assert world.verdict() == other.verdict()


def test_a_world_is_pickled_in_the_middle_of_a_task(world: HouseWorld) -> None:
    """The copy goes on alone."""
    world.act("go to coffee table 1")
    copy = pickle.loads(pickle.dumps(world))
    assert copy.act("pick up apple 2").ok
    assert world.holds("holding apple 2") is False


@pytest.mark.parametrize(
    ("acts", "fact", "so"),
    [
        ([], "hand free", True),
        ([], "in living room 1", True),
        ([], "near living room 1", True),
        ([], "near coffee table 1", False),
        (["go to coffee table 1"], "near coffee table 1", True),
        (["go to coffee table 1"], "near apple 2", True),
        ([], "apple 2 on coffee table 1", True),
        ([], "apple 1 in kitchen cabinet 1", True),
        ([], "apple 1 on kitchen cabinet 1", False),
        (["go to coffee table 1", "pick up apple 2"], "holding apple 2", True),
        (["go to coffee table 1", "pick up apple 2"], "not holding apple 2", False),
        ([], "fridge 1 is closed", True),
        ([], "dishwasher 1 is turned on", False),
        ([], "book 1 is closed", True),
        ([], "apple 1 is happy", None),
        ([], "unicorn 1 is open", None),
        ([], "all is well", None),
        ([], "", None),
    ],
)
def test_facts_are_judged(world: HouseWorld, acts: list[str], fact: str, so: bool | None) -> None:
    """Sentences of a manifest's `needs` and `brings`, and None for what the house cannot tell."""
    for sentence in acts:
        assert world.act(sentence).ok
    assert world.holds(fact) is so


def test_someone_who_begins_now_is_told_the_rooms_the_room_and_what_is_held(world: HouseWorld) -> None:
    """`look` is the start sentence from where one stands, and changes nothing."""
    world.act("go to coffee table 1")
    world.act("pick up apple 2")
    before = world.snapshot()
    assert world.look().text == (
        "You are in the house, and there are 4 rooms: bathroom (1), bedroom (1), kitchen (1), living room (1). "
        "You are in the middle of a living room (1). Looking quickly around the room, you see bookshelf (1, 2), "
        "cabinet (1), chair (2), coffee table (1), sofa (1), tv (1). You hold apple (2)."
    )
    assert world.snapshot() == before


def test_two_bodies_share_a_house() -> None:
    """What one opens the other can use; what one holds the other cannot take."""
    task = SUITE.tasks(0, 1)[0]
    data = {
        "house": "flat",
        "start": ["kitchen 1", "kitchen 1"],
        "things": [["apple", "fridge 1", "in"], ["wine", "fridge 1", "in"]],
        "goal": [],
    }
    world = open_house(task._replace(data=data))
    for who, sentence in [(0, "go to fridge 1"), (1, "go to fridge 1"), (0, "open fridge 1"), (1, "pick up wine 1")]:
        assert world.act_as(who, sentence).ok
    assert world.act_as(0, "pick up wine 1").text == "The wine is not close to you."
    sound(world)


@pytest.mark.parametrize(
    "data",
    [
        {"house": "castle"},
        {"house": "flat", "things": [["apple", "throne 1", "on"]]},
        {"house": "flat", "start": ["dungeon 1"]},
    ],
)
def test_a_task_that_does_not_fit_its_house_is_an_error_with_a_way_out(data: dict[str, object]) -> None:
    """An unknown house, place or room is named."""
    with pytest.raises(BtError) as caught:
        SUITE.open().reset(Task("t", "k", "g", data))
    assert caught.value.hint


def test_a_world_without_a_task_says_so() -> None:
    """Acting before `reset` is a mistake of the program, told in one line."""
    with pytest.raises(BtError, match="no task yet"):
        SUITE.open().act("go to kitchen 1")


def test_all_that_a_house_offers_to_be_wanted_can_be_brought_and_be_told() -> None:
    world = open_house(SUITE.tasks(0, 1)[0])
    for aim in world.aims():
        assert all(aim.slots.values())
        for values in zip(*aim.slots.values(), strict=False):
            fact = aim.fact.format(**dict(zip(aim.slots, values, strict=True)))
            assert world.ways(fact) and world.holds(fact) in (True, False), fact
