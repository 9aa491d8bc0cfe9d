"""The house's teacher and its lessons."""

from __future__ import annotations

import re
from random import Random

import pytest

from bt_runtime.agents.story import EXPAND
from bt_runtime.envs.house.suite import SUITE, load_content
from bt_runtime.run.run import load
from recipes.starter.errand import understood
from recipes.starter.homes import make_home, make_lesson_task, outline
from recipes.starter.house import teacher
from recipes.starter.housekeeping import MOST, OPENINGS, lessons
from recipes.starter.lesson import teach
from recipes.starter.phrasing import phrase, ways


@pytest.mark.parametrize("split", ["train", "eval"])
@pytest.mark.parametrize("recall", [True, False], ids=["with memory", "without memory"])
def test_a_teacher_that_reads_prompts_reaches_every_goal_by_reactree(split: str, recall: bool) -> None:
    tree, world = load("reactree"), SUITE.open()
    for task in SUITE.tasks(5, 40, split):
        taught = teach(tree, world, task, teacher, recall=recall)
        assert taught.verdict.met == taught.verdict.total, task.goal


def test_it_reaches_the_goal_in_one_go_as_well_when_there_is_time_enough() -> None:
    tree, world = load("react"), SUITE.open()
    for task in SUITE.tasks(5, 30, "eval"):
        taught = teach(tree, world, task, teacher)
        assert taught.verdict.met == taught.verdict.total, task.goal


def test_an_instruction_of_the_suite_is_understood_as_what_it_wants() -> None:
    catalogue = load_content().catalogue
    for task in SUITE.tasks(8, 300, "eval"):
        wanted = {(g["thing"], g["place"]): g["amount"] for g in task.data["goal"] if "thing" in g}
        found: dict[tuple[str, str], int] = {}
        for errand in understood(task.goal, catalogue):
            if errand.thing:
                found[errand.thing, errand.place] = found.get((errand.thing, errand.place), 0) + errand.amount
        assert found == wanted, task.goal


def test_homes_and_phrasings_of_lessons_are_none_of_the_evaluation() -> None:
    content = load_content()
    said = {way for errand in content.errands.values() for text in errand.say for way in ways(text)}
    rng = Random(1)
    assert said
    assert not said & {phrase(rng, way, runs) for way in ("on", "in") for runs in (False, True) for _ in range(2000)}
    kept = {
        outline({"rooms": [r.name for r in h.rooms], "fixtures": [[f.furniture.name, f.room] for f in h.fixtures]})
        for name, h in content.homes.items()
        if content.split[name] == "eval"
    }
    assert kept
    assert not kept & {outline(make_home(rng, content.catalogue)) for _ in range(500)}


def test_a_lesson_in_a_home_of_the_evaluation_is_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = load_content().catalogue
    first = outline(make_home(Random(3), catalogue))
    monkeypatch.setattr("recipes.starter.homes._kept_apart", lambda: frozenset([first]))
    assert outline(make_home(Random(3), catalogue)) != first


def test_the_same_numbers_give_the_same_lessons_wherever_they_begin() -> None:
    assert make_lesson_task(4, 7) == make_lesson_task(4, 7)
    later = [t.documents for t in lessons(4, 2, 6)]
    assert [t.documents for t in lessons(4, 3, 5)][-len(later) :] == later


def test_beside_every_lesson_stand_openings_that_end_with_the_first_decisions() -> None:
    taught = [t for t in lessons(4, 3) if not t.documents[0].kind.endswith("reminded")]
    openings = [t for number, t in enumerate(taught) if number % (1 + OPENINGS)]
    assert len(openings) == 3 * OPENINGS
    assert all(t.decisions <= 4 and len(t.documents) == 1 for t in openings)
    assert all(t.verdict.met < t.verdict.total for t in openings)


def test_of_a_task_all_agents_that_expand_are_kept_and_few_that_only_act() -> None:
    for taught in lessons(2, 12):
        expanding = [d for d in taught.documents if any(d.text.startswith(EXPAND, begin) for begin, _ in d.learn)]
        assert len(taught.documents) - len(expanding) <= MOST
        assert taught.documents[0] in expanding or "expand" not in taught.documents[0].text.splitlines()[1]


def test_in_some_lessons_agents_are_told_what_those_of_another_home_did_and_what_is_learnt_stays_the_same() -> None:
    taught = list(lessons(4, 12))
    told = [d for t in taught for d in t.documents if d.kind.endswith("reminded")]
    assert told
    for document in told:
        example, _, own = document.text.partition("\nNow the task at hand.\n")
        assert example.partition("\n\n")[2].startswith("Earlier tasks, and how they went:\n\nExample 1\nYour ")
        assert min(start for start, _ in document.learn) > len(example)
        home = re.compile(r"You are in the house, and there are [^.]*\.")
        assert set(home.findall(example)).isdisjoint(home.findall(own))


def test_a_lesson_tells_an_agent_whether_it_can_ask_a_memory() -> None:
    for document in (d for t in lessons(4, 12) for d in t.documents):
        asks = [document.text[a:b] for a, b in document.learn if document.text.startswith("Act: recall", a)]
        system = document.text.partition("\n\n")[0]
        assert not asks or "Act: recall location of a thing" in system


def test_what_is_learnt_is_just_what_the_teacher_said() -> None:
    for taught in lessons(2, 12):
        for document in taught.documents:
            for start, end in document.learn:
                answer = document.text[start:end]
                assert answer.startswith(("Think: ", "Act: ", "Expand:\n"))
                assert answer.endswith("\n")
