"""ALFWorld's teacher, its lessons, and the rules that they are given by."""

from __future__ import annotations

import importlib.util
from collections import Counter
from random import Random

import pytest

from bt_envs.alfworld import pool
from bt_envs.alfworld.game import KINDS, kind_of, read
from bt_envs.alfworld.suite import SUITE
from bt_envs.alfworld.world import AlfWorld
from bt_runtime import load
from bt_runtime.skills.worlds.registry import in_split
from recipes.starter.alfworld.homes import lesson_task, lessons
from recipes.starter.alfworld.rooms import room_task
from recipes.starter.alfworld.rules import Rules
from recipes.starter.alfworld.teacher import teacher
from recipes.starter.lesson import Slips, teach
from recipes.starter.steps import ORDER


@pytest.mark.parametrize("strategy", ["react", "reactree", "adapt", "plan_and_execute"])
def test_a_teacher_that_reads_prompts_reaches_every_goal_and_is_never_refused(strategy: str) -> None:
    tree, world = load(strategy), AlfWorld(Rules())
    for number in range(12):
        taught = teach(tree, world, lesson_task(9, number), teacher)
        assert taught.verdict.met == taught.verdict.total, number
        assert not [d for d in taught.documents if "Nothing happens" in d.text]


def test_it_finds_the_way_back_from_most_slips() -> None:
    tree, world = load("adapt"), AlfWorld(Rules())
    told = [teach(tree, world, lesson_task(9, i), teacher, slips=Slips(0.1, Random(i))) for i in range(12)]
    assert sum(t.verdict.met == t.verdict.total for t in told) >= 9


def test_no_goal_of_a_lesson_is_one_of_an_evaluation() -> None:
    kept = {read(t.data["problem"]).aim for split in ("dev", "eval") for t in SUITE.tasks(0, 60, split, source="made")}
    assert not kept & {read(lesson_task(9, number).data["problem"]).aim for number in range(60)}
    assert {lesson_task(9, number).kind for number in range(6)} == set(KINDS)


def test_the_same_numbers_give_the_same_lessons() -> None:
    first, again = ([t.documents for t in lessons(4, 3)] for _ in range(2))
    assert first == again and first


@pytest.mark.alfworld
def test_the_rules_say_and_offer_what_the_engine_does() -> None:
    if importlib.util.find_spec("textworld") is None or importlib.util.find_spec("alfworld") is None:
        pytest.skip("the extra alfworld is not installed")
    engine, rules = SUITE.open(), AlfWorld(Rules())
    try:
        for number in range(6):
            _same(engine, rules, number)
    finally:
        pool.shared(2).close()


def _same(engine, rules, number: int) -> None:
    rng, task = Random(number), lesson_task(9, number)
    assert engine.reset(task).text == rules.reset(task).text
    for _ in range(15):
        offered = _acts(engine)
        assert offered == _acts(rules)
        near = [said for said in offered if not said.startswith("go to")]
        said = rng.choice(near if near and rng.random() < 0.6 else offered or ["look"])
        assert engine.act(said).text == rules.act(said).text and engine.verdict() == rules.verdict()


def _acts(world) -> list[str]:
    return sorted(said for said in world.skills() if not said.startswith(("slice", "examine", "help")))


def test_lessons_have_homes_as_large_as_real_rooms() -> None:
    """Some homes of the lessons have a dozen and more pieces of one kind, and no goal of theirs is in another split."""
    homes = [read(room_task(9, kind, number).data["problem"]) for number in range(12) for kind in KINDS]
    most = [max(Counter(kind_of(place) for place in home.places).values()) for home in homes]
    assert max(most) >= 12 and min(most) <= 4
    assert all(in_split(f"{home.aim.kind} {home.aim.thing} {home.aim.place}", "train") for home in homes)


def test_an_executor_tries_what_takes_one_search_and_begins_the_rest() -> None:
    """In ADaPT a task of one thing is done without a plan as far as forty steps reach. Of two things the executor takes
    the first; the plan goes on with it in hand, and no executor gives up without an act."""
    tree, world = load("adapt"), AlfWorld(Rules())
    alone = []
    for kind in KINDS:
        for number in range(6):
            taught = teach(tree, world, room_task(9, kind, number), teacher)
            assert taught.verdict.met == taught.verdict.total
            planned = any(ORDER in d.text[begin:end] for d in taught.documents for begin, end in d.learn)
            assert planned or kind != KINDS[5]
            alone.append(kind != KINDS[5] and not planned)
            given_up = [d.text for d in taught.documents if d.text.endswith("Act: failure\n")]
            assert all(text.count("\nAct: ") > 1 + text.count("\nAct: do") for text in given_up)
    assert sum(alone) >= 20


def test_a_thought_names_one_place_of_a_kind() -> None:
    """A search in a room with many cabinets is thought of in a line of at most one place of each kind."""
    tree, world = load("adapt"), AlfWorld(Rules())
    lines = [
        line
        for number in range(6)
        for d in teach(tree, world, room_task(9, KINDS[0], number), teacher).documents
        for line in d.text.split("\n")
        if line.startswith("Think: ") and " may be at " in line
    ]
    for line in lines:
        kinds = [kind_of(place.strip(" .")) for place in line.partition(" may be at ")[2].split(",")]
        assert len(kinds) == len(set(kinds))
    assert lines
