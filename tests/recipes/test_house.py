"""The house's teacher and its lessons."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from random import Random

import pytest

from bt_envs.house.suite import SUITE, load_content
from bt_runtime import load
from bt_runtime.agents.prompt import agent_prompt, system_text
from bt_runtime.agents.story import StoryStep
from recipes.starter.errand import meant, understood
from recipes.starter.house.held import in_hand
from recipes.starter.house.homes import make_home, make_lesson_task, outline
from recipes.starter.house.housekeeping import MOST, OPENINGS, lessons, plans
from recipes.starter.house.phrasing import asked, phrase, ways
from recipes.starter.house.teacher import teacher
from recipes.starter.judge import judges
from recipes.starter.lesson import Slips, teach
from recipes.starter.seen import read
from recipes.starter.steps import ORDER

APART = ("reminded", "pair", "verified", "doubted")  # lessons besides


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


@pytest.mark.parametrize("strategy", ["adapt", "plan_and_execute"])
def test_as_a_planner_and_as_whoever_carries_a_step_out_it_reaches_nearly_every_goal(strategy: str) -> None:
    tree, world = load(strategy), SUITE.open()
    for often, least in ((0.0, 1.0), (0.05, 0.8)):
        tasks = SUITE.tasks(5, 15, "eval")
        told = [teach(tree, world, task, teacher, slips=Slips(often, Random(i))) for i, task in enumerate(tasks)]
        assert sum(t.verdict.met == t.verdict.total for t in told) >= least * len(tasks)
        assert often or not [d for t in told for d in t.documents if "cannot be used" in d.text]


HOME = (
    "You are in the house, and there are 2 rooms: kitchen (1), bedroom (1). You are in the middle of a kitchen (1). "
    "Looking quickly around the room, you see fridge (1), kitchen table (1)."
)


def says(role: str, goal: str, steps: list[StoryStep], *sentences: str, home: str = HOME) -> str:
    """What the teacher says there in ADaPT."""
    moves = ["expand"] if role == "plan_steps" else ["think", "act"]
    prompt = agent_prompt(system_text(role, {"moves": moves, "recall": False}), goal, home, steps)
    return teacher(read(prompt.text() + ("# Think:" if role == "plan_steps" else "")), sentences)


def test_a_planner_names_what_is_brought_in_turn_and_where_a_thing_may_be() -> None:
    assert says("plan_steps", "Put 2 apples and the bread on the kitchen table.", []).splitlines() == [
        " move 2 apples on the kitchen table, move the bread on the kitchen table.",
        "Step 1: find and pick up the apple",
        "Step 2: find and pick up another apple",
        "Step 3: go to the kitchen table and put down the apples on it",
        "Step 4: find and pick up the bread",
        "Step 5: go to the kitchen table and put down the bread on it",
        "Execution Order: (Step 1 AND Step 2 AND Step 3 AND Step 4 AND Step 5)",
    ]
    assert says("plan_steps", "find and pick up the apple", []).splitlines() == [
        " apple may be in kitchen 1, bedroom 1.",
        "Step 1: find and pick up the apple in kitchen 1",
        "Step 2: find and pick up the apple in bedroom 1",
        "Execution Order: (Step 1 OR Step 2)",
    ]


def test_an_executor_looks_for_the_first_thing_before_it_hands_on() -> None:
    """A task of several things is begun: the first is looked for and taken up, and then the executor gives up."""
    task = "Put 2 apples and the bread on the kitchen table."
    looks = "Think: I look for apple in kitchen 1, bedroom 1."
    assert (
        says("executor", task, [], "failure") == says("executor", "find and pick up the apple", [], "failure") == looks
    )
    taken = [
        StoryStep("think", looks.removeprefix("Think: "), "OK."),
        StoryStep("think", "apple may be at kitchen table 1, fridge 1.", "OK."),
        StoryStep("act", "go to kitchen table 1", "You arrive at the kitchen table (1). You see apple (1)."),
        StoryStep("act", "pick up apple 1", "You pick up apple. You hold apple (1)."),
    ]
    assert says("executor", "find and pick up the apple", taken, "failure") == "Act: done"
    assert says("executor", task, taken, "failure") == "Think: I have apple 1, the first of several."
    taken.append(StoryStep("think", "I have apple 1, the first of several.", "OK."))
    assert says("executor", task, taken, "failure") == "Act: failure"
    seen = [StoryStep("act", "recall location of apple", "You saw apple 1 near fridge 1 in kitchen 1.")]
    recalls = "recall location of apple", "recall location of Chinese food"
    assert says("executor", "find and pick up the apple", [], *recalls) == "Act: recall location of apple"
    assert (
        says("executor", "find and pick up the apple", seen, *recalls)
        == "Think: apple 1 is near fridge 1 in kitchen 1."
    )


def test_lists_are_also_said_without_articles() -> None:
    errand = load_content().errands["put_fridge"]
    said = {asked(errand, {"apple": 1, "wine": 1}, Random(seed))[0] for seed in range(60)}
    assert any("apple and wine" in text or "wine and apple" in text for text in said)


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
    monkeypatch.setattr("recipes.starter.house.homes._kept_apart", lambda: frozenset([first]))
    assert outline(make_home(Random(3), catalogue)) != first


def test_the_same_numbers_give_the_same_lessons_wherever_they_begin() -> None:
    assert make_lesson_task(4, 7) == make_lesson_task(4, 7)
    later = [t.documents for t in lessons(4, 2, 6)]
    assert [t.documents for t in lessons(4, 3, 5)][-len(later) :] == later


def test_beside_every_lesson_stand_openings_that_end_with_the_first_decisions() -> None:
    taught = [t for t in lessons(4, 3) if not any(each.kind.endswith(APART) for each in t.documents)]
    openings = [t for number, t in enumerate(taught) if number % (1 + OPENINGS)]
    assert len(openings) == 3 * OPENINGS
    assert all(t.decisions <= 4 and len(t.documents) <= 2 for t in openings)
    assert all(t.verdict.met < t.verdict.total for t in openings)


def test_of_a_task_all_agents_that_expand_are_kept_and_few_that_only_act() -> None:
    for taught in lessons(2, 12):
        planning = [document for document in taught.documents if plans(document)]
        assert len(taught.documents) - len(planning) <= MOST
        assert planning or "reactree" not in taught.documents[0].kind


def test_an_agent_that_acts_alone_is_taught_how_to_go_on_with_one_of_two_in_its_hand() -> None:
    pairs = [d for t in lessons(2, 20) for d in t.documents if d.kind == "house react pair"]
    both = [d for d in pairs if d.text.count("\nAct: pick up ") == 2]
    assert len(both) > 0.6 * len(pairs)
    for document in both:
        assert "\nThink: Another " in document.text
        begin, end = document.learn[-1]
        assert document.text[begin:end].startswith("Act: ")
        assert end == len(document.text)
        assert document.text.rfind("\nAct: pick up ") < begin


def test_two_of_a_kind_are_at_times_in_one_place() -> None:
    tasks = [make_lesson_task(9, number, pair=True) for number in range(40)]
    spots = [{spot for name, spot, _ in t.data["things"] if name == t.data["asked"]["things"][0][0]} for t in tasks]
    assert 5 < sum(len(each) == 1 for each in spots) < 35
    assert all(t.data["asked"]["things"][0][1] == 2 for t in tasks)


def test_every_strategy_that_is_compared_is_taught() -> None:
    kinds = {" ".join(d.kind.split()[:2]) for t in lessons(2, 20) for d in t.documents}
    assert kinds == {"house reactree", "house react", "house adapt", "house plan_and_execute", "house verified"}


HAND = "\nNow the task at hand.\n"


def test_in_some_lessons_agents_are_told_what_those_of_other_homes_did_and_only_their_own_answers_are_learnt() -> None:
    told = [d for t in lessons(4, 8) for d in t.documents if d.kind.endswith("reminded") and HAND in d.text]
    assert told
    for document in told:
        examples, _, own = document.text.partition(HAND)
        assert examples.partition("\n\n")[2].startswith("Earlier tasks, and how they went:\n\nExample 1\nYour ")
        assert min(start for start, _ in document.learn) > len(examples)
        home = re.compile(r"You are in the house, and there are [^.]*\.[^.]*\.[^.]*\.")
        assert set(home.findall(examples)).isdisjoint(home.findall(own))


def test_what_they_are_told_is_what_a_memory_finds_near_their_goals_and_at_times_far_from_it() -> None:
    told = [d for t in lessons(4, 14) for d in t.documents if HAND in d.text]
    goals = re.compile(r"Your task is to: (.*)")
    firsts = [(goals.search(d.text)[1], goals.findall(d.text.partition(HAND)[2])[0]) for d in told]  # type: ignore[index]
    alike = [len({*a.split()} & {*b.split()}) / len({*a.split()} | {*b.split()}) for a, b in firsts]
    assert max(alike) == 1.0
    assert min(alike) < 0.3


def test_a_lesson_tells_an_agent_whether_it_can_ask_a_memory() -> None:
    for document in (d for t in lessons(4, 12) for d in t.documents if not d.kind.endswith("instruct")):
        asks = [document.text[a:b] for a, b in document.learn if document.text.startswith("Act: recall", a)]
        system = document.text.partition("\n\n")[0]
        assert not asks or "Act: recall location of a thing" in system


def test_what_is_learnt_is_just_what_the_teacher_said() -> None:
    for taught in lessons(2, 12):
        for document in (d for d in taught.documents if not judges(d.text)):
            for start, end in document.learn:
                answer = document.text[start:end]
                assert answer.startswith(("Think: ", "Act: ", "Expand:\n")) or document.text[:start].endswith(
                    "# Think:"
                )
                assert answer.endswith(("\n", ")"))


def test_whoever_judges_by_what_was_done_says_what_the_world_says_however_early_it_ended() -> None:
    tree, world = load("reactree_verified"), SUITE.open()
    answers = Counter[str]()
    for number in range(10):
        task = make_lesson_task(31, number)
        errands = meant(task)
        early = Slips(0.02, Random(number), early=0.02)
        taught = teach(tree, world, task, partial(teacher, told=errands), slips=early, told=errands)
        judgements = [d.text.rpartition("Is the goal met?")[2].strip() for d in taught.documents if judges(d.text)]
        told_all = not any("earlier left out)" in d.text for d in taught.documents)
        assert not told_all or (judgements[-1] == "yes") == (taught.verdict.met == taught.verdict.total)
        answers.update(judgements)
    assert min(answers["yes"], answers["no"]) > 1


def test_what_is_done_after_a_judgement_is_what_it_says_is_missing() -> None:
    taught = [t for t in lessons(6, 12) if any(judges(d.text) for d in t.documents)]
    again = [d.text for t in taught for d in t.documents if "- It was worked at before" in d.text]
    assert again
    for text in again:
        wanted = text.partition("Missing: ")[2].partition(".\n")[0].split(", ")
        plan = text.partition("Expand:\n")[2]
        assert plan.count("\n- ") == len(wanted) or len(wanted) == 1
        assert len(wanted) == 1 or all(f"- {goal}\n" in plan for goal in wanted)


def test_an_agent_that_acts_alone_lists_all_parts_first_and_says_that_one_more_of_a_kind_is_wanted() -> None:
    tasks = (make_lesson_task(3, number) for number in range(40))
    task = next(t for t in tasks if len(meant(t)[t.goal]) > 1 and any(e.amount == 2 for e in meant(t)[t.goal]))
    told = meant(task)
    taught = teach(load("react"), SUITE.open(), task, partial(teacher, told=told))
    said = [step.text for step in read(taught.documents[-1].text).steps if step.move == "think"]
    parts = [errand.goal() for errand in told[task.goal]]
    assert said[0] == f"{', '.join(parts)}."
    assert [text for text in said if text.startswith("Part ")] == [f"Part {n}: {p}." for n, p in enumerate(parts, 1)]
    assert any(text.startswith("Another ") for text in said)


def test_beside_those_with_empty_hands_stand_the_same_with_the_thing_in_hand() -> None:
    """Who plans leaves it out and says all else as before; who is asked for it is done, and who is asked for another
    one looks for it."""
    made = Counter[str]()
    for document in (document for taught in lessons(71, 12) for document in taught.documents):
        first = document.text[slice(*document.learn[0])]
        for other in in_hand(document):
            seen, answer = read(other.text[: other.learn[0][0]]), other.text[slice(*other.learn[0])]
            thing = re.findall(r"You hold ([a-z ]+) \(\d\)\.", seen.opening)[-1]
            if ORDER in seen.system:
                steps, had = (re.findall(r"Step \d+: (.*)", text) for text in (answer, first))
                assert [step for step in had if step != f"find and pick up the {thing}"] == steps != had
                made["plans"] += 1
            else:
                assert answer == "Act: done\n" if seen.goal == f"find and pick up the {thing}" else "done" not in answer
                made[seen.goal.split()[4]] += 1
    assert min(made[each] for each in ("plans", "the", "another")) > 3, made


def test_a_plan_begins_with_what_is_held() -> None:
    """What is in a hand already is not looked for again."""
    task = "Put 2 apples and the bread on the kitchen table."
    assert says("plan_steps", task, [], home=f"{HOME} You hold apple (1).").splitlines()[1:4] == [
        "Step 1: find and pick up another apple",
        "Step 2: go to the kitchen table and put down the apples on it",
        "Step 3: find and pick up the bread",
    ]
    both = says("plan_steps", task, [], home=f"{HOME} You hold apple (1), bread (2).")
    assert "find and pick up the" not in both and "put down the bread on it" in both
