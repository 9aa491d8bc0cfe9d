from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.textcraft.suite import SUITE
from bt_envs.textcraft.world import TextCraft
from bt_runtime import BtError
from bt_runtime.types import Task, World

RECIPES = [
    "4 oak planks = 1 oak log",
    "4 birch planks = 1 birch log",
    "4 stick = 2 planks",
    "1 stick = 2 bamboo",
    "3 oak sign = 6 oak planks, 1 stick",
]
SIGN = Task(
    "t",
    "depth 2",
    "craft oak sign",
    {
        "recipes": RECIPES,
        "kinds": {"planks": ["oak planks", "birch planks"]},
        "goal": "oak sign",
        "commands": RECIPES,
    },
)


@pytest.fixture
def world() -> World:
    world = TextCraft({})
    world.reset(SIGN)
    return world


def told(world: World, *sentences: str) -> str:
    return [world.act(s).text for s in sentences][-1]


def test_the_game_begins_with_recipes_and_the_goal() -> None:
    """The opening is ADaPT's: the commands, then the goal."""
    opening = TextCraft({}).reset(SIGN).text
    assert opening.startswith("Crafting commands:\ncraft 4 oak planks using 1 oak log\n")
    assert opening.endswith("\n\nGoal: craft oak sign.")


@pytest.mark.parametrize(
    ("sentences", "reply"),
    [
        (["inventory"], "Inventory: You are not carrying anything."),
        (["get 2 oak log"], "Got 2 oak log"),
        (["get 2 oak log", "inventory"], "Inventory: [oak log] (2)"),
        (["get oak log"], "Got 1 oak log"),
        (["get 1 oak planks"], "Could not find oak planks"),
        (["get 1 planks"], "Could not find planks"),
        (["get 1 unicorn"], "Could not find unicorn"),
        (["get 0 oak log"], "Could not find oak log"),
        (["craft 4 oak planks using 1 oak log"], "Could not find enough items to craft minecraft:oak_planks"),
        (["get 1 oak log", "craft 4 oak planks using 1 oak log"], "Crafted 4 minecraft:oak_planks"),
        (["get 2 oak log", "craft 4 oak planks using 2 oak log"], "Could not find a valid recipe for oak planks"),
        (["get 1 oak log", "craft 1 crown using 1 oak log"], "Could not find a valid recipe for crown"),
        (["craft 4 oak planks using oak log"], "Wrong item format: oak log"),
        (["dance"], "Could not execute dance"),
        (["craft"], "Could not execute craft"),
    ],
)
def test_replies_are_worded_as_adapt_words_them(world: World, sentences: list[str], reply: str) -> None:
    """What is done is confirmed, what is not says so."""
    assert told(world, *sentences) == reply


def test_counts_are_exact_and_used_up(world: World) -> None:
    """A craft takes its ingredients and gives what the recipe makes, no more."""
    told(world, "get 3 oak log", "craft 4 oak planks using 1 oak log")
    assert told(world, "inventory") == "Inventory: [oak log] (2) [oak planks] (4)"


def test_a_kind_takes_any_of_its_members_but_not_two_at_once(world: World) -> None:
    """Sticks come of oak or of birch planks; one of each is no two of a kind."""
    told(world, "get 1 birch log", "craft 4 birch planks using 1 birch log")
    assert told(world, "craft 4 stick using 2 birch planks") == "Crafted 4 minecraft:stick"
    told(world, "get 1 oak log", "craft 4 oak planks using 1 oak log")
    assert told(world, "craft 4 stick using 1 oak planks, 1 birch planks") == "Could not find a valid recipe for stick"


def test_the_same_item_named_twice_is_not_held_twice(world: World) -> None:
    """Two entries of an item need the sum of both."""
    told(world, "get 1 oak log")
    assert told(world, "craft 4 oak planks using 1 oak log, 1 oak log").startswith("Could not find enough")


def test_only_crafting_the_goal_counts(world: World) -> None:
    """The verdict is met by the craft itself, and stays met."""
    script = [
        "get 2 oak log",
        *["craft 4 oak planks using 1 oak log"] * 2,
        "get 2 bamboo",
        "craft 1 stick using 2 bamboo",
    ]
    told(world, *script)
    assert world.verdict() == (0, 1)
    assert told(world, "craft oak sign using 6 oak planks, 1 stick") == "Crafted 3 minecraft:oak_sign"
    assert world.verdict() == (1, 1)


def test_what_was_fetched_was_not_crafted(world: World) -> None:
    """A goal that lies around is not reached by fetching it, nor by crafting something else then."""
    world.reset(SIGN._replace(data={**SIGN.data, "goal": "oak log"}))
    told(world, "get 2 oak log", "craft 4 oak planks using 1 oak log")
    assert world.verdict() == (0, 1)


def test_a_refusal_says_why_beside_the_games_words(world: World) -> None:
    """`why` names the cause: to be crafted, a kind, missing, the recipe that would do."""
    assert "has to be crafted" in world.act("get 1 oak planks").why
    assert "such as oak planks" in world.act("get 1 planks").why
    assert "not in the inventory: 1 oak log" in world.act("craft 4 oak planks using 1 oak log").why
    world.act("get 2 oak log")
    assert "craft 4 oak planks using 1 oak log" in world.act("craft 4 oak planks using 2 oak log").why


def test_facts_of_a_manifest_are_judged(world: World) -> None:
    """In the inventory, by kind too; what can be fetched; None for what is no such sentence."""
    world.act("get 2 oak log")
    assert world.holds("2 oak log in inventory") and not world.holds("3 oak log in inventory")
    assert world.holds("oak log can be fetched") and not world.holds("stick can be fetched")
    world.act("craft 4 oak planks using 1 oak log")
    assert world.holds("4 planks in inventory")
    assert world.holds("the moon is full") is None


def test_someone_who_takes_over_is_told_the_recipes_and_the_bag(world: World) -> None:
    """`look` changes nothing and does not name the whole task's goal."""
    world.act("get 1 oak log")
    assert world.look().text.endswith("\n\nInventory: [oak log] (1)")
    assert "Goal" not in world.look().text


def test_a_book_that_is_not_there_is_an_error_with_a_way_out() -> None:
    """A task that names an unknown book cannot be set up."""
    with pytest.raises(BtError, match="no recipe book"):
        SUITE.open().reset(SIGN._replace(data={"book": "cookery", "goal": "x"}))


WORDS = st.lists(
    st.sampled_from(
        ["get", "craft", "using", "1", "2", "-1", "9" * 400, "oak", "planks", "log", ",", "inventory", "stick", ""]
    ),
    max_size=8,
).map(" ".join)


@settings(max_examples=150, derandomize=True)
@given(st.lists(WORDS | st.text(max_size=40), max_size=12))
def test_no_sentence_raises_and_nothing_is_ever_owed(sentences: list[str]) -> None:
    """Malformed sentences give an observation; no count falls to zero or below; the bag survives a snapshot."""
    world = TextCraft({})
    world.reset(SIGN)
    for sentence in sentences:
        reply = world.act(sentence)
        assert reply.text and (reply.ok or reply.why)
    assert all(n > 0 for n in world._bag.values())
    other = TextCraft({})
    other.restore(world.snapshot())
    assert (other.look(), other.skills(), other.verdict()) == (world.look(), world.skills(), world.verdict())


@settings(max_examples=25, derandomize=True)
@given(st.integers(0, 500), st.lists(st.integers(0, 10_000), max_size=15))
def test_whatever_is_offered_can_be_done(seed: int, picks: list[int]) -> None:
    """Every sentence of `skills` is acted without a refusal, wherever the game stands."""
    world = SUITE.open()
    world.reset(SUITE.tasks(seed, 1, kinds=["depth 3"])[0])
    for pick in picks:
        offered = world.skills()
        assert len(set(offered)) == len(offered)
        before = world.snapshot()
        for sentence in offered[:: max(1, len(offered) // 40)]:
            assert world.act(sentence).ok, sentence
            world.restore(before)
        assert world.act(offered[pick % len(offered)]).ok


def test_a_world_is_pickled_in_the_middle_of_a_game() -> None:
    """The copy goes on where the first stands, and neither touches the other."""
    world = SUITE.open()
    task = SUITE.tasks(3, 4)[3]
    world.reset(task)
    script = list(SUITE.oracle(world, task))
    for sentence in script[:3]:
        world.act(sentence)
    copy = pickle.loads(pickle.dumps(world))
    for sentence in script[3:]:
        assert copy.act(sentence).ok
    assert (copy.verdict(), world.verdict()) == ((1, 1), (0, 1))
