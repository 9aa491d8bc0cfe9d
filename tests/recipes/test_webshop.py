"""WebShop's teacher, and its lessons in shops that are made up for each."""

from __future__ import annotations

import re
from functools import partial
from random import Random

import pytest

from bt_envs.webshop import invent
from bt_envs.webshop.catalogue import known
from bt_envs.webshop.suite import SUITE
from bt_runtime import load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.story import StoryStep
from bt_runtime.types import Question
from recipes.starter import data
from recipes.starter.exercise import Exercise
from recipes.starter.lesson import PLANNED, Taught, sentences, teach
from recipes.starter.seen import Seen, read
from recipes.starter.webshop.shops import Shop, exercises, lessons, made
from recipes.starter.webshop.teacher import Order, order_of, teacher

pytest.importorskip("rapidfuzz", reason="the extra webshop is not installed")
pytest.importorskip("snowballstemmer", reason="the extra webshop is not installed")

STRATEGIES = ["react", "adapt", "reactree", "plan_and_execute"]
RESULTS = (
    "[Back to Search] \nPage 1 (Total results: 9) \n[Next >] \n[B1Q0000001] \nArk Plain Mat \n$90.99 \n"
    "[B2Q0000002] \nArk Plain Mat \n$20.50 \n"
)
ITEM = "[Back to Search] \n[< Prev] \ncolor [tan][navy]\nArk Plain Mat \nPrice: $20.50 \n[Features] \n[Buy Now] "
ORDER = Order(("lined", "mat", "navy"), ("navy",), "40")


def shopped(strategy: str, split: str, count: int) -> list[Taught]:
    """The teacher in a shop of the suite's."""
    catalogue, tree = invent.catalogue(split, 0), load(strategy)
    told = []
    for task in SUITE.tasks(0, count, split):  # type: ignore[arg-type]
        product = catalogue.product(str(task.data["asin"]))
        assert product is not None
        order = order_of(task, product.query.removesuffix("s"))
        told.append(teach(tree, Shop(lambda _: catalogue), task, partial(teacher, order=order), decisions=100))
    return told


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_teacher_buys_what_is_asked_for_in_the_suites_own_shop(strategy: str) -> None:
    told = shopped(strategy, "dev", 12)
    assert sum(t.verdict.met == t.verdict.total for t in told) >= 11
    came = [d.text for t in told if t.verdict.met == t.verdict.total for d in t.documents]
    assert not [text for text in came if "Invalid action" in text or "cannot be used" in text]


def test_nearly_all_lessons_come_out_well_and_are_short() -> None:
    given = [exercise._replace(slips=None).taught() for exercise, _ in exercises(3, 30)]
    assert sum(t.verdict.met == 100 for t in given) >= 27
    assert max(len(d.text) for t in given for d in t.documents) < 3_000


def test_no_lesson_has_a_product_an_instruction_or_a_wording_of_an_evaluation() -> None:
    shop, words = known(), data.read("webshop/shop_words")
    assert not {*words["things"]} & {*shop["things"]}
    assert not {*words["qualities"]} & {*shop["qualities"]}
    values = {value for each in words["options"].values() for value in each}
    assert not values & {*shop["colours"], *shop["sizes"]}
    assert not {*words["starts"]} & {start for starts in shop["starts"].values() for start in starts}
    assert not {*words["ends"]} & {*shop["ends"]}
    sold = [p for split in SUITE.splits for p in invent.products(split, 0)]  # type: ignore[misc]
    names, titles = {p.asin for p in sold}, {p.title for p in sold}
    said = {task.goal for split in SUITE.splits for task in SUITE.tasks(0, 200, split)}
    for number in range(60):
        shop, task, _ = made(Random(number), "shop")
        products = shop.search(" ".join([*words["things"], *words["qualities"]]))
        assert len(products) >= 30
        assert not names & {p.asin for p in products} and not titles & {p.title for p in products}
        assert task.goal.lower() not in said
        assert not re.search(r"\bfind me\b|price lower than", task.goal.lower())


def test_what_is_wanted_is_told_in_the_order_of_the_instruction() -> None:
    for number in range(60):
        _, task, order = made(Random(number), "shop")
        places = [task.goal.lower().find(word) for word in order.words]
        assert min(places) >= 0 and places == sorted(places), task.goal
        assert order.limit in task.goal


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "Think: Wanted: lined, mat, navy, below 40."),
        ([StoryStep("act", "search[mat]", RESULTS)], "Think: B1Q0000001 costs 90.99, limit 40: too much. "
         "B2Q0000002 costs 20.50, limit 40: fine."),
        ([StoryStep("act", "search[mat]", RESULTS), StoryStep("act", "click[B1Q0000001]", ITEM)], ""),
        ([StoryStep("act", "search[mat]", RESULTS), StoryStep("think", "B2Q0000002 costs 20.50, limit 40: fine."),
          StoryStep("act", "click[B1Q0000001]", ITEM)], "Act: click[< Prev]"),
        ([StoryStep("act", "search[mat]", RESULTS), StoryStep("think", "B2Q0000002 costs 20.50, limit 40: fine."),
          StoryStep("act", "click[B2Q0000002]", ITEM)], "Think: Now navy, Buy Now."),
        ([StoryStep("act", "search[mat]", RESULTS), StoryStep("think", "B2Q0000002 costs 20.50, limit 40: fine."),
          StoryStep("act", "click[B2Q0000002]", ITEM), StoryStep("think", "Now navy, Buy Now."),
          StoryStep("act", "click[tan]", "You have clicked tan.")], "Act: click[navy]"),
    ],
)  # fmt: skip
def test_it_goes_on_from_wherever_somebody_got_to(steps: list[StoryStep], said: str) -> None:
    begun = [StoryStep("think", "Wanted: lined, mat, navy, below 40.")] if steps else []
    seen = Seen("", "a lined mat in navy, under 40 dollars", "Webshop \n[Search] ", (*begun, *steps))
    line = teacher(seen, [], ORDER)
    assert line == said or not said


def test_the_same_numbers_give_the_same_lessons() -> None:
    first, again = ([t.documents for t in lessons(4, 3)] for _ in range(2))
    assert first == again and first


def test_who_practises_is_not_set_right_where_it_searches_as_the_teacher_would() -> None:
    for exercise, _ in exercises(3, 8):
        exercise = exercise._replace(slips=None)

        def student(ask: Question, exercise: Exercise = exercise) -> str:
            said = exercise.teacher(read(ask.prompt), sentences(ask))
            return (
                said if ask.kind != "write" else said.removeprefix(next(o for o in PLANNED if ask.prompt.endswith(o)))
            )

        found = exercise.practised(ScriptedModel(student))
        assert not found.mended and found.taught.documents == exercise.taught().documents


def test_another_search_is_set_right_and_the_teachers_is_made() -> None:
    exercise = next(e for e, _ in exercises(3, 20) if e.kind.endswith("react"))._replace(slips=None, corrects=True)

    def student(ask: Question) -> str:
        said = exercise.teacher(read(ask.prompt), sentences(ask))
        return "Act: search[thing]" if said.startswith("Act: search[") else said

    found = exercise.practised(ScriptedModel(student))
    assert found.taught.verdict.met == 100 and len(found.mended) == 1
    assert found.mended[0].text.rpartition("Act: ")[2].startswith("search[")
