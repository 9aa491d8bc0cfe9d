"""The fully observed setting: LoTa-Bench's sentences, and its reasons for failure."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.thor.episode import Episode
from bt_envs.thor.rooms import read_room
from bt_envs.thor.stage import SceneStage

Play = Callable[..., Episode]


def why(episode: Episode, *sentences: str) -> str:
    """The reason of the last one."""
    return [episode.act(sentence) for sentence in sentences][-1].why


def test_a_kind_that_is_not_there_cannot_be_found(play: Play) -> None:
    assert why(play("full"), "find a tennis racket") == "Cannot find TennisRacket"
    assert why(play("full"), "pick up the unicorn") == "Cannot find Unicorn to pick up"


def test_what_is_behind_a_door_is_not_visible_and_the_door_is_named(play: Play) -> None:
    assert why(play("full"), "find an egg", "pick up the egg") == "Egg is not visible because it is in Fridge"


def test_a_full_hand_and_an_empty_hand_are_told(play: Play) -> None:
    episode = play("full")
    assert why(episode, "put down the apple") == "Robot is not holding any object"
    assert why(episode, "find an apple", "pick up the apple") == ""
    assert why(episode, "pick up the potato") == "Robot is currently holding Apple"


def test_putting_down_without_a_receptacle_found_before_drops_it_and_fails(play: Play) -> None:
    episode = play("full")
    assert why(episode, "find an apple", "pick up the apple", "put down the apple") == "put down failed"
    assert episode.holds("hand free")
    assert not episode.holds("apple on dining table") or episode.hands.held is None


def test_putting_into_something_closed_drops_it_and_fails(play: Play) -> None:
    take = ("find an apple", "pick up the apple")
    assert why(play("full"), *take, "find a fridge", "put down the apple") == "put down failed"
    assert why(play("full"), *take, "find a fridge", "open the fridge", "put down the apple") == ""


def test_opening_keeps_the_receptacle_in_mind_and_closing_does_not(play: Play) -> None:
    """As LoTa-Bench has it: after closing, one must find it again."""
    episode = play("full")
    start = ("find an apple", "pick up the apple", "find a fridge", "open the fridge", "close the fridge")
    assert why(episode, *start, "open the fridge", "put down the apple") == "put down failed"


def test_a_thing_put_into_the_sink_lies_in_its_basin(play: Play) -> None:
    episode = play("full")
    assert why(episode, "find an apple", "pick up the apple", "find a sink", "put down the apple") == ""
    assert episode.holds("apple in sink basin")


def test_slicing_needs_a_knife_and_from_then_on_the_name_means_a_slice(play: Play) -> None:
    episode = play("full")
    assert "no knife" in why(episode, "find an apple", "slice the apple")
    assert why(episode, "find a knife", "pick up the knife", "find an apple", "slice the apple") == ""
    assert why(episode, "find a dining table", "put down the knife", "find an apple", "pick up the apple") == ""
    assert "Sliced" in str(episode.hands.held)


def test_dropping_needs_no_receptacle(play: Play) -> None:
    episode = play("full")
    assert why(episode, "find an apple", "pick up the apple", "drop the apple") == ""
    assert episode.holds("hand free")


@pytest.mark.parametrize(
    "sentence", ["", "   ", "find", "dance with the fridge", "pick up", "go to Fridge (1)", "\x00", "🍎"]
)
def test_what_is_no_action_is_answered_with_examples(play: Play, sentence: str) -> None:
    seen = play("full").act(sentence)
    assert not seen.ok
    assert "find a fridge" in seen.text


def test_every_offered_sentence_succeeds(play: Play) -> None:
    for first in ("find a fridge", "find a counter top", "find a dining table", "find a microwave"):
        episode = play("full")
        episode.act(first)
        for sentence in episode.skills():
            trial = play("full")
            trial.act(first)
            seen = trial.act(sentence)
            assert seen.ok, (first, sentence, seen)


@settings(max_examples=150, derandomize=True)
@given(
    st.text(max_size=40)
    | st.builds("{} the {}".format, st.sampled_from(["open", "slice", "turn on"]), st.text(max_size=12))
)
def test_no_text_raises(text: str) -> None:
    EPISODE.act(text)
    EPISODE.holds(text)


EPISODE = Episode(SceneStage(), "full")
EPISODE.reset({"room": read_room("galley_kitchen").to_json(), "kind": "kitchen"})
