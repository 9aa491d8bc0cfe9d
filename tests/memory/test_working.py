"""Working memory: what was seen, held and put down, and what is not known any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime.memory import WorkingMemory
from bt_runtime.memory.notice import Fact, Held, Here, Holding, Looked, PlacedThing, Seen, Thing
from bt_runtime.memory.observation import read
from bt_runtime.memory.working import Known, recall, told

APPLE, PEAR = Thing("apple", 1), Thing("apple", 2)
START = (
    "You are in the house, and there are 2 rooms: kitchen (1), living room (1). You are in the middle of a "
    "living room (1). Looking quickly around the room, you see coffee table (1), sofa (1)."
)
KITCHEN = "You move to the kitchen (1). Looking quickly around the room, you see fridge (1), kitchen table (1)."


def lived(*steps: tuple[str, str]) -> WorkingMemory:
    memory = WorkingMemory({})
    for action, text in steps:
        memory.observe(action, text)
    return memory


def test_the_sentences_are_those_of_the_paper() -> None:
    """Seen, never seen and held are said as the paper says them."""
    memory = lived(
        ("", START),
        ("go to coffee table 1", "You arrive at the coffee table (1). You see book (1), coffee table (1), juice (1)"),
        ("go to kitchen 1", KITCHEN),
        ("go to kitchen table 1", "You arrive at the kitchen table (1). You see apple (1, 2), plate (1)"),
        ("pick up apple 2", "You pick up apple. You hold apple (2)."),
    )
    assert memory.answer("recall location of juice") == "You saw juice 1 near coffee table 1 in living room 1."
    assert memory.answer("recall location of pear") == "You have not seen pear before."
    assert memory.answer("recall location of apple 2") == "You hold apple 2."
    both = "You saw apple 1 near kitchen table 1 in kitchen 1. You hold apple 2."
    assert memory.answer("Recall the location of Apple") == both
    assert memory.answer("recall location of apple 3") == "You have not seen apple 3 before."
    assert memory.answer("go to kitchen 1") is None


def test_a_place_is_in_the_room_where_it_was_seen() -> None:
    """Going straight to a place of another room puts what is there into that room."""
    memory = lived(
        ("", START),
        ("go to kitchen 1", KITCHEN),
        ("go to sofa 1", "You arrive at the sofa (1). You see pillow (1)"),
    )
    assert memory.answer("recall location of pillow") == "You saw pillow 1 near sofa 1 in living room 1."
    assert memory.snapshot().here == Here("living room 1", "sofa 1")


def test_what_was_put_down_is_where_it_was_put() -> None:
    """Putting down ends holding; the number that the reply leaves out is the one that was acted on."""
    memory = lived(
        ("go to kitchen 1", KITCHEN),
        ("go to kitchen table 1", "You arrive at the kitchen table (1). You see apple (1, 2)"),
        ("pick up apple 2", "You pick up apple. You hold apple (2)."),
        (
            "go to fridge 1",
            "You arrive at the fridge (1). The fridge (1) is open. You see apple (2), milk (1) You hold apple (2).",
        ),
        ("put down apple 2", "You put down apple in fridge"),
    )
    assert memory.answer("recall location of apple 2") == "You saw apple 2 near fridge 1 in kitchen 1."
    assert memory.snapshot().things[PEAR].how == "placed"


def test_what_is_still_held_is_no_part_of_the_place_where_another_thing_was_put() -> None:
    memory = lived(
        ("go to kitchen 1", KITCHEN),
        ("go to kitchen table 1", "You arrive at the kitchen table (1). You see apple (2), plate (1)"),
        ("pick up apple 2", "You pick up apple. You hold apple (2)."),
        ("pick up plate 1", "You pick up plate. You hold apple (2), plate (1)."),
        ("put down apple 2", "You put down apple on kitchen table You hold plate (1)."),
    )
    assert memory.answer("recall location of apple 2") == "You saw apple 2 near kitchen table 1 in kitchen 1."


def test_looked_there_and_absent_is_told() -> None:
    """A thing that is not where it was says so; a closed door proves nothing, and finding it again mends it."""
    seen = ("go to fridge 1", "You arrive at the fridge (1). The fridge (1) is open. You see milk (1)")
    closed = ("go to fridge 1", "You arrive at the fridge (1). The fridge (1) is closed. You see kitchen table (1)")
    empty = ("open fridge 1", "You open fridge. You see juice (1)")
    shut = ("close fridge 1", "You close fridge. You see kitchen table (1)")
    known = "You saw milk 1 near fridge 1 in kitchen 1."
    assert lived(("", KITCHEN), seen, closed).answer("recall location of milk") == known
    assert lived(("", KITCHEN), seen, shut).answer("recall location of milk") == known
    gone = "You saw milk 1 near fridge 1 in kitchen 1, but not when you looked there again."
    assert lived(("", KITCHEN), seen, closed, empty).answer("recall location of milk") == gone
    assert lived(("", KITCHEN), seen, empty, seen).answer("recall location of milk") == known


def test_a_coarser_sighting_erases_nothing() -> None:
    """Seeing a thing somewhere in the room does not forget the table it is on; seeing it in another room does."""
    known = told(Known(), [Seen(APPLE, "kitchen 1", "table 1")], 1)
    assert told(known, [Seen(APPLE, "kitchen 1")], 2).things[APPLE].near == "table 1"
    assert told(known, [Seen(APPLE, "hall 1")], 2).things[APPLE][:2] == ("hall 1", "")
    stale = told(known, [Looked("table 1", frozenset())], 2)
    assert told(stale, [Seen(APPLE, "kitchen 1")], 3).things[APPLE][:2] == ("kitchen 1", "")
    assert told(known, [Seen(APPLE, "", "table 1")], 2).things[APPLE].room == "kitchen 1"


def test_letting_go_without_a_word_is_not_knowing() -> None:
    """A hand that is said to hold other things does not hold this one; nobody knows where it is."""
    known = told(Known(), [Held(APPLE)], 1)
    known = told(known, [Holding(frozenset({PEAR}))], 2)
    assert recall(known, "apple") == "You saw apple 1, but you do not know where it is now. You hold apple 2."


def test_held_things_are_not_seen_elsewhere() -> None:
    """What is in the hand appears in every view; that is no new place for it, and no absence from it."""
    known = told(Known(), [Held(APPLE)], 1)
    known = told(known, [Seen(APPLE, "kitchen 1", "sink 1"), Looked("sink 1", frozenset({APPLE}))], 2)
    assert recall(known, "apple") == "You hold apple 1."


notices = st.one_of(
    st.builds(Seen, st.sampled_from([APPLE, PEAR]), st.sampled_from(["", "a", "b"]), st.sampled_from(["", "x", "y"])),
    st.builds(
        PlacedThing, st.sampled_from([APPLE, PEAR]), st.sampled_from(["a", "b"]), st.sampled_from(["", "x", "y"])
    ),
    st.builds(Held, st.sampled_from([APPLE, PEAR])),
    st.builds(Looked, st.sampled_from(["x", "y"]), st.frozensets(st.sampled_from([APPLE, PEAR]))),
    st.builds(Holding, st.frozensets(st.sampled_from([APPLE, PEAR]))),
    st.builds(Fact, st.sampled_from(["lamp 1", "door 1"]), st.just("state"), st.integers(0, 3)),
)


@settings(max_examples=200, derandomize=True)
@given(st.lists(st.tuples(notices, st.integers(0, 30)), max_size=12))
def test_nothing_old_overwrites_anything_new(steps: list[tuple[Any, int]]) -> None:
    """Whatever arrives late, no sighting and no fact goes back to an older number; a snapshot never changes."""
    known = Known()
    for notice, seq in steps:
        before = {**known.things}, {**known.facts}
        then = told(known, [notice], seq)
        assert (known.things, known.facts) == before
        assert all(then.things[thing].seq >= old.seq for thing, old in known.things.items())
        assert all(then.facts[key][1] >= old[1] for key, old in known.facts.items())
        known = then
    assert Known.from_json(known.to_json()) == known


def test_other_facts_are_kept(remember: Callable[..., Any]) -> None:
    """An env declares what it notices; the last word by sequence number stands."""
    memory = WorkingMemory({})
    memory.notice([Fact("lamp 1", "is", "on")], seq=5, by="/2")
    memory.notice([Fact("lamp 1", "is", "off")], seq=4)
    assert memory.fact("lamp 1", "is") == "on"
    assert memory.fact("lamp 2", "is") is None
    assert memory.snapshot().facts["lamp 1", "is"] == ("on", 5, "/2")


def test_an_env_may_read_for_itself() -> None:
    """A world with other sentences gives its own noticer."""

    def noticer(action: str, text: str, here: Here, known: Any) -> Any:
        return [Fact("bag", "holds", text)], here

    memory = WorkingMemory({}, noticer=noticer)
    memory.observe("inventory", "three sticks")
    assert memory.fact("bag", "holds") == "three sticks"


def test_switched_off_it_is_not_there() -> None:
    """For the ablation: no skill is offered, no recall answered, nothing noticed."""
    memory = WorkingMemory({}, on=False)
    memory.observe("", KITCHEN)
    memory.notice([Held(APPLE)])
    assert memory.skills(["apple"]) == []
    assert memory.answer("recall location of apple") is None
    assert memory.snapshot() == Known()
    assert WorkingMemory({}).skills(["apple", "cup"]) == ["recall location of apple", "recall location of cup"]


def test_runs_do_not_share() -> None:
    """A memory begins empty on its board, and goes back to a snapshot."""
    board = {}
    memory = WorkingMemory(board)
    memory.observe("", KITCHEN)
    kept = memory.snapshot()
    assert WorkingMemory(board).snapshot() == Known()
    memory.restore(kept)
    assert memory.answer("recall location of fridge") == "You saw fridge 1 in kitchen 1."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You see",
        "You see apple",
        "You see (1)",
        "You hold nothing.",
        "Nothing happens.",
        "You put down",
        "You see x (1",
    ],
)
def test_other_sentences_tell_nothing(text: str) -> None:
    """A reply of another form is no fact and no error."""
    assert read("do something", text, Here(), {}) == ([], Here())


@pytest.mark.parametrize("piece", ["You see a, ", "You put a in ", "You see a (1), a ", "a " * 7, "You hold (1), "])
def test_hostile_text_is_read_in_time(piece: str) -> None:
    """Twenty times the text takes nothing like four hundred times as long."""

    def seconds(times: int) -> float:
        start = time.process_time()
        read("put down a 1", piece * times, Here("kitchen 1", "a 1"), {})
        return time.process_time() - start

    assert min(seconds(2000) for _ in range(3)) < 200 * max(min(seconds(100) for _ in range(5)), 1e-4)


def test_a_thing_is_recalled_by_its_whole_number() -> None:
    known = told(
        Known(), [Seen(Thing("cup", 2), "kitchen 1", "table 1"), Seen(Thing("cup", 12), "kitchen 1", "shelf 3")], 1
    )
    for asked in ("cup 12", "cup (12)", "Cup 12"):
        assert recall(known, asked) == "You saw cup 12 near shelf 3 in kitchen 1."
    assert recall(known, "cup 2") == "You saw cup 2 near table 1 in kitchen 1."
    assert recall(known, "cup 1") == "You have not seen cup 1 before."
    assert recall(known, f"cup {'1' * 5000}").startswith("You have not seen")
