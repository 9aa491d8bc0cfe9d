"""The seven task types: which conditions are met, after which deeds; clean, hot and cold as ALFRED tracks them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bt_envs.thor.episode import Episode

Play = Callable[..., Episode]
PLACE = "pick_and_place_simple"


def after(episode: Episode, *sentences: str) -> list[tuple[int, int]]:
    """The verdict before, and after each sentence; every one of them must succeed."""
    verdicts = [tuple(episode.verdict())]
    for sentence in sentences:
        seen = episode.act(sentence)
        assert seen.ok, (sentence, seen)
        verdicts.append(tuple(episode.verdict()))
    return verdicts  # type: ignore[return-value]


TAKE_EGG = ("go to Fridge (1)", "open Fridge (1)", "pick up Egg (1)")


def test_placing_is_met_when_one_of_the_kind_lies_on_one_of_the_parents(play: Play) -> None:
    episode = play(type=PLACE, object="Egg", parent="DiningTable")
    assert after(episode, *TAKE_EGG, "go to DiningTable (1)", "put down Egg (1)")[-2:] == [(0, 1), (1, 1)]


def test_two_must_lie_on_the_same_receptacle(play: Play) -> None:
    episode = play(type="pick_two_obj_and_place", object="Apple", parent="CounterTop")
    fetch = ("go to DiningTable (1)", "pick up Apple (1)", "go to CounterTop (1)", "put down Apple (1)")
    assert after(episode, *fetch)[-1] == (1, 2)
    other = ("go to DiningTable (1)", "pick up Apple (2)", "go to CounterTop (2)", "put down Apple (2)")
    assert after(episode, *other)[-1] == (1, 2)
    assert after(episode, "pick up Apple (2)", "go to CounterTop (1)", "put down Apple (2)")[-1] == (2, 2)


def test_looking_in_the_light_needs_the_thing_in_hand_and_a_lit_lamp_in_sight(play: Play) -> None:
    episode = play(room="attic_bedroom", type="look_at_obj_in_light", object="Mug", toggle="DeskLamp")
    verdicts = after(episode, "go to Desk (1)", "pick up Mug (1)", "go to DeskLamp (1)", "turn on DeskLamp (1)")
    assert verdicts == [(0, 2), (0, 2), (1, 2), (1, 2), (2, 2)]
    assert after(episode, "go to ArmChair (1)")[-1] == (1, 2)


def test_clean_is_what_lay_in_the_basin_when_the_faucet_was_turned_on(play: Play) -> None:
    episode = play(type="pick_clean_then_place_in_recep", object="Egg", parent="DiningTable")
    wash = (*TAKE_EGG, "go to SinkBasin (1)", "put down Egg (1)", "turn on Faucet (1)", "pick up Egg (1)")
    assert after(episode, *wash)[-1] == (1, 3)
    assert episode.holds("Egg (1) is clean")
    assert after(episode, "go to DiningTable (1)", "put down Egg (1)")[-1] == (3, 3)


def test_hot_is_what_was_in_the_microwave_when_it_was_turned_on(play: Play) -> None:
    episode = play(type="pick_heat_then_place_in_recep", object="Egg", parent="DiningTable")
    heat = ("go to Microwave (1)", "open Microwave (1)", "put down Egg (1)", "close Microwave (1)")
    assert after(episode, *TAKE_EGG, *heat, "turn on Microwave (1)")[-2:] == [(0, 3), (1, 3)]
    take = ("turn off Microwave (1)", "open Microwave (1)", "pick up Egg (1)")
    assert after(episode, *take, "go to DiningTable (1)", "put down Egg (1)")[-1] == (3, 3)


def test_cold_is_what_was_in_the_fridge_when_it_was_closed(play: Play) -> None:
    episode = play(type="pick_cool_then_place_in_recep", object="Egg", parent="DiningTable")
    assert not episode.holds("Egg (1) is cold"), "what was always there is not tracked"
    after(episode, "go to Fridge (1)", "open Fridge (1)", "close Fridge (1)", *TAKE_EGG[1:])
    assert after(episode, "go to DiningTable (1)", "put down Egg (1)")[-1] == (3, 3)


def test_a_stack_counts_only_when_its_receptacle_is_in_place_too(play: Play) -> None:
    goal = {"type": "pick_and_place_with_movable_recep", "object": "Egg", "movable": "Pan", "parent": "DiningTable"}
    episode = play(**goal)
    assert after(episode, *TAKE_EGG, "go to StoveBurner (1)")[-1] == (0, 3)
    assert after(episode, "go to Pan (1)", "put down Egg (1)")[-1] == (1, 3)
    assert after(episode, "pick up Pan (1)", "go to DiningTable (1)", "put down Pan (1)")[-1] == (3, 3)


def test_a_sliced_goal_counts_slices_only(play: Play) -> None:
    episode = play(type=PLACE, object="Apple", parent="CounterTop", sliced=True)
    whole = ("go to DiningTable (1)", "pick up Apple (1)", "go to CounterTop (1)", "put down Apple (1)")
    assert after(episode, *whole)[-1] == (0, 2)
    assert after(episode, "pick up Knife (1)", "slice Apple (1)")[-1] == (2, 2)


@pytest.mark.parametrize("kind, other", [("Pot", "Potato"), ("Knife", "ButterKnife")])
def test_a_kind_is_not_mistaken_for_one_whose_name_contains_it(play: Play, kind: str, other: str) -> None:
    """ALFRED compares by substring, so that a potato counts as a pot; here it does not."""
    episode = play(type=PLACE, object=kind, parent="DiningTable")
    on_table = [e["objectType"] for e in episode.hands.objects.values() if e["parentReceptacles"]]
    assert other in on_table
    assert episode.verdict().met == 0
