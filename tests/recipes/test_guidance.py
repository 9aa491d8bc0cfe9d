"""Lessons of a guide: of rules, homes and instructions that no evaluation has, and of what a prompt tells alone."""

from __future__ import annotations

import re
from random import Random

import pytest

from bt_envs.house.rules import PROCESSES, Rules, Way, describe
from bt_envs.house.suite import SUITE, load_content
from bt_lab.distill.documents import Document
from bt_runtime.agents import autoplan
from bt_runtime.agents.prompt import guided
from bt_runtime.agents.surroundings import RECALL
from recipes.starter.guide import appliance_facts as facts
from recipes.starter.guide import chores, follower, guidance, reviewer
from recipes.starter.guide.appliance_facts import Guide, Known
from recipes.starter.house.homes import outline
from recipes.starter.seen import read

FULL = Known((), (), "stove", "inside", "closed", "turned on", "", "guarded")
TAPPED = Known((), (), "sink", "held", "", "turned off", "faucet")


@pytest.fixture(scope="module")
def taught() -> list[Document]:
    return [document for lesson in guidance.lessons(1, 12) for document in lesson]


# apart from the evaluation -----------------------------------------------------------------------


def test_no_rule_of_a_lesson_is_one_of_the_evaluation() -> None:
    rulebook = load_content().rulebook
    held = {(p, rule.place, rule.way) for p, rules in rulebook.rules["eval"].items() for rule in rules}
    rng, told = Random(4), set()
    for number in range(0, guidance.RULES, 97):
        rules = guidance.house_rules(number)
        told |= {(process, rule.place, rule.way) for process, rule in rules.of.items()}
        for process in PROCESSES:
            wrong = guidance.wrongly(process, facts.of(process, rules), rng)
            told.add((process, wrong.use, Way(wrong.thing, wrong.door, wrong.power)))
    assert held
    assert not held & told


def test_what_worked_in_a_lesson_is_no_rule_of_the_evaluation(taught: list[Document]) -> None:
    rulebook = load_content().rulebook
    worked = re.compile(rf"^You ({'|'.join(PROCESSES)}) .+\nThink: (.+)$", re.MULTILINE)
    found = {
        (process, (known.use, *known.ways()))
        for document in taught
        for process, thought in worked.findall(document.text)
        if (known := facts.read(process, facts.split(thought))).use
    }
    held = set()
    for process, rules in rulebook.rules["eval"].items():
        for rule in rules:
            known = facts.of(process, Rules({process: rule}))
            held.add((process, (known.use, *known.ways())))
    assert found
    assert not found & held


def test_no_instruction_of_a_lesson_is_worded_as_one_of_the_suite() -> None:
    rng = Random(2)
    for process, chore in load_content().chores.items():
        kept = {text.replace("Put", "put").lower() for text in chore.say}
        said = {chores.sentence(process, rng).lower() for _ in range(4000)}
        assert len(said) > 500
        assert not said & kept


def test_homes_of_lessons_are_none_of_the_evaluation() -> None:
    content, rng = load_content(), Random(3)
    kept = {
        outline({"rooms": [r.name for r in h.rooms], "fixtures": [[f.furniture.name, f.room] for f in h.fixtures]})
        for name, h in content.homes.items()
        if content.split[name] == "eval"
    }
    rules = content.rulebook.draw(5, "train")
    made = [chores.make_lesson_chore("cool", rules, rng, "t") for _ in range(40)]
    assert kept
    assert not kept & {outline(task.data["house"]) for task in made}
    assert all(task.data["rules"] == made[0].data["rules"] for task in made)


# what is learnt ----------------------------------------------------------------------------------


def test_the_same_numbers_give_the_same_lessons_wherever_they_begin() -> None:
    assert [*guidance.lessons(3, 2, first=1)] == [*guidance.lessons(3, 3)][1:]


def test_all_sorts_of_answers_are_among_them(taught: list[Document]) -> None:
    assert {document.kind for document in taught} == {"guided react", "guided reflect", "guided rewrite"}
    answers = [d.text[start:end] for d in taught for start, end in d.learn]
    for part in ("Think: Step ", "Act: ", " Heat with ", " Step ", " The plan does not say ", " none.\n", "1. Find "):
        assert any(answer.startswith(part) or part in answer for answer in answers), part


def test_every_answer_follows_from_the_prompt_before_it(taught: list[Document]) -> None:
    recalls = [f"{RECALL}{min(load_content().catalogue.things)}"]
    for document in taught:
        for start, end in document.learn:
            prompt, answer = document.text[:start], document.text[start:end]
            if document.kind == "guided rewrite":
                assert reviewer.rewritten(prompt) == answer.rstrip("\n")
            elif document.kind == "guided reflect":
                assert f" {reviewer.part(prompt)}\n" == answer
            else:
                assert follower.teacher(read(prompt), recalls) == answer.rstrip("\n")


def test_answers_are_within_what_the_loop_lets_a_model_write(taught: list[Document]) -> None:
    for document in (each for each in taught if each.kind != "guided react"):
        for start, end in document.learn:
            lines = document.text[start:end].rstrip("\n").split("\n")
            assert max(map(len, lines)) <= 200 and len(lines) <= 12
            if document.kind == "guided rewrite":
                assert document.text.endswith("\n\n") and autoplan.numbered("\n".join(lines)) == "\n".join(lines)


# sentences and plans -----------------------------------------------------------------------------


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("split", ["train", "eval"])
def test_a_plan_tells_all_that_holds_in_a_house_and_is_read_as_it_was_meant(process: str, split: str) -> None:
    for seed in range(40):
        known = facts.of(process, load_content().rulebook.draw(seed, split))  # type: ignore[arg-type]
        assert Guide(process, facts.plan(process, known)).known == known


@pytest.mark.parametrize("known", [FULL, TAPPED, Known(("stove", "toaster"))], ids=["door", "tap", "of no use"])
def test_a_plan_in_other_words_is_read_the_same(known: Known) -> None:
    bare = facts.Known(known.useless, (), *[getattr(known, s) for s in ("use", "thing", "door", "power", "tap")])
    rng = Random(1)
    said = {guidance.reworded("heat", known, rng) for _ in range(20)}
    assert len(said) == 2
    assert all(Guide("heat", text).known == bare for text in said)


def test_the_rules_in_the_words_of_the_house_are_read_as_a_plan() -> None:
    rulebook = load_content().rulebook
    for seed in range(40):
        rules = rulebook.draw(seed, "eval")
        text = facts.numbered(describe(rules))
        for process in PROCESSES:
            known, right = Guide(process, text).known, facts.of(process, rules)
            assert (known.use, known.ways()) == (right.use, right.ways())


def test_what_was_shown_goes_before_what_was_believed() -> None:
    shown = Known(use="stove", thing="held", door="open")
    assert FULL.merged(shown) == Known((), (), "stove", "held", "open", "turned on", "", "guarded")
    assert FULL.merged(Known(("stove",))) == Known(("stove",))
    assert Known(("stove", "toaster")).merged(shown) == Known(("toaster",), (), "stove", "held", "open")


# acting with a guide -----------------------------------------------------------------------------

GOAL = "Place a hot apple on the sofa. Apple 1 is at kitchen table 1 in kitchen 1."
LOOK = (
    "You are in the house, and there are 2 rooms: kitchen (1), living room (1). You are in the middle of a kitchen "
    "(1). Looking quickly around the room, you see fridge (1), kitchen table (1), microwave oven (1), stove (1)."
)
HELD = [
    ("Think: {find}", "OK."), ("Act: go to kitchen table 1", "You arrive at the kitchen table (1). You see apple (1)"),
    ("Act: pick up apple 1", "You pick up apple. You hold apple (1)."),
]  # fmt: skip
AT_STOVE = [("Act: go to stove 1", "You arrive at the stove (1). The stove (1) is closed. You hold apple (1).")]


def said(plan: str, steps: list[tuple[str, str]]) -> str:
    find = f"Step 1: {facts.FIND}" if plan else facts.FIND
    told = "".join(f"{line.format(find=find)}\n{answer}\n" for line, answer in steps)
    prompt = f"{guided('You achieve a goal.', plan)}\n\nYour task is to: {GOAL}\n{LOOK}\n{told}"
    return follower.teacher(read(prompt), ())


def test_without_a_plan_it_tries_what_people_think_of_first_and_says_what_is_of_no_use() -> None:
    assert said("", HELD) == "Think: I try the microwave oven."
    tried = [
        *HELD, ("Think: I try the microwave oven.", "OK."),
        ("Act: go to microwave oven 1", "You arrive at the microwave oven (1). The microwave oven (1) is closed."),
        ("Act: heat apple 1 with microwave oven 1", "microwave oven cannot be used for heating."),
    ]  # fmt: skip
    assert said("", tried) == "Think: The microwave oven does not heat."
    assert said("", [*tried, ("Think: The microwave oven does not heat.", "OK.")]) == "Think: I try the stove."


def test_with_a_plan_it_names_each_step_that_it_is_at_and_does_it() -> None:
    plan = facts.plan("heat", Known(use="stove", thing="held", door="open"))
    done = [*HELD, ("Think: Step 2: Heat with the stove.", "OK."), *AT_STOVE]
    assert said(plan, HELD) == "Think: Step 2: Heat with the stove."
    assert said(plan, done) == "Think: Step 3: Hold the thing."
    done += [("Think: Step 3: Hold the thing.", "OK."), ("Think: Step 4: It must be open.", "OK.")]
    assert said(plan, done) == "Act: open stove 1"
    assert said(plan, [*done, ("Act: open stove 1", "You open stove. You see stove (1)")]) == (
        "Act: heat apple 1 with stove 1"
    )


def test_what_its_plan_rules_out_is_not_tried() -> None:
    plan = facts.plan("heat", Known(("microwave oven", "stove")))
    assert said(plan, HELD) == "Think: I try the fridge."


def test_where_the_world_contradicts_a_line_of_the_plan_the_world_is_right() -> None:
    plan = facts.plan("heat", Known(use="stove", thing="held", door="closed"))
    done = [
        *HELD, ("Think: Step 2: Heat with the stove.", "OK."), *AT_STOVE, ("Think: Step 3: Hold the thing.", "OK."),
        ("Think: Step 4: It must be closed.", "OK."), ("Act: heat apple 1 with stove 1", "stove 1 is closed."),
    ]  # fmt: skip
    found = "Heat with the stove. Hold the thing. It must be open."
    assert said(plan, done) == f"Think: {found}"
    assert said(plan, [*done, (f"Think: {found}", "OK.")]) == "Act: open stove 1"


@pytest.mark.parametrize("kind", PROCESSES)
def test_with_all_rules_in_its_plan_it_is_never_refused(kind: str) -> None:
    from bt_runtime import load
    from recipes.starter.lesson import teach

    tree, world = load("react"), SUITE.open(feedback="detailed")
    for rules in range(3):
        known = facts.of(kind, load_content().rulebook.draw(rules, "eval"))
        for task in SUITE.tasks(4, 6, "eval", [kind], rules=f"eval {rules}", hint=True):
            given = {"guide": facts.plan(kind, known)}
            taught = teach(tree, world, task, follower.teacher, inputs=given)
            assert taught.verdict.met == taught.verdict.total
            text = taught.documents[0].text
            assert "cannot be used" not in text and f"\nThink: {kind.capitalize()} with" not in text


# reflecting and rewriting ------------------------------------------------------------------------


def reflected(plan: str, told: str, part: str) -> str:
    story = f"Your task is to: {GOAL}\n{LOOK}\n{told}This attempt ended: done.\n"
    cue = {"Summary:": "", "Flaw:": "Summary: s\n", "Revision:": "Summary: s\nFlaw: f\n"}[part]
    return reviewer.part(f"System.\n\nThe plan was:\n{plan or autoplan.NONE}\n{story}{cue}{part}")


REFUSED = "Act: heat apple 1 with stove 1\nstove cannot be used for heating.\n"
SHUT = "Act: heat apple 1 with stove 1\nThe stove is closed.\n"


@pytest.mark.parametrize(
    ("known", "told", "summary", "flaw", "revision"),
    [
        (Known(), REFUSED, "No use: stove. Not done.", "The plan does not say what heats.", "The stove does not heat."),
        (Known(use="stove", thing="held"), REFUSED, "No use: stove. Not done.",
         "Step 2 is wrong: The stove does not heat.", "The stove does not heat."),
        (Known(use="stove", thing="held", door="closed"), SHUT, "Found: stove, held, open. Not done.",
         "Step 4 is wrong: It must be open.", "Heat with the stove. Hold the thing. It must be open."),
        (Known(use="stove", thing="held"), SHUT, "Found: stove, held, open. Not done.",
         "The plan does not say how to use the stove.", "Heat with the stove. Hold the thing. It must be open."),
        (Known(use="stove", thing="held", door="open"), "Act: heat apple 1 with stove 1\nYou heat apple with stove.\n",
         "Worked: stove, held, open. Not done.", "none.", "none."),
        (Known(), "Act: heat apple 1 with stove 1\nNothing happens.\n", "Nothing happened: stove. Not done.",
         "The plan does not say what heats.", "Nothing happens with the stove."),
    ],
    ids=["nothing known", "wrong appliance", "wrong door", "door missing", "all right", "terse"],
)  # fmt: skip
def test_a_reflection_says_what_the_world_has_answered_and_which_line_of_the_plan_it_touches(
    known: Known, told: str, summary: str, flaw: str, revision: str
) -> None:
    plan = facts.plan("heat", known)
    assert reflected(plan, told, "Summary:") == summary
    assert reflected(plan, told, "Flaw:") == flaw
    assert reflected(plan, told, "Revision:") == revision


def rewritten(known: Known, *reflections: dict[str, str]) -> str:
    goals = [{"goal": GOAL, "reached": False, **reflection} for reflection in reflections]
    return reviewer.rewritten(
        autoplan.rewriting("System.", "heat tasks in the house", facts.plan("heat", known), goals).text()
    )


def test_a_new_plan_holds_what_all_reflections_have_shown() -> None:
    one = {"summary": "s", "flaw": "f", "revision": "The toaster does not heat. The stove does not heat."}
    two = {"summary": "s", "flaw": "f", "revision": "Heat with the fridge. Hold the thing."}
    three = {"summary": "s", "flaw": "f", "revision": "Heat with the fridge. It must be open."}
    assert rewritten(Known(), one) == facts.plan("heat", Known(("toaster", "stove")))
    assert rewritten(Known(("toaster",)), one, two, three) == facts.plan(
        "heat", Known((), (), "fridge", "held", "open")
    )
    assert rewritten(FULL, {"summary": "s", "revision": "none."}) == facts.plan("heat", FULL)


def test_a_refuted_line_is_dropped_from_the_plan() -> None:
    assert rewritten(FULL, {"revision": "The stove does not heat."}) == facts.plan("heat", Known(("stove",)))
    shown = rewritten(FULL, {"revision": "Heat with the stove. It must be open."})
    assert "It must be open." in shown and "It must be closed." not in shown


def test_without_revisions_the_summaries_have_to_do() -> None:
    worked = {"summary": "No use: toaster. Worked: sink, held, faucet turned off. Done."}
    assert rewritten(Known(), worked) == facts.plan("heat", TAPPED)
    assert rewritten(Known(), {"summary": "No use: toaster. Not done."}) == facts.plan("heat", Known(("toaster",)))
    assert rewritten(Known(), {"summary": "Not done."}).startswith(f"1. {facts.FIND}\n")
