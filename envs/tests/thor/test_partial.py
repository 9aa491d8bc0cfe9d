"""The partially observed setting: ReAcTree's sentences and observations."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.thor.episode import Episode
from bt_envs.thor.rooms import read_room
from bt_envs.thor.stage import SceneStage

Play = Callable[..., Episode]


def said(episode: Episode, *sentences: str) -> str:
    return [episode.act(sentence) for sentence in sentences][-1].text


def test_one_begins_with_furniture_only_from_z_to_a(play: Play) -> None:
    episode = play()
    assert episode.look().text == (
        "You are in the house, and you arrive at the kitchen, Looking quickly around the room, you see "
        "StoveBurner (1, 2), SinkBasin (1), Sink (1), Microwave (1), GarbageCan (1), Fridge (1), Drawer (1, 2), "
        "DiningTable (1), CounterTop (1, 2), CoffeeMachine (1), Cabinet (1, 2)."
    )


def test_arriving_tells_what_is_in_view_and_whether_it_is_open_and_hides_what_is_inside(play: Play) -> None:
    episode = play()
    assert (
        said(episode, "go to Fridge (1)")
        == "You arrive at Fridge (1). You see Fridge (1), Drawer (1). Fridge (1) is closed."
    )
    assert (
        said(episode, "open Fridge (1)")
        == "You open Fridge (1). You see Tomato (1), Lettuce (1), Fridge (1), Egg (1), Drawer (1)."
    )


def test_what_is_held_is_told_with_every_observation(play: Play) -> None:
    episode = play()
    held = "I am holding Egg (1) now."
    assert said(episode, "go to Fridge (1)", "open Fridge (1)", "pick up Egg (1)").endswith(held)
    assert said(episode, "go to Microwave (1)").endswith(f"Microwave (1) is closed. {held}")
    assert episode.look().text.endswith(held)


def test_what_was_not_seen_cannot_be_named_even_when_it_is_there(play: Play) -> None:
    episode = play()
    seen = episode.act("go to Egg (1)")
    assert not seen.ok
    assert seen.text == "You have not seen Egg (1)."
    assert not any("Egg" in sentence for sentence in episode.skills())


def test_things_are_put_where_one_went_last(play: Play) -> None:
    episode = play()
    said(episode, "go to DiningTable (1)", "pick up Apple (2)", "go to CounterTop (2)")
    assert said(episode, "put down Apple (2)").startswith("You put Apple (2) on CounterTop (2). You see ")
    assert episode.holds("Apple (2) on CounterTop (2)")


def test_what_cannot_be_put_down_there_is_dropped(play: Play) -> None:
    episode = play()
    seen = [
        episode.act(s) for s in ("go to DiningTable (1)", "pick up Apple (1)", "go to Fridge (1)", "put down Apple (1)")
    ][-1]
    assert seen.text.startswith("You put down failed, drop it. You see ")
    assert not seen.ok
    assert "closed" in seen.why
    assert episode.holds("hand free")


@pytest.mark.parametrize(
    "sentences, text",
    [
        (["close Fridge (1)"], "The Fridge (1) is not close to you."),
        (["go to Fridge (1)", "close Fridge (1)"], "The Fridge (1) is already closed."),
        (["go to Fridge (1)", "open Fridge (1)", "open Fridge (1)"], "The Fridge (1) is open failed."),
        (["go to Microwave (1)", "turn off Microwave (1)"], "The Microwave (1) already turn off."),
        (["go to DiningTable (1)", "slice Apple (1)"], "The Apple (1) slice failed."),
        (
            ["go to DiningTable (1)", "pick up Apple (1)", "pick up Apple (2)"],
            "You are currently holding Apple (1). I am holding Apple (1) now.",
        ),
    ],
)
def test_refusals_are_worded_as_in_the_recorded_trajectories(play: Play, sentences: list[str], text: str) -> None:
    episode = play()
    seen = [episode.act(sentence) for sentence in sentences][-1]
    assert seen.text == text
    assert not seen.ok
    assert seen.why


def test_slices_get_numbers_of_their_own_and_are_listed(play: Play) -> None:
    episode = play()
    said(episode, "go to CounterTop (1)", "pick up Knife (1)", "go to DiningTable (1)")
    text = said(episode, "slice Apple (1)")
    assert "Apple (3, 4, 5, 6, 7, 8) are sliced. I am holding Knife (1) now." in text
    assert not episode.act("pick up Apple (1)").ok


def test_an_appliance_that_is_on_is_told_on_arrival(play: Play) -> None:
    episode = play()
    said(episode, "go to Microwave (1)", "turn on Microwave (1)", "go to Fridge (1)")
    assert "Microwave (1) is closed. Microwave (1) is already turned on." in said(episode, "go to Microwave (1)")


def test_every_offered_sentence_succeeds(play: Play) -> None:
    for first in ("go to Fridge (1)", "go to CounterTop (1)", "go to DiningTable (1)", "go to SinkBasin (1)"):
        episode = play()
        episode.act(first)
        for sentence in episode.skills():
            trial = play()
            trial.act(first)
            assert trial.act(sentence).ok, (first, sentence)


@settings(max_examples=150, derandomize=True)
@given(st.text(max_size=40) | st.builds("{} {}".format, st.sampled_from(["go to", "open"]), st.text(max_size=12)))
def test_no_text_raises(text: str) -> None:
    EPISODE.act(text)
    EPISODE.holds(text)


@pytest.mark.parametrize(
    "fact, truth",
    [
        ("hand free", True),
        ("not hand free", False),
        ("Fridge (1) is closed", True),
        ("Fridge (1) is open", False),
        ("the faucet is turned off", True),
        ("Egg (1) in Fridge (1)", True),
        ("near Fridge (1)", False),
        ("holding Egg (1)", False),
        ("Dragon (3) is open", False),
        ("the moon shines", None),
        ("not the moon shines", None),
        ("put an egg in the fridge", None),
        ("a cold egg in the fridge", None),
        ("find the bread that is sliced", None),
        ("the egg in the fridge", True),
    ],
)
def test_facts_are_judged_and_what_is_no_fact_is_not(play: Play, fact: str, truth: bool | None) -> None:
    assert play().holds(fact) is truth


EPISODE = Episode(SceneStage(), "partial")
EPISODE.reset({"room": read_room("galley_kitchen").to_json(), "kind": "kitchen"})
