"""Lessons of questions that take two pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest

from bt_envs.hotpotqa import invent
from bt_envs.hotpotqa.files import Question
from bt_envs.hotpotqa.wiki import Wiki
from bt_runtime import load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.story import StoryStep
from bt_runtime.types import Question as Ask
from recipes.starter.hotpotqa.questions import Asked, Hop, Maker, alike, bridged, compared, hop, made_by
from recipes.starter.hotpotqa.teacher import exercise, exercises, joined, lessons, teacher, years
from recipes.starter.lesson import sentences
from recipes.starter.seen import Seen, read

STRATEGIES = ("react", "adapt", "reactree", "plan_and_execute")
SPLITS = ("train", "dev", "eval")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_teacher_answers_what_is_asked(strategy: str) -> None:
    tree = load(strategy)
    for number in range(10):
        made = Maker(Random(f"asked {number}"))
        given = exercise(tree, strategy, "t", made.asked, Wiki.of(made.pages()), gives_up=number % 2 > 0)
        taught = given.taught()
        assert taught.verdict.met == 100, made.asked.text


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_teacher_answers_the_questions_of_the_world(strategy: str) -> None:
    tree = load(strategy)
    for kind in ("bridge", "comparison"):
        for index in range(8):
            question = invent.question("dev", 3, kind, index)
            given = exercise(tree, strategy, "t", understood(question), invent.wiki("dev", 3), gives_up=index % 2 > 0)
            assert given.taught().verdict.met == 100, question.text


def understood(question: Question) -> Asked:
    """A question of the world as one of the lessons'."""
    known = invent.encyclopedia("dev", 3)
    entries = {entry.name: entry for sort in known for entry in sort}
    text, (one, two) = question.text, (entries[title] for title in question.titles)

    def told(fact: str, entry: invent.Entry) -> Hop:
        born, year = known.towns[entry.of].name, str(entry.year)
        value = {"home": born, "born": year, "founded": year, "trade": entry.trait, "river": entry.river}[fact]
        return hop(fact, entry.name, value)

    if question.kind == "comparison":
        if "same town" in text:
            return alike(text, told("home", one), told("home", two))
        fact = "born" if "born" in text else "founded"
        return compared(text, told(fact, one), told(fact, two))
    if one in known.people:
        return bridged(text, told("home", one), told("river" if "river" in text else "founded", two))
    fact = "trade" if "trade" in text else "home" if "town" in text else "born"
    return bridged(text, made_by("author" if "author" in text else "founder", one.name, two.name), told(fact, two))


def documents() -> Iterator[str]:
    return (document.text for taught in lessons(11, 60) for document in taught.documents)


def test_no_lesson_has_a_title_a_question_or_a_page_of_an_evaluation() -> None:
    titles, asked, told = set(), set(), set()
    for split in SPLITS:
        for number in range(3):
            known = invent.encyclopedia(split, number)
            names = [entry.name for sort in known for entry in sort] + [town.river for town in known.towns]
            titles |= {*names}
            asked |= {masked(invent.question(split, number, kind, i).text, names) for kind in ("bridge", "comparison")
                      for i in range(12)}  # fmt: skip
            told |= {masked(sentence, names) for page in known.pages() for sentence in page.sentences}
    words = {word for title in titles for word in title.split() if word not in ("The", "of", "and")}
    words -= {trade.title() for trade in invent._TRADES}
    for text in documents():
        assert not words & {*re.findall(r"[A-Z]\w+", text)} - {"Daughters"}
        assert "and Daughters" not in text
    for number in range(200):
        made = Maker(Random(number))
        names = [*made.known, *(entry.name for entry in made.entries)]
        assert masked(made.asked.text, names) not in asked
        assert not {masked(s, names) for page in made.pages() for s in page.sentences} & told


def masked(text: str, names: list[str]) -> str:
    """A sentence with whatever its names and years are."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "_")
    return re.sub(r"(?:_ )?_(?:'s)?|\d+", "_", text)


def test_every_page_tells_what_is_found_on_it() -> None:
    for number in range(200):
        made = Maker(Random(number))
        pages = {page.title: " ".join(page.sentences) for page in made.pages()}
        for found in made.asked.hops:
            assert found.value in pages[found.page]


ASKED = bridged("Where is it?", made_by("author", "A Kite", "Jo Mar"), hop("home", "Jo Mar", "Tor"))
CAN = ("search[", "finish[", "done", "failure")


def says(*steps: StoryStep, goal: str = ASKED.text, opening: str = "") -> str:
    return teacher(Seen("", goal, opening, steps), CAN, ASKED)


def test_each_thought_says_what_was_found_and_what_is_searched_next() -> None:
    first = says()
    assert first == "Think: Search A Kite: who is the author?"
    thought, search = StoryStep("think", "so"), StoryStep("act", "search[A Kite]", "A Kite is by Jo Mar.")
    assert says(thought) == "Act: search[A Kite]"
    assert says(thought, search) == "Think: The author is Jo Mar. Search Jo Mar: where born?"
    missed = StoryStep("act", "search[A Kit]", "Could not find A Kit. Similar: ['A Kite'].")
    assert says(thought, missed) == "Act: search[A Kite]"


def test_the_second_part_of_a_plan_goes_on_from_the_page_that_is_open() -> None:
    answer, opened = "finish with the answer", "Question: Where is it?\nThe page Jo Mar is open."
    assert says(goal=answer, opening=opened) == "Think: Search Jo Mar: where born?"
    assert says(goal=answer) == says()


def test_sheets_keep_what_is_learnt_in_its_place() -> None:
    taught = [document for t in lessons(4, 12) for document in t.documents]
    several = [document for document in taught if document.text.count("Your task is to: ") > 1]
    assert several
    for document in several:
        assert all(document.text[a:b].startswith(("Think:", "Act:")) for a, b in document.learn)
    assert joined(taught[:1]) == taught[0]


def test_of_two_years_the_answer_is_the_page_whose_year_comes_first_or_last() -> None:
    text = years(Random(3)).text
    found = re.findall(r"Think: (.+): (\d+)\. (.+): (\d+)\. (\d+) is (before|after) (\d+)\. Finish with (.+)\.", text)
    assert len(found) == text.count("Question:") > 5
    for one, first, other, second, said, which, than, answer in found:
        assert (int(said) < int(than)) == (which == "before")
        assert {said, than} == {first, second}
        assert answer == (one if said == first else other)


def test_who_practises_is_set_right_where_a_title_is_misspelt() -> None:
    made, _ = next(exercises(1, 1))
    right = ScriptedModel(lambda ask: made.teacher(read(ask.prompt), sentences(ask)))
    assert made.practised(right).differences == []

    def misspelt(ask: Ask) -> str:
        said = made.teacher(read(ask.prompt), sentences(ask))
        return (
            said.replace("]", "x]") if said.startswith("Act: search") and "Could not find" not in ask.prompt else said
        )

    tried = made.practised(ScriptedModel(misspelt))
    assert tried.differences and tried.taught.verdict.met == 100
    for each, mended in zip(tried.differences, tried.mended, strict=True):
        assert each.said == each.wanted.replace("]", "x]")
        assert mended.text.endswith(each.wanted)


def test_the_same_numbers_give_the_same_lessons() -> None:
    first, again = ([t.documents for t in lessons(4, 3)] for _ in range(2))
    assert first == again and first
