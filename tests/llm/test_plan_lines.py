"""Plans of numbered steps and of lists, held by a grammar: whatever is written is read, within its limits."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_runtime import Budget
from bt_runtime.agents.plan_text import Group, goals, read_plan
from bt_runtime.language.emit.dialect import PlanLimits
from bt_runtime.llm.decoding.gbnf import of_grammar
from bt_runtime.llm.decoding.grammar import accepts
from bt_runtime.llm.decoding.plan_lines import listed, numbered

WHOLE = PlanLimits(Budget().levels, Budget().width, Budget().length)
SMALL = PlanLimits(depth=2, width=3, string=20)
TAUGHT = [  # as the shipped model was taught to write them (recipes/starter/textcraft/teacher.py)
    " A rod takes 2 sticks.\nStep 1: craft 2 stick\nStep 2: complete 1 rod\nExecution Order: (Step 1 AND Step 2)",
    " No recipe makes rod.\nStep 1: get 1 rod",
    " easy.\nStep 1: first half\nStep 2: second half\nExecution Order: (Step 1 AND Step 2)\n",
    "\nStep 1: a\nStep 2: b\nStep 3: c\nExecution Order: (Step 1 AND (Step 2 OR Step 3))",
]


@pytest.mark.parametrize("text", TAUGHT)
def test_what_the_shipped_model_was_taught_is_in_the_language(text):
    assert accepts(numbered(WHOLE), text)


@pytest.mark.parametrize(
    "goal", ["öffne die Tür", "打开冰箱", "открой окно", "βρες το μήλο", "use glue #2: the strong one"]
)
def test_a_part_is_said_in_any_script(goal):
    assert accepts(numbered(WHOLE), f" ok\nStep 1: {goal}\nStep 2: b\nExecution Order: Step 1 OR Step 2")
    assert accepts(listed(WHOLE), f"- control flow: fallback\n- subgoals: {goal}, b")


@pytest.mark.parametrize(
    "text",
    [
        " a thought\n\nStep 1: a",
        " x\nStep 2: a",
        " x\nStep 1: a\nStep 3: b",
        " x\nStep 1: \nStep 2: b",
        " x\nStep 1: a\nExecution Order: Step 2",
        " x\nStep 1: a\nStep 2: b\nExecution Order: (Step 1 AND Step 2",
        " x\nStep 1: a\nStep 2: b\nStep 3: c\nStep 4: d",
        f" x\nStep 1: {'a' * 21}",
        " x\nStep 1: a\nExecution Order: (((Step 1)))",
        " just a thought",
        "",
    ],
)
def test_numbers_brackets_and_limits_are_kept(text):
    assert not accepts(numbered(SMALL), text)


@pytest.mark.parametrize(
    "text",
    [
        "- control flow: always\n- subgoals: a, b",
        "- control flow: sequence\n- subgoals: a, b, c, d",
        "- control flow: sequence\n- subgoals: a,, b",
        f"- control flow: sequence\n- subgoals: {'a' * 21}",
        "- control flow: sequence",
    ],
)
def test_a_list_has_a_known_control_flow_and_as_many_parts_as_are_allowed(text):
    assert not accepts(listed(SMALL), text)


def order(dice: random.Random, count: int, depth: int) -> str:
    def one() -> str:
        if depth and dice.random() < 0.4:
            return f"({order(dice, count, depth - 1)})"
        return f"Step {dice.randint(1, count)}"

    ways = [" AND ".join(one() for _ in range(dice.randint(1, count))) for _ in range(dice.randint(1, count))]
    return " OR ".join(ways)


def test_two_hundred_random_orders_are_accepted_and_read():
    dice, grammar = random.Random(5), numbered(SMALL)
    for _ in range(200):
        count = dice.randint(1, 3)
        steps = "".join(f"Step {n}: part {n}\n" for n in range(1, count + 1))
        text = f" why\n{steps}Execution Order: {order(dice, count, SMALL.depth)}"
        assert accepts(grammar, text), text
        assert isinstance(read_plan("# Think:" + text), Group)


@pytest.mark.parametrize("grammar", [numbered(SMALL), listed(SMALL)], ids=["steps", "lists"])
def test_random_weights_write_plans_that_are_read(model, grammar):
    """Hot sampling: every finished answer is a plan of at most three short parts."""
    jobs = [model.write(f"Plan {n}:\n", grammar=grammar, temperature=1.3, seed=n, max_tokens=300) for n in range(20)]
    finished = [answer.text for job in jobs if (answer := job.wait(60)).ended == "grammar"]
    assert len(finished) >= 10
    for text in finished:
        plan = read_plan(text)
        assert all(0 < len(goal) <= SMALL.string for goal in goals(plan))


def test_they_can_be_said_in_llama_cpps_own_notation():
    for grammar in (numbered(WHOLE), listed(WHOLE)):
        assert of_grammar(grammar).startswith("root ::= start\n")
