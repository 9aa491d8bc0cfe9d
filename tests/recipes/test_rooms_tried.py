"""Judgements of what was done in rooms: the teacher's, and what is made up of them."""

from __future__ import annotations

from random import Random

import pytest

from bt_envs.thor.goals import Goal
from recipes.starter.judge import judged, judges
from recipes.starter.reflection import reflected
from recipes.starter.room_judge import NOTHING, ended_early
from recipes.starter.rooms_tried import lessons
from recipes.starter.seen import Seen
from recipes.starter.thor.wish import Told

_SEEN = "You are in the middle of a room. Looking quickly around you, you see a bed 1.\n"
_ROOM = "You are in the house, and you arrive at the kitchen, Looking quickly around the room, you see Fridge (1)."


def prompt(goal: str, deeds: list[str], seen: str = f"{_SEEN}You are not carrying anything.\nNow.") -> str:
    listed = "".join(f"- {deed}: So it was.\n" for deed in deeds)
    return (
        f"You judge whether a goal is met.\n\nThe goal: {goal}\nWhat was done, in this order:\n{listed}{seen}\nThink:"
    )


@pytest.mark.parametrize(
    ("goal", "deeds", "said"),
    [
        ("put a clean mug in shelf", ["take mug 2 from desk 1", "put mug 2 in/on shelf 1"],
         "take mug: mug 2. clean mug: none. put on shelf: none. Missing: clean mug, put on shelf."),
        ("put two plate in shelf", ["take plate 1 from desk 1", "put plate 1 in/on shelf 1"],
         "take plate: plate 1, none. put on shelf: plate 1, none. Missing: take plate, put on shelf."),
        ("look at book under the desklamp", ["take book 1 from bed 1", "use desklamp 1"],
         f"take book: book 1. turn on desklamp: desklamp 1. {NOTHING}"),
        ("look at book under the desklamp", ["use desklamp 1", "take book 1 from bed 1"],
         "take book: book 1. turn on desklamp: none. Missing: turn on desklamp."),
        ("put some cup on desk", ["take cup 1 from bed 1", "put cup 1 in/on desk 1", "take cup 1 from desk 1"],
         "take cup: cup 1. put on desk: none. Missing: put on desk."),
    ],
)  # fmt: skip
def test_a_judge_in_alfworld_names_for_each_part_the_thing_of_which_a_deed_says_so(
    goal: str, deeds: list[str], said: str
) -> None:
    assert judged(prompt(goal, deeds)) == said
    assert judged(prompt(goal, deeds) + f" {said}\nIs the goal met?") == ("yes" if NOTHING in said else "no")


def test_a_judge_in_alfreds_rooms_knows_what_is_clean_hot_and_cold_by_where_a_thing_was() -> None:
    for kind, tool, after, how in (
        ("pick_clean_then_place_in_recep", "SinkBasin (1)", ["turn on Faucet (1)"], "clean"),
        ("pick_heat_then_place_in_recep", "Microwave (1)", ["turn on Microwave (1)"], "heat"),
        ("pick_cool_then_place_in_recep", "Fridge (1)", ["close Fridge (1)"], "cool"),
    ):
        told = {"do it": Told(Goal(kind, "Egg", "Shelf"))}
        treats = [f"go to {tool}", "put down Egg (1)", *after, "pick up Egg (1)"]
        puts = ["go to Shelf (2)", "put down Egg (1)"]
        done = judged(prompt("do it", ["pick up Egg (1)", *treats, *puts], _ROOM), told)
        assert done == f"take Egg: Egg (1). {how} Egg: Egg (1). put on Shelf: Egg (1). {NOTHING}"
        left = judged(prompt("do it", ["pick up Egg (1)", *puts], _ROOM), told)
        assert left.endswith(f"Missing: {how} Egg, put on Shelf.")


def test_an_attempt_that_ended_early_is_told_as_it_would_have_been() -> None:
    """What is held and what came last are those of the deeds that are left."""
    whole = prompt("put a mug in shelf", ["take mug 2 from desk 1", "go to shelf 1", "put mug 2 in/on shelf 1"])
    cut = {ended_early(whole, Random(n)) for n in range(20)}
    assert len(cut) == 2 and all("put mug 2" not in text for text in cut)
    assert sum("You are carrying: a mug 2.\nSo it was." in text for text in cut) == 1


def test_lessons_of_rooms_show_judgements_of_both_sorts_in_both_worlds_and_every_attempt_comes_out_well() -> None:
    taught = list(lessons(7, 12))
    assert all(each.verdict.reached for each in taught)
    judgements = [d for each in taught for d in each.documents if judges(d.text)]
    answers = {("THOR" if " (1)" in d.text else "ALFWorld", d.text.rstrip().endswith("yes")) for d in judgements}
    assert answers == {("THOR", True), ("THOR", False), ("ALFWorld", True), ("ALFWorld", False)}


def test_who_reflects_repeats_what_the_judge_missed() -> None:
    seen = Seen("", "put a mug in shelf", "", ())
    assert reflected(seen).endswith("Still to do: put a mug in shelf.\n")
