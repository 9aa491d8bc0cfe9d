"""Lessons of attempts that are made again, and of a planner that never looks."""

from __future__ import annotations

import re
from functools import partial
from random import Random

from bt_envs.house.suite import SUITE, load_content
from bt_envs.house.tasks import Errand
from bt_lab.distill.documents import Document
from bt_runtime import load
from bt_runtime.agents.prompt import agent_prompt, system_text
from bt_runtime.agents.story import StoryStep
from bt_runtime.agents.verify import ASKED, MOST_DEEDS
from recipes.starter.errand import meant
from recipes.starter.house import people, tour
from recipes.starter.house import teacher as house
from recipes.starter.house.deeds import judgements
from recipes.starter.house.homes import make_lesson_task
from recipes.starter.house.phrasing import ways
from recipes.starter.house.trials import lessons, tours
from recipes.starter.judge import STILL, doubted, judged, judges
from recipes.starter.lesson import Slips, teach
from recipes.starter.reflection import REFLECTS
from recipes.starter.room_judge import MISSING
from recipes.starter.seen import read

GOAL = "Do this.\n\nYour task is to: put the apple on the kitchen table\n"
APPLE = tour.Errand("apple", 1, "on", "kitchen table")
HOME = (
    "You are in the house, and there are 2 rooms: kitchen (1), bedroom (1). You are in the middle of a kitchen (1). "
    "Looking quickly around the room, you see fridge (1), kitchen table (1)."
)


def test_a_teacher_that_is_shown_nothing_brings_most_in_the_thirty_acts_that_it_has() -> None:
    tree, world = load("lota"), SUITE.open()
    told = [teach(tree, world, task, tour.teacher, recall=False) for task in SUITE.tasks(5, 30, "eval")]
    assert sum(t.verdict.met == t.verdict.total for t in told) >= 24
    assert all(t.decisions >= 29 or t.verdict.met == t.verdict.total for t in told)  # else it was only the time


def test_of_what_it_does_the_going_on_is_mostly_learnt_from_where_it_says_which_place_is_next() -> None:
    found = [d for t in lessons(3, 20) for d in t.documents if d.kind == "house lota"]
    said = [(d.text[:a].splitlines()[-1], d.text[a:b]) for d in found for a, b in d.learn]
    after = [answer for before, answer in said if before.startswith("Act: open ")]
    assert found
    assert sum(answer.startswith("Act: go to") for answer in after) < 0.3 * len(after)
    onward = [answer for before, answer in said if before in ("Act: go to", "Act: open")]
    assert len(onward) > len(after)
    assert all(answer.startswith(" ") and answer.endswith("\n") for answer in onward)


def test_a_planner_that_is_shown_nothing_never_learns_to_give_up() -> None:
    found = [d for t in lessons(3, 30) for d in t.documents if d.kind == "house lota"]
    assert found
    assert not [d for d in found if d.text.rstrip().endswith("Act: failure")]
    ended = f"{GOAL}{HOME}\nAct: go to fridge 1\nAct: failure\n"
    document = Document("house lota", ended, ((ended.index("Act: failure"), len(ended)),))
    assert not tour.thinned(document, Random(1), [APPLE])


def test_whether_it_goes_on_or_is_done_after_something_was_put_down_is_learnt() -> None:
    begun = f"{GOAL}{HOME}\nAct: pick up apple 1\nAct: go to kitchen table 1\nAct: put down apple 1\n"
    onward = f"{begun}Act: go to fridge 1\n"
    document = Document("house lota", onward, ((len(begun), len(onward)),))
    two = [APPLE._replace(amount=2)]
    assert all(tour.thinned(document, Random(n), two) == [document] for n in range(20))
    elsewhere = Document("house lota", f"{onward}Act: go to sink 1\n", ((len(onward), len(onward) + 18),))
    assert {d.text[d.learn[0][0] :] for n in range(9) for d in tour.thinned(elsewhere, Random(n), two)} == {" sink 1\n"}


def test_in_a_short_document_all_that_is_learnt_is_what_follows_on_what_was_put_down() -> None:
    found = [d for t in lessons(3, 30) for d in t.documents if d.kind == "house lota brought"]
    assert len(found) > 20
    assert all(document.learn for document in found)
    firsts = set()
    for document in found:
        for begin, end in document.learn:
            before, answer = document.text[:begin].splitlines()[-1], document.text[begin:end]
            assert before.startswith(("Act: put down ", "Act: close ", "Act: turn on "))
            firsts.add(answer.split()[1])
        assert document.text.endswith("\nAct: done\n")
    assert firsts == {"go", "put", "close", "turn", "done"}
    many = [document.text.count("\nAct: put down ") for document in found]
    assert max(many) > 4
    assert sum(many) > 2 * len(many)
    systems = {document.text.partition("\n\n")[0] for document in found}
    assert len(systems) == 1  # nothing of it is cut off
    assert all(
        f"Your task is to: {read(document.text).goal}\nYou are in the house" in document.text for document in found
    )


def test_a_planner_that_is_shown_nothing_brings_one_thing_at_a_time_and_goes_back_to_where_it_took_it() -> None:
    found = [d for t in lessons(3, 20) for d in t.documents if d.kind == "house lota"]
    answers = [
        d.text[a:b] for d in found for a, b in d.learn if d.text[:a].splitlines()[-1].startswith("Act: pick up ")
    ]
    assert answers
    assert not [answer for answer in answers if answer.startswith("Act: pick up ")]


def test_a_planner_that_strays_is_taught_the_way_back() -> None:
    tree, world = load("lota"), SUITE.open()
    tasks = [make_lesson_task(3, n) for n in range(12)]
    met = passed = 0
    for task in tasks:
        errands, rng = meant(task), Random(task.id)
        slips = Slips(0.15, rng, astray=partial(tour.astray, told=errands, rng=rng))
        taught = teach(tree, world, task, partial(tour.teacher, told=errands), recall=False, slips=slips)
        met += taught.verdict.met == taught.verdict.total
        acts = sum(d.text.count("\nAct: ") - 1 for d in taught.documents)
        passed += acts > sum(len(d.learn) for d in taught.documents)
    assert met >= 4
    assert passed >= 8


def test_what_failed_is_noted_with_the_places_of_things_and_the_next_attempt_goes_straight_there() -> None:
    tree, world = load("reflexion"), SUITE.open()
    task = SUITE.tasks(5, 1, "eval")[0]
    taught = teach(tree, world, task, house.teacher, recall=False, slips=Slips(0.0, Random(1), 0.08))
    noted = [d.text[a:b] for d in taught.documents if REFLECTS in d.text for a, b in d.learn]
    later = [d.text for d in taught.documents if "From earlier attempts at this task you know:\n" in d.text]
    assert noted
    assert later
    found = [line for line in noted if " is near " in line]
    assert found
    first = found[0].strip().split(", ")[0].split(". ")[0]
    assert f"- {first}" in later[-1] or first in later[-1]
    assert f"Think: {first}" in later[-1]


def test_a_reflection_names_what_was_found_and_what_was_not() -> None:
    goal = "Your task is to: Put the apple and the wine on the kitchen table.\n"
    opening = (
        "You are in the house, and there are 1 rooms: kitchen (1). You are in the middle of a kitchen (1). "
        "Looking quickly around the room, you see fridge (1), kitchen table (1).\n"
    )
    steps = [
        StoryStep("act", "go to fridge 1", "You arrive at the fridge (1). The fridge (1) is open. You see apple (1)"),
        StoryStep("act", "pick up apple 1", "You pick up apple. You hold apple (1)."),
    ]
    story = goal + opening + "".join(f"{step.written()}\n" for step in steps) + "Act: failure\n"
    prompt = f"{REFLECTS} In one line.\n\n{story}\nThis attempt ended: failure.\nNext time:"
    assert house.teacher(read(prompt), ()) == "Next time: apple 1 is near fridge 1 in kitchen 1. Still to find: wine.\n"


def test_the_next_attempt_looks_first_where_the_one_before_did_not() -> None:
    goal = "Your task is to: Put the wine on the kitchen table.\n"
    opening = HOME
    thought = StoryStep("think", "wine is not in kitchen 1.")
    prompt = f"{REFLECTS} In one line.\n\n{goal}{opening}\n{thought.written()}\nAct: failure\n"
    said = house.teacher(read(f"{prompt}\nThis attempt ended: failure.\nNext time:"), ())
    assert said == "Next time: wine is not in kitchen 1. Still to find: wine.\n"
    system = system_text("agent", {"moves": ["think", "act"], "recall": False})
    noted, part = [said.removeprefix("Next time: ").strip()], "move the wine on the kitchen table."
    steps = [StoryStep("think", part), StoryStep("think", f"Part 1: {part}")]
    for notes, rooms in ((noted, "bedroom 1, kitchen 1"), ([], "kitchen 1, bedroom 1")):
        goal = "Put the wine on the kitchen table."
        text = agent_prompt(system, goal, opening, steps, notes=notes).text()
        assert house.teacher(read(text), ("done", "failure")) == f"Think: I look for wine in {rooms}."


def test_the_same_numbers_give_the_same_trials_wherever_they_begin() -> None:
    later = [t.documents for t in lessons(4, 2, 6)]
    assert [t.documents for t in lessons(4, 3, 5)][-len(later) :] == later


def test_after_a_plan_that_was_not_its_own_was_refused_a_teacher_says_its_own() -> None:
    goal = "move the apple on the kitchen table"
    refused = StoryStep("expand", f"sequence:\n- {goal}", "This plan cannot be used: it is the goal above it again.")
    own = "Expand:\nsequence:\n- find and pick up the apple\n- go to the kitchen table and put down the apple on it"
    assert says(goal, [refused]) == own
    again = StoryStep("expand", own.removeprefix("Expand:\n"), refused.observation)
    assert says(goal, [refused, again]) == "Act: failure"


def says(goal: str, steps: list[StoryStep]) -> str:
    home = "You are in the house, and there are 1 rooms: kitchen (1). You are in the middle of a kitchen (1)."
    text = agent_prompt(system_text("agent", {"moves": ["think", "act", "expand"], "recall": False}), goal, home, steps)
    return house.teacher(read(text.text()), ("done", "failure"))


def test_a_slip_may_be_a_plan_that_is_refused_and_only_what_follows_is_learnt() -> None:
    tree, world, found = load("reactree"), SUITE.open(), []
    for number, task in enumerate(SUITE.tasks(5, 3, "eval")):
        found += teach(tree, world, task, house.teacher, slips=Slips(0.3, Random(number))).documents
    told = [d for d in found if "This plan cannot be used" in d.text]
    assert told
    for document in told:
        assert not any(document.text.startswith("This plan cannot be used", b) for _, b in document.learn)
        assert any(a > document.text.index("This plan cannot be used") for a, _ in document.learn)


def test_people_put_a_task_in_lines_and_lists_and_in_no_words_of_an_evaluation() -> None:
    rng, content = Random(2), load_content()
    apart = {way for errand in content.errands.values() for text in errand.say for way in ways(text)}
    said = []
    for then in ("", "turned on"):
        errand = Errand("lesson", "in", "dishwasher", ("plate", "mug"), then, ())
        said += [people.put(["{things}"], errand, "the", rng, apart) for _ in range(400)]
    assert any("\n" in text for text in said)
    assert not apart & {text[:1].upper() + text[1:] for text in said}
    assert any(text.startswith(("turn on", "start")) for text in said)


def test_a_goal_of_several_lines_is_read_whole() -> None:
    task = next(t for n in range(40) if "\n" in (t := make_lesson_task(3, n)).goal)
    prompt = agent_prompt("Said first.", task.goal, HOME, [StoryStep("think", "So.")], notes=["a note"])
    seen = read(prompt.text())
    assert (seen.goal, seen.opening, seen.notes) == (task.goal, HOME, ("a note",))
    assert seen.steps == (StoryStep("think", "So."),)


def test_an_attempt_that_only_said_done_is_judged_reflected_on_and_made_again_with_what_was_missing() -> None:
    told = [t for t in lessons(3, 40) if any(d.kind == "house reflexion" for d in t.documents)]
    denied = [
        t for t in told if any(REFLECTS in d.text and "ended: done; it is not met" in d.text for d in t.documents)
    ]
    assert denied
    assert sum(t.verdict.met == t.verdict.total for t in told) >= 0.7 * len(told)
    for taught in denied:
        reflected = next(d for d in taught.documents if "ended: done; it is not met" in d.text)
        lacking = reflected.text.partition("; it is not met. ")[2].partition(MISSING)[2].partition(".\n")[0]
        assert reflected.text.endswith(f"Still to do: {lacking}.\n")
        judge = next(d for d in taught.documents if judges(d.text) and lacking in d.text)
        assert f"{MISSING}{lacking}.\nIs the goal met? no\n" in judge.text


def test_what_is_left_out_may_be_any_part_and_the_judge_says_so() -> None:
    found = [d for t in lessons(3, 40) for d in t.documents if d.kind.endswith("doubted")]
    assert len(found) > 5
    first = 0
    for document in found:
        thought = document.text.rpartition("Think:")[2]
        assert "none" in thought.partition(MISSING)[0]
        assert thought.endswith(".\nIs the goal met? no\n")
        assert "".join(document.text[a:b] for a, b in document.learn) == thought.replace("Is the goal met?", "")
        first += ": none" in thought.partition(". ")[0]
    assert 0 < first < len(found)


def test_a_list_of_deeds_is_judged_part_by_part_and_as_a_real_one_is() -> None:
    found = list(judgements(3, 60))
    met = [d for d in found if d.text.endswith(f"{ASKED} yes\n")]
    assert 0.3 < len(met) / len(found) < 0.6
    for document in found:
        prompt, _, thought = document.text.partition("Think:")
        thought = thought.partition(".\n")[0].strip()
        for part in thought.partition(MISSING)[0].split(". ")[:-1]:
            named, _, brought = part.partition(": ")
            for name in brought.removesuffix(".").split(", "):
                put, on = f"- put down {name}: You put down ", f"- turn on {name}: You turn on "
                assert name == "none" or put in prompt or on in prompt
            lacking = thought.partition(MISSING)[2].removesuffix(".").split(", ")
            assert (", none" in f", {brought}") == (named in lacking)
    assert any(", none." in d.text for d in found)  # one of two
    lines = {re.sub(r"[0-9]+", "1", line.partition(": ")[2])[:8] for d in found for line in d.text.split("\n- ")[1:]}
    world, task = SUITE.open(), SUITE.tasks(5, 1, "eval")[0]
    taught = teach(load("reflexion"), world, task, house.teacher, inputs={"judged": True})
    real = next(d for d in taught.documents if judges(d.text))
    assert {re.sub(r"[0-9]+", "1", line.partition(": ")[2])[:8] for line in real.text.split("\n- ")[1:]} <= lines
    system = real.text.partition("\n\nThe goal: ")[0]
    assert all(d.text.startswith(f"{system}\n\nThe goal: ") for d in found)


def test_judges_see_one_of_two_missing_a_start_alone_and_long_lists_that_are_whole() -> None:
    second = start = 0
    long, whole = 0, 0
    for document in judgements(5, 150):
        thought = document.text.rpartition("Think:")[2]
        parts = thought.partition(MISSING)[0].split(". ")
        lacking = [part for part in parts if ", none" in part.replace(":", ",")]
        second += len(lacking) == 1 and lacking[0].endswith(", none")
        start += len(lacking) == 1 and lacking[0].startswith((" close and turn on", "close and turn on"))
        if document.text.count("\n- ") >= 55:
            long, whole = long + 1, whole + (MISSING not in thought)
            assert document.text.count("\n- ") <= MOST_DEEDS
    assert second >= 6
    assert start >= 6
    assert long >= 15
    assert 0.4 < whole / long < 0.9


def test_the_next_attempt_says_first_what_a_note_says_is_missing() -> None:
    found = [d for t in lessons(3, 60) for d in t.documents if d.kind == "house reflexion begun"]
    assert len(found) >= 8
    moved = 0
    for document in found:
        *_, note = [note for note in read(document.text).notes if STILL in note]
        lacking = note.partition(STILL)[2].rstrip(".").split(", ")
        parts = document.text[slice(*document.learn[0])].removeprefix("Think: ").rstrip(".\n").split(", ")
        things = [part for part in lacking if not part.startswith("close and turn on")]
        assert sorted(parts[: len(things)]) == sorted(things)
        assert all(part in parts for part in lacking)
        assert not [part for part in parts[:-1] if part.startswith("close and turn on")]
        moved += 0 < len(things) < len(parts)
        if len(document.learn) > 2:
            said = document.text[slice(*document.learn[2])].removeprefix("Think: ").rstrip(".\n")
            assert f"- {said}" in document.text or f", {said}" in document.text
    assert moved >= 5


def test_a_thing_of_which_two_were_put_down_is_doubted_by_the_second() -> None:
    deeds = ["pick up plate 1: You pick up plate.", "put down plate 1: You put down plate in sink.",
             "put down plate 3: You put down plate in sink."]  # fmt: skip
    listed = "".join(f"- {deed}\n" for deed in deeds)
    prompt = f"You judge.\n\nThe goal: put two plates in the sink\nWhat was done, in this order:\n{listed}Here.\nThink:"
    told = {"put two plates in the sink": [tour.Errand("plate", 2, "in", "sink")]}
    said = [doubted(Document("x", f"{prompt} So.\n", ()), Random(n), told) for n in range(20)]
    ones = [
        document
        for document in said
        if document is not None and "plate 1, none. Missing: move 2 plates" in document.text
    ]
    assert len(ones) >= 8


def test_in_textcraft_the_judge_looks_into_the_bag() -> None:
    prompt = "You judge.\n\nThe goal: craft 2 oak planks\nCrafting commands:\n\nInventory: {}\nThink:"
    assert judged(prompt.format("[oak planks] (4)")) == "2 oak planks: 4. Nothing is missing."
    assert judged(prompt.format("[oak planks] (1)")) == "2 oak planks: 1. Missing: 2 oak planks."
    assert judged(prompt.format("[oak log] (1)")) == "2 oak planks: none. Missing: 2 oak planks."


def test_who_practises_as_lotas_planner_meets_no_other_strategy_and_the_same_tasks_again() -> None:
    met = [[exercise for exercise, _ in tours(3, count, first)] for count, first in ((3, 0), (1, 2))]
    assert {exercise.kind for exercise in met[0]} == {"house lota"}
    assert met[0][2].task == met[1][0].task != met[0][0].task
