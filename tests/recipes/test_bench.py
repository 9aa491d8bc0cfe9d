"""Lessons with made-up skills."""

from __future__ import annotations

import re
from random import Random

import pytest
import yaml

from bt_runtime.agents.story import StoryStep
from bt_runtime.language.project import init
from bt_runtime.types import Task
from recipes.starter import data
from recipes.starter.own_skills.benches import make_bench
from recipes.starter.own_skills.lessons import _exercises, exercise, lessons, teacher
from recipes.starter.own_skills.skills import Asked, Bench, Ways
from recipes.starter.seen import Seen

# what the arm example is about: its things, where they go, and what its arm has
APART = {"cube", "cubes", "tray", "trays", "table", "cup", "suction", "battery", "charge", "charger", "home", "cm"}


@pytest.mark.parametrize("strategy", ["react", "reactree", "adapt"])
def test_a_teacher_does_what_is_asked_for_with_whatever_skills_there_are(strategy: str) -> None:
    for taken, _ in _exercises(5, 40, 0, (strategy,)):
        taught = taken._replace(slips=None).taught()
        assert taught.verdict.met == 1, taken.task.goal
        assert all("What you can do:" in d.text or "you can do" in d.text for d in taught.documents)


def test_no_lesson_has_a_word_a_sentence_or_a_goal_of_the_example() -> None:
    files = {place.as_posix() if hasattr(place, "as_posix") else place: told for place, told in init.files("arm")}
    goals = {task["goal"] for task in yaml.safe_load(files["tasks.yaml"])["tasks"]}
    kinds = yaml.safe_load(files["skills/arm.yaml"])["kinds"].values()
    told = {kind["sentence"] for kind in kinds} | {kind["about"] for kind in kinds}
    words = set(re.findall(r"[a-z]+", yaml.safe_dump(data.read("own_skills/bench_words")).lower()))
    assert not words & APART
    for number in range(300):
        bench = make_bench(Random(number))
        said = {line for made in bench.skills for line in (made.__bt_skill__["sentence"], made.__doc__)}
        assert not said & told
        assert bench.asked.goal.lower().rstrip(".!") not in goals


def test_benches_that_are_kept_apart_have_no_skill_and_no_place_of_a_lesson() -> None:
    words = data.read("own_skills/bench_words")
    apart = words["held"]
    assert not {*apart["nouns"]} & {*words["nouns"]}
    assert not {*apart["places"]} & {*words["places"]}
    for key in ("look", "one", "pair", "rest", "all"):
        assert not {*apart[key]} & {*words[key]}
    for number in range(20):
        assert exercise(make_bench(Random(number), held=True), "react", "t").taught().verdict.met == 1


def bench() -> Bench:
    things = ("red pin", "old pin", "long pin")
    asked = Asked("put the old pin in the left bin", {"old pin": "left bin"})
    return Bench(asked, things, Ways("look", "take {o}", "drop at {p}"), done=["look"])


def says(at: Bench, *thoughts: str) -> str:
    return teacher(Seen("", at.asked.goal, "", tuple(StoryStep("think", thought) for thought in thoughts)), (), at)


def test_each_thought_goes_on_behind_the_last_until_a_thing_has_to_go() -> None:
    at = bench()
    first = says(at)
    assert first == "Think: red pin stays, old pin goes to left bin."
    said = first.removeprefix("Think: ")
    assert says(at, said) == "Act: take old pin"
    at.held = "old pin"
    assert says(at, said) == "Act: drop at left bin"
    at.held, at.at = "", {"old pin": "left bin"}
    assert says(at, said) == "Think: long pin stays, that is all."
    assert says(at, said, "long pin stays, that is all.") == "Act: done"


def test_what_was_thought_wrongly_is_thought_again() -> None:
    assert says(bench(), "red pin stays, old pin stays.") == "Think: old pin goes to left bin."
    assert says(bench(), "red pin stays, old pin goes to right bin.") == "Think: old pin goes to left bin."


def test_what_is_moved_although_it_should_stay_is_not_met() -> None:
    at = bench()
    at.at = {"old pin": "left bin", "red pin": "left bin"}
    assert at.verdict().met == 0
    at.at = {"old pin": "left bin"}
    assert at.verdict().met == 1
    at.reset(Task("t", "bench", at.asked.goal, {}))
    assert at.verdict().met == 0


def test_the_same_numbers_give_the_same_lessons() -> None:
    first, again = ([t.documents for t in lessons(4, 3)] for _ in range(2))
    assert first == again and first
