"""Heating, cooling and cleaning under the rules of a house, and being refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.house.speech import hear, say
from bt_envs.house.suite import SUITE, load_content
from bt_envs.house.world import HouseWorld
from bt_runtime.types import Task

RULES: dict[str, Any] = {
    "heat": {"with": "stove", "thing": "inside", "door": "closed", "power": "turned on"},
    "cool": {"with": "fridge", "thing": "held", "door": "open"},
    "clean": {"with": "sink", "thing": "held", "power": "turned on"},
    "guarded": ["stove"],
}
THINGS = [["apple", "kitchen table 1", "on"], ["pudding", "fridge 1", "in"], ["plate", "kitchen table 1", "on"]]
THINGS += [["mug", "kitchen table 1", "on"]]
GOAL = [{"relation": "on", "thing": "apple", "place": "kitchen table", "amount": 1, "state": "hot"}]
APPLE = ["go to kitchen table 1", "pick up apple 1"]
STOVE = [*APPLE, "go to stove 1"]
SINK = [*APPLE, "go to sink 2"]  # the one in the kitchen
IN_STOVE = [*STOVE, "open stove 1", "put down apple 1"]


def open_house(feedback: str = "full", rules: Any = RULES, things: Any = THINGS) -> HouseWorld:
    world = SUITE.open(feedback=feedback)  # type: ignore[arg-type]
    assert isinstance(world, HouseWorld)
    data = {"house": "flat", "start": ["kitchen 1"], "things": things, "goal": GOAL, "rules": rules}
    world.reset(Task("t", "heat", "put a hot apple on the kitchen table", data))
    return world


def told(world: HouseWorld, sentences: list[str]) -> str:
    return [world.act(sentence).text for sentence in sentences][-1]


@pytest.mark.parametrize(
    ("sentences", "reply", "state"),
    [
        ([*IN_STOVE, "close stove 1", "turn on stove 1", "heat apple 1 with stove 1"],
         "You heat apple with stove.", "hot"),
        ([*APPLE, "go to fridge 1", "open fridge 1", "cool apple 1 with fridge 1"],
         "You cool apple with fridge. You hold apple (1).", "cold"),
        ([*SINK, "turn on faucet 2", "clean the apple (1) with the sink (2)."],
         "You clean apple with sink. You hold apple (1).", "clean"),
    ],
)  # fmt: skip
def test_a_thing_is_treated_when_all_is_as_the_rules_have_it(sentences: list[str], reply: str, state: str) -> None:
    """The thing is so from then on, and the world judges it so."""
    world = open_house()
    assert world.holds(f"apple 1 is {state}") is False
    assert told(world, sentences) == reply
    assert world.holds(f"apple 1 is {state}") is True


REFUSED = [
    # what is done first, what is refused; the words of the papers of the house, those of AutoPlan's table
    ([], "heat apple with stove 1", "The stove is not close to you.", "You are not at stove 1."),
    (STOVE, "heat apple with stove 1", "You miss the index of apple, e.g., apple 1.", None),
    (STOVE, "heat apple 1 with stove", "You miss the index of stove, e.g., stove 1.", None),
    (STOVE, "heat apple 1", "Say what to do it with.", None),
    (STOVE, "heat apple 7 with stove 1", "The apple is not close to you.", "There is no apple 7 in this house."),
    (STOVE, "heat apple 1 with volcano 1", "The volcano is not close to you.", "There is no volcano 1 in this house."),
    (STOVE, "heat apple 1 with kitchen 1", "The kitchen is not close to you.", "kitchen 1 is a room."),
    (STOVE, "heat apple 1 with fridge 1", "The fridge cannot be used for heating.",
     "fridge cannot be used for heating."),
    (STOVE, "heat apple 1 with stove 1", "The apple is not in the stove.", "apple 1 is not in stove 1."),
    (IN_STOVE, "heat apple 1 with stove 1", "The stove is open.", "stove 1 is open."),
    ([*IN_STOVE, "close stove 1"], "heat apple 1 with stove 1", "The stove is turned off.", "stove 1 is turned off."),
    ([*IN_STOVE], "turn on stove 1", "The stove is open.", "stove 1 is open."),
    ([*IN_STOVE, "close stove 1", "turn on stove 1"], "open stove 1", "The stove is turned on.",
     "stove 1 is turned on."),
    (["go to fridge 1"], "cool apple 1 with fridge 1", "You do not grab the apple.", "You are not carrying apple 1."),
    ([*APPLE, "go to fridge 1"], "cool apple 1 with fridge 1", "The fridge is closed.", "fridge 1 is closed."),
    (SINK, "clean apple 1 with sink 2", "The faucet is turned off.", "faucet 2 is turned off."),
    (["go to fridge 1"], "pick up apple 1", "The apple is not close to you.", "You see no apple 1 here."),
    ([], "open fridge 1", "The fridge is not close to you.", "You are not at fridge 1."),
    (["go to fridge 1"], "put down apple 1", "You do not grab the apple.", "You are not carrying apple 1."),
    ([*APPLE, "go to fridge 1"], "put down apple 1", "The fridge is closed.", "fridge 1 is closed."),
    ([*APPLE, "pick up plate 1"], "pick up mug 1", "You do not have an empty hand.",
     "You cannot hold more than 2 things."),
    (["go to fridge 1", "open fridge 1"], "open fridge 1", "The fridge is already open.", "fridge 1 is already open."),
]  # fmt: skip


@pytest.mark.parametrize(("first", "sentence", "full", "detailed"), REFUSED)
def test_what_the_rules_do_not_allow_is_refused_with_its_reason(
    first: list[str], sentence: str, full: str, detailed: str | None
) -> None:
    """In the house's own words, in those of AutoPlan's table, or not at all; nothing is changed by it."""
    for feedback, text in (("full", full), ("detailed", detailed or full), ("terse", "Nothing happens.")):
        world = open_house(feedback)
        for said in first:
            assert world.act(said).ok, said
        before = world.snapshot()
        reply = world.act(sentence)
        assert not reply.ok and world.snapshot() == before
        assert reply.text.startswith(text) and (feedback == "full" or reply.text == text)
        assert reply.why == (detailed or full if feedback == "detailed" else full)


def test_what_heats_without_rules_does_nothing_by_itself_with_them() -> None:
    """A microwave oven that runs changes nothing in a house where the stove heats."""
    world = open_house()
    oven = "microwave oven 1"
    told(world, [*APPLE, f"go to {oven}", f"open {oven}", "put down apple 1", f"close {oven}", f"turn on {oven}"])
    assert not world.holds("apple 1 is hot")
    assert world.act(f"open {oven}").ok  # nor is it guarded here, while it runs


def test_a_hot_thing_is_no_longer_cold() -> None:
    """The last treatment counts; clean it stays."""
    world = open_house(rules={**RULES, "heat": {"with": "fridge", "thing": "held", "door": "closed"}})
    told(world, [*SINK, "turn on faucet 2", "clean apple 1 with sink 2", "go to fridge 1"])
    told(world, ["heat apple 1 with fridge 1", "open fridge 1", "cool apple 1 with fridge 1"])
    assert [world.holds(f"apple 1 is {state}") for state in ("hot", "cold", "clean")] == [False, True, True]


def test_a_house_without_rules_knows_no_such_sentence() -> None:
    """It says what it always said, and offers what it always offered."""
    world = SUITE.open()
    world.reset(SUITE.tasks(0, 1)[0])
    assert world.act("heat apple 1 with stove 1").text == world.act("fly to the moon").text
    assert not [s for s in world.skills() if s.startswith(("heat", "cool", "clean"))]


def test_what_is_offered_tells_nothing_of_the_rules_nor_of_what_a_door_hides() -> None:
    """Houses with other rules, or with something else behind a door, offer the same where the same was seen."""
    other = {**RULES, "heat": {"with": "microwave oven", "thing": "held", "door": "open", "power": "turned off"}}
    without = [thing for thing in THINGS if thing[0] != "pudding"]
    for rules, things in ((RULES, without), (other, THINGS)):
        one, two = open_house(), open_house(rules=rules, things=things)
        for said in [*APPLE, "go to fridge 1", "go to microwave oven 1", "go to stove 1", "turn on stove 1"]:
            assert one.act(said).ok and two.act(said).ok
            assert one.skills() == two.skills()
    assert "open stove 1" in one.skills()  # guarded: that it does not open while it runs is to be found out


def test_what_makes_sense_now_is_offered() -> None:
    """A thing in a hand, or put into the appliance and shut away there; not what is so already, nor from far away."""
    world = open_house()
    treat = "heat apple 1 with stove 1"
    assert treat not in world.skills()
    for said in [*STOVE, "open stove 1", "put down apple 1", "close stove 1", "turn on stove 1"]:
        world.act(said)
        assert (treat in world.skills()) == (said not in APPLE), said
    assert not [s for s in world.skills() if s.startswith("heat") and "with sofa" in s]
    world.act(treat)
    assert treat not in world.skills()
    other = SUITE.open()
    other.restore(world.snapshot())
    assert other.skills() == world.skills() and other.told() == world.told()  # type: ignore[attr-defined]


CLAIMS = {  # a refusal → the fact that must be so, or must not
    r"You are not at (.+)\.": ("near {0}", False),
    r"You see no (.+) here\.": ("near {0}", False),
    r"(.+ \d+) is (?:already )?(open|closed|turned on|turned off)\.": ("{0} is {1}", True),
    r"You are not carrying (.+)\.": ("holding {0}", False),
    r"(.+) is not in (.+)\.": ("{0} in {1}", False),
    r"You cannot hold more than 2 things\.": ("hand free", False),
    r"You do not have an empty hand\.": ("hand free", False),
    r"You already hold the (.+)\.": ("hand free", None),
}
FREE = (r".+ cannot be (opened|closed|turned on|turned off|picked up)\.",
        r"You have gone to no place yet .+\.", r"You miss the index of (.+), e\.g\., \1 1\.")  # fmt: skip


@settings(max_examples=40, derandomize=True)
@given(st.integers(0, 60), st.lists(st.integers(0, 10_000), max_size=30))
def test_every_refusal_is_true_and_one_sentence(seed: int, picks: list[int]) -> None:
    """Whatever is tried, the reason that is given holds in the world at that moment."""
    world = SUITE.open(feedback="detailed")
    assert isinstance(world, HouseWorld)
    task = SUITE.tasks(seed, 1, kinds=["heat", "cool", "clean"], rules=seed)[0]
    world.reset(task)
    appliances = [f.name for f in world.house.fixtures if f.furniture.opens or f.furniture.switch]
    things = sorted(world.state.index)[:20]
    for pick in picks:
        offered = world.skills()
        thing, place = things[pick % len(things)], appliances[pick % len(appliances)]
        tried = [
            f"{('heat', 'cool', 'clean')[pick % 3]} {thing} with {place}",
            f"{('open', 'close', 'turn on', 'turn off')[pick % 4]} {place}",
            f"{('pick up', 'put down')[pick % 2]} {thing}",
            *(s for s in offered if s.startswith(("heat", "cool", "clean"))),
        ]
        for said in tried:
            reply = world.act(said)
            if not reply.ok:
                assert true(world, reply.text, said), (said, reply.text)
        reply = world.act(offered[pick % len(offered)])
        heard = hear(reply.text) if reply.ok else None
        assert not reply.ok or (heard is not None and say(heard) == reply.text)


def true(world: HouseWorld, text: str, said: str) -> bool:
    if useless := re.fullmatch(r"(.+) cannot be used for (heat|cool|clean)ing\.", text):
        return (
            world.rules is not None and world.rules.of[useless[2]].place != useless[1] and f"with {useless[1]}" in said
        )
    if nowhere := re.fullmatch(r"There is no (.+) in this house\.", text):
        return nowhere[1] not in world.state.index and nowhere[1] not in world.house.index
    for claim, (fact, so) in CLAIMS.items():
        if found := re.fullmatch(claim, text):
            return so is None or world.holds(fact.format(*found.groups())) is so
    return any(re.fullmatch(free, text) for free in FREE)


def test_rules_of_a_world_are_for_tasks_that_bring_none() -> None:
    """They come along with its snapshot; a task's own go before."""
    world = SUITE.open(rules="eval 2")
    assert isinstance(world, HouseWorld)
    book = load_content().rulebook
    world.reset(SUITE.tasks(0, 1)[0])
    assert world.rules == book.draw(2, "eval")
    other = SUITE.open()
    other.restore(world.snapshot())
    assert isinstance(other, HouseWorld) and other.rules == world.rules
    world.reset(SUITE.tasks(0, 1, kinds=["heat"], rules=3)[0])
    assert world.rules == book.draw(3, "train")
