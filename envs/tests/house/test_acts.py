from __future__ import annotations

import pytest

from bt_envs.house.acts import split
from bt_envs.house.suite import SUITE
from bt_envs.house.world import HouseWorld

KITCHEN = ["go to kitchen 1"]
WASHER = [*KITCHEN, "go to dishwasher 1"]
FRIDGE = [*KITCHEN, "go to fridge 1"]
APPLE = ["go to coffee table 1", "pick up apple 2"]


def told(world: HouseWorld, sentences: list[str]) -> str:
    return [world.act(sentence).text for sentence in sentences][-1]


@pytest.mark.parametrize(
    ("sentences", "reply"),
    [
        (
            KITCHEN,
            "You move to the kitchen (1). Looking quickly around the room, you see bench (1, 2), dishwasher (1), "
            "faucet (2), fridge (1), garbage can (1), kitchen cabinet (1, 2, 3, 4), kitchen counter (1, 2), "
            "kitchen table (1), microwave oven (1), sink (2), stove (1), toaster (1).",
        ),
        (["go to coffee table 1"], "You arrive at the coffee table (1). You see apple (2), bookshelf (1), "
                                   "coffee table (1), sofa (1), tv (1), tv stand (1)"),
        (FRIDGE, "You arrive at the fridge (1). The fridge (1) is closed. You see faucet (2), fridge (1), "
                 "microwave oven (1), sink (2), stove (1), toaster (1)"),
        ([*FRIDGE, "open fridge 1"], "You open fridge. You see faucet (2), fridge (1), microwave oven (1), sink (2), "
                                     "stove (1), toaster (1), wine (1)"),
        ([*FRIDGE, "open fridge 1", "close fridge 1"], "You close fridge."),
        (APPLE, "You pick up apple. You hold apple (2)."),
        ([*APPLE, "put down apple 2"], "You put down apple on coffee table"),
        ([*APPLE, *FRIDGE, "open fridge 1", "put down apple 2"], "You put down apple in fridge"),
        ([*WASHER, "turn on dishwasher 1"], "You turn on dishwasher."),
        ([*WASHER, "turn on dishwasher 1", "turn off dishwasher 1"], "You turn off dishwasher."),
        (["go to sofa 1", "sit on sofa 1"], "You sit on sofa."),
        (["go to bookshelf 1", "open bookshelf 1", "go to book 1"],
         "You arrive at the book (1). The book (1) is closed. You see apple (2), book (1), bookshelf (1, 2), "
         "cabinet (1), chair (2), coffee table (1), tv (1), tv stand (1)"),
    ],
)  # fmt: skip
def test_what_is_done_is_said_in_the_papers_words(world: HouseWorld, sentences: list[str], reply: str) -> None:
    """Every kind of act of ReAcTree's table 3, with what is seen and what is held."""
    assert told(world, sentences) == reply


@pytest.mark.parametrize(
    ("sentences", "reply"),
    [
        (["pick up apple 1"], "The apple is not close to you."),
        ([*KITCHEN, "go to kitchen cabinet 1", "pick up apple 1"], "The apple is not close to you."),
        ([*KITCHEN, "open fridge 1"], "The fridge is not close to you."),
        (["put down pie 1"], "You do not grab the pie."),
        ([*APPLE, "go to kitchen 1", "put down apple 2"], "The coffee table is not close to you. You hold apple (2)."),
        ([*APPLE, *FRIDGE, "put down apple 2"], "The fridge is closed. You hold apple (2)."),
        ([*APPLE, "pick up apple 2"], "You already hold the apple. You hold apple (2)."),
        ([*FRIDGE, "close fridge 1"], "The fridge is already closed."),
        ([*FRIDGE, "open fridge 1", "open fridge 1"], "The fridge is already open."),
        ([*FRIDGE, "turn on fridge 1"], "The fridge cannot be turned on."),
        ([*WASHER, "turn off dishwasher 1"], "The dishwasher is already turned off."),
        ([*WASHER, "turn on dishwasher 1", "turn on dishwasher 1"], "The dishwasher is already turned on."),
        ([*WASHER, "turn on dishwasher 1", "open dishwasher 1"], "The dishwasher is turned on."),
        ([*WASHER, "open dishwasher 1", "turn on dishwasher 1"], "The dishwasher is open."),
        (["go to coffee table 1", "pick up coffee table 1"], "The coffee table cannot be picked up."),
        (["go to sofa 1", "open sofa 1"], "The sofa cannot be opened."),
        (["go to sofa 1", "close sofa 1"], "The sofa cannot be closed."),
        (["go to coffee table 1", "sit on apple 2"], "Nobody can sit on the apple."),
        (["go to fridge 1"], "You see no fridge 1 here."),
        (["go to garage 1"], "You see no garage 1 here."),
        (["go to kitchen 7"], "There is no kitchen 7 in this house."),
        (["go to apple"], "You miss the index of apple, e.g., apple 1."),
        (["pick up apple"], "You miss the index of apple, e.g., apple 1."),
        (["go to unicorn"], "There is no unicorn in this house."),
        (["go to"], "Say what to do it with."),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_its_reason(world: HouseWorld, sentences: list[str], reply: str) -> None:
    """The reason is in the text and in `why`, and the state is as it was."""
    for sentence in sentences[:-1]:
        assert world.act(sentence).ok
    before = world.snapshot()
    refusal = world.act(sentences[-1])
    assert (refusal.text, refusal.ok) == (reply, False)
    assert refusal.text.startswith(refusal.why) and refusal.why
    assert world.snapshot() == before


def test_a_third_thing_and_a_door_need_an_empty_hand(world: HouseWorld) -> None:
    """With both hands full nothing is picked up and nothing opened; closing still works."""
    world.reset(world._task._replace(data={**world._task.data, "things": [["apple", "coffee table 1", "on"]] * 3}))  # type: ignore[union-attr]
    told(world, ["go to coffee table 1", "pick up apple 1", "pick up apple 2"])
    assert told(world, ["pick up apple 3"]) == "You do not have an empty hand. You hold apple (1, 2)."
    refusal = world.act("open bookshelf 1")
    assert refusal.text.startswith("You do not have an empty hand. You see apple (1, 2, 3), ") and not refusal.ok


def test_terse_feedback_says_nothing_but_keeps_the_reason() -> None:
    """Every refusal is "Nothing happens."; `why` still tells."""
    world = SUITE.open(feedback="terse")
    world.reset(SUITE.tasks(0, 1)[0])
    for sentence in ("pick up apple 1", "dance", "go to unicorn", "put down pie 1"):
        reply = world.act(sentence)
        assert reply.text == "Nothing happens." and reply.why not in ("", reply.text)


def test_what_is_put_down_goes_to_the_receptacle_last_gone_to(world: HouseWorld) -> None:
    """Walking on to something that holds nothing, or to a thing, does not change where it goes."""
    told(world, [*APPLE, "go to sofa 1", "go to tv 1"])
    assert told(world, ["put down apple 2"]) == "You put down apple on sofa"


def test_what_is_shut_away_is_not_seen_until_it_is_opened(world: HouseWorld) -> None:
    """Things in a closed cabinet are not listed; on a closed nightstand they are."""
    assert "apple" not in told(world, [*KITCHEN, "go to kitchen cabinet 1"])
    assert "apple (1)" in told(world, ["open kitchen cabinet 1"])
    assert "apple" not in told(world, ["close kitchen cabinet 1", "go to kitchen cabinet 1"])
    assert "mug (1)" in told(world, ["go to bedroom 1", "go to nightstand 1"])


def test_appliances_change_what_is_in_them(world: HouseWorld) -> None:
    """A microwave oven makes hot what is in it when it is turned on, a fridge cold when it is shut."""
    told(world, [*APPLE, *KITCHEN, "go to microwave oven 1", "open microwave oven 1", "put down apple 2"])
    told(world, ["close microwave oven 1", "turn on microwave oven 1"])
    assert world.state.made[world.state.index["apple 2"]] == {"hot"}
    told(world, ["turn off microwave oven 1", "open microwave oven 1", "pick up apple 2", "go to fridge 1"])
    told(world, ["open fridge 1", "put down apple 2"])
    assert world.state.made[world.state.index["apple 2"]] == {"hot"}
    told(world, ["close fridge 1"])
    assert world.state.made[world.state.index["apple 2"]] == {"cold"}


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("go to fridge 1", ("go to", "fridge 1")),
        ("  go   to fridge (1). ", ("go to", "fridge 1")),
        ("pick up the wine glass 02", ("pick up", "wine glass 2")),
        ("switch on dishwasher 1", ("turn on", "dishwasher 1")),
        ("open", ("open", "")),
        ("opened fridge 1", None),
        ("", None),
    ],
)
def test_sentences_are_read_as_people_and_models_write_them(sentence: str, parts: tuple[str, str] | None) -> None:
    """Spare spaces, brackets, a full stop, an article and `switch on` do no harm."""
    assert split(sentence) == parts
