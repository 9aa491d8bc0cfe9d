from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.house.speech import HEADS, Said, groups, hear, say

NAMES = st.sampled_from(["apple", "wine glass", "kitchen cabinet", "Chinese food", "tv"])
GROUPS = st.dictionaries(NAMES, st.sets(st.integers(1, 12), min_size=1), min_size=1).map(
    lambda found: tuple((name, tuple(sorted(numbers))) for name, numbers in found.items())
)
SLOTS = {
    "t": NAMES,
    "p": NAMES,
    "n": st.integers(1, 30).map(str),
    "count": st.integers(2, 6).map(str),
    "rooms": st.just("bathroom (1), bedroom (1, 2)"),
    "state": st.sampled_from(["open", "closed", "turned on", "turned off"]),
    "sightings": st.just("apple 1 near fridge 1 in kitchen 1. You saw apple 2 near bed 1 in bedroom 1"),
    "held": st.sampled_from(["apple 1", "apple 1 and wine glass 2"]),
}


@settings(max_examples=200, derandomize=True)
@given(st.data())
def test_what_is_said_is_heard_again(drawn: st.DataObject) -> None:
    """Any head with any sight and any load comes back the same."""
    head = drawn.draw(st.sampled_from(sorted(HEADS)))
    slots = {name: drawn.draw(SLOTS[name]) for name in SLOTS if f"{{{name}}}" in HEADS[head]}
    seen = drawn.draw(GROUPS if head in ("start", "room") else st.none() | GROUPS)
    said = Said(head, slots, seen, drawn.draw(st.just(()) | GROUPS))
    assert hear(say(said)) == said


@pytest.mark.parametrize("text", ["", "Nothing happens.", "You fly to the moon (1).", "You hold apple (1)."])
def test_what_is_no_observation_is_not_heard(text: str) -> None:
    """Other sentences are None, never a guess."""
    assert hear(text) is None


def test_names_are_grouped_in_alphabetical_order() -> None:
    """Classes by name whatever the case of their letters, numbers in order."""
    assert groups([("tv", 2), ("apple", 3), ("Chinese food", 1), ("apple", 1)]) == (
        ("apple", (1, 3)),
        ("Chinese food", (1,)),
        ("tv", (2,)),
    )


@pytest.mark.parametrize(
    "text",
    [
        "You put down apple on coffee table.",
        "You put down apple on coffee table You hold pudding (3).",
        "You open fridge. You see bench (1), cupcake (1), fridge (1, 2), juice (1).",
        "You pick up juice. You hold juice (1).",
        "You have not seen glasses before.",
        "You saw plate 1 near kitchen cabinet 6 in kitchen 1. You saw plate 2 near coffee table 1 in living room 1.",
        "You do not have an empty hand. You see apple (3), bookshelf (3, 4) You hold apple (3), cupcake (1).",
        "The light switch is already turned on.",
    ],
)
def test_the_papers_sentences_are_heard(text: str) -> None:
    """With the full stop of the tables or without it, as in the trajectories."""
    heard = hear(text)
    assert heard is not None and say(heard).rstrip(".") == text.rstrip(".")
