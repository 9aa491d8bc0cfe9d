"""Plans are read in three forms into one; what cannot be read says why to the model that wrote it."""

from __future__ import annotations

import re
import tarfile

import pytest

from bt_runtime import load
from bt_runtime.agents.expansion import as_yaml
from bt_runtime.agents.loops import same_goal
from bt_runtime.agents.plan_text import Group, PlannedAct, PlannedFail, PlannedGoal, Unreadable, goals, read_plan
from bt_runtime.language.fragment import load_fragment


def test_the_dialect_nests_control_nodes_subgoals_and_actions():
    plan = read_plan(
        """
        sequence:
        - fallback:
          - find and pick up the apple in kitchen 1
          - find and pick up the apple in living room 1
        - act: go to fridge 1
        - fail: it is not there
        """
    )
    fallback = Group(
        "fallback",
        (
            PlannedGoal("find and pick up the apple in kitchen 1"),
            PlannedGoal("find and pick up the apple in living room 1"),
        ),
    )
    assert plan == Group("sequence", (fallback, PlannedAct("go to fridge 1"), PlannedFail("it is not there")))


def test_reactrees_lists_become_one_group_and_the_last_and_is_dropped():
    plan = read_plan("- control flow: parallel\n- subgoals: move the wine, wash the cup, and feed the cat\n")
    assert plan == Group(
        "parallel", (PlannedGoal("move the wine"), PlannedGoal("wash the cup"), PlannedGoal("feed the cat"))
    )


def test_reactrees_subgoals_may_stand_on_lines_of_their_own_and_then_keep_their_commas():
    plan = read_plan("- control flow: sequence\n- subgoals:\n  1. find the cup, the plate\n  2. wash them\n")
    assert plan == Group("sequence", (PlannedGoal("find the cup, the plate"), PlannedGoal("wash them")))


FIGURE_8 = """
# Think: first look for the mug in likely places, then clean it, then put it away.
Step 1: find a mug on the countertop
Step 2: find a mug in the cabinet
Step 3: find a mug in the drawer
Step 4: clean the mug
Step 5: put the mug in the coffee machine
Execution Order: (Step 1 OR Step 2 OR Step 3) AND Step 4 AND Step 5
"""


def test_adapts_mixed_and_or_nests_as_its_figure_8_does():
    one, two, three = (
        PlannedGoal(f"find a mug {where}") for where in ("on the countertop", "in the cabinet", "in the drawer")
    )
    rest = (PlannedGoal("clean the mug"), PlannedGoal("put the mug in the coffee machine"))
    assert read_plan(FIGURE_8) == Group("sequence", (Group("fallback", (one, two, three)), *rest))


@pytest.mark.parametrize(
    ("order", "shape"),
    [
        ("(Step 1 AND Step 2)", "S(1,2)"),
        ("Step 1 OR (Step 2 AND Step 3)", "F(1,S(2,3))"),
        ("((Step 1 OR Step 2) AND (Step 3 OR Step 4))", "S(F(1,2),F(3,4))"),
        ("Step 1 AND Step 2 OR Step 3", "F(S(1,2),3)"),
        ("(((Step 1)))", "S(1)"),
        ("step 1 and step 2.", "S(1,2)"),
    ],
)
def test_execution_orders_nest_by_their_brackets_and_and_binds_tighter_than_or(order, shape):
    text = "".join(f"Step {i}: {i}\n" for i in range(1, 5)) + f"Execution Order: {order}"

    def shown(part):
        if isinstance(part, PlannedGoal):
            return part.text
        return {"sequence": "S", "fallback": "F"}[part.control] + f"({','.join(map(shown, part.parts))})"

    assert shown(read_plan(text)) == shape


CUP, PLATE = PlannedGoal("get the cup"), PlannedGoal("wash the plate")
WRITTEN = {
    "a thought and blank lines": "I need both.\n\nStep 1: get the cup\n\nStep 2: wash the plate\n\n"
    "Execution Order: (Step 1 AND Step 2)",
    "bold type": "**Step 1:** get the cup\n**Step 2:** wash the plate\n\n**Execution Order:** Step 1 AND Step 2",
    "headings": "### Step 1. get the cup\n### Step 2. wash the plate",
    "numbers": "Both, then.\n1. get the cup\n2. wash the plate\n",
    "brackets behind numbers": "1) get the cup\n2) wash the plate",
    "bullets": "My plan:\n- get the cup\n- wash the plate\n",
    "arrows": "Step 1: get the cup\nStep 2: wash the plate\nStep 1 -> Step 2",
    "an arrow in one sign": "Step 1: get the cup\nStep 2: wash the plate\nExecution Order: Step 1 → Step 2",
    "an order in words": "Step 1: get the cup\nStep 2: wash the plate\nExecution Order:\nStep 1, and then Step 2.",
    "bare numbers in the order": "Step 1: get the cup\nStep 2: wash the plate\nExecution Order: [1 AND 2]",
    "the wide colon": "Step 1：get the cup\nStep 2：wash the plate",
    "a fence": "```\nStep 1: get the cup\nStep 2: wash the plate\n```\nThat is all.",
    "reasoning": "<think>Step 1: no</think>\nStep 1: get the cup\nStep 2: wash the plate",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_numbered_steps_are_read_as_models_write_them(text):
    assert read_plan(text, form="steps") == Group("sequence", (CUP, PLATE))


DIALECT = {
    "a fence": "Sure:\n```yaml\nsequence:\n- get the cup\n- wash the plate\n```\nI hope it helps.",
    "a thought and an afterthought": "Both.\n\nsequence:\n  - get the cup\n\n  - wash the plate\n\nThat is all.",
    "a list of one": "- sequence:\n  - get the cup\n  - wash the plate",
    "numbers": "1. get the cup\n2. wash the plate",
    "lists in bold type": "**- control flow:** sequence\n- subgoals: get the cup, wash the plate\n\nNote that, well",
}


@pytest.mark.parametrize("text", DIALECT.values(), ids=DIALECT)
def test_a_plan_is_found_in_what_stands_around_it(text):
    assert read_plan(text) == Group("sequence", (CUP, PLATE))


@pytest.mark.parametrize("goal", ["öffne die Tür", "打开冰箱", "открой окно", "افتح الباب"])
def test_subgoals_are_read_in_any_script_and_told_apart(goal):
    other = f"{goal} 2"
    for text, form in (
        (f"sequence:\n- {goal}\n- {other}", "dialect"),
        (f"Step 1: {goal}\nStep 2: {other}", "steps"),
        (f"- control flow: sequence\n- subgoals: {goal}, {other}", "lists"),
    ):
        assert read_plan(text, form=form) == Group("sequence", (PlannedGoal(goal), PlannedGoal(other)))
    assert same_goal(goal, f" {goal} ") and not same_goal(goal, other)


@pytest.mark.parametrize("text", ["I need all of it on the table.", "- only this"])
def test_a_thought_is_no_step(text):
    with pytest.raises(Unreadable, match="names no steps"):
        read_plan(text, form="steps")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("sequence: []", "takes a list"),
        ("- a\n- b", "list stands here alone"),
        ("sequence:\n- a: b", "no `a`"),
        ("py:\n  class: os:system", "no `py`"),
        ("sequence: {children: [a], success: 3}", "takes a list"),
        ("sequence:\n- {act: go, fail: x}", "one key"),
        ("Step 1: a\nExecution Order: (Step 1 AND Step 7)", "step 7"),
        ("Step 1: a\nExecution Order: (Step 1 AND", "where a step should be"),
        ("Step 1: a\nExecution Order: Step 1)", "stray"),
        ("Execution Order: Step 1", "names no steps"),
        ("- control flow: always\n- subgoals: a, b", "none of sequence"),
        ("- control flow: sequence\n- subgoals: ,", "is empty"),
        ("sequence:\n  - a\n - b", "no YAML"),
        ("x" * 30_000, "too long"),
    ],
)
def test_what_cannot_be_read_is_told_in_words_for_the_model(text, says):
    with pytest.raises(Unreadable, match=re.escape(says)):
        read_plan(text)


def test_every_expansion_of_the_released_trajectories_is_read_and_becomes_a_valid_subtree(data, capsys):
    tree = load("reactree")
    seen, files, blocks = set(), 0, 0
    for archive in sorted((data / "reactree").glob("*.tar.gz")):
        with tarfile.open(archive) as tar:
            for member in tar:
                if not (member.isfile() and member.name.endswith(".txt")) or "sys_prompt" in member.name:
                    continue
                text = tar.extractfile(member).read().decode()
                files += 1
                for block in re.findall(r"^Expand:[ \t]*\n((?:.+\n?)*)", text, re.MULTILINE):
                    blocks += 1
                    plan = read_plan(block)
                    if plan in seen:
                        continue
                    seen.add(plan)
                    grafted = as_yaml(plan, "reactree", {}, tree.spec.registry)
                    spec = load_fragment(tree.loader(), grafted, tree.spec, "plan")
                    assert [s.kind.name for s in spec.walk() if s.kind.name == "tree"].count("tree") == len(
                        list(goals(plan))
                    )
    with capsys.disabled():
        print(f"\n{blocks} Expand blocks in {files} released files, {len(seen)} different plans: all valid subtrees")
    assert blocks > 2000


def test_an_execution_order_holds_for_steps_that_are_numbered_alone():
    """A thought, a blank line, `1.`, `2.` and the order of `Step 1` and `Step 2`."""
    text = " I need both.\n\n1. find the plate\n2. put it on the table\n\nExecution Order: (Step 2 OR Step 1)"
    plan = read_plan(text, form="steps")
    assert plan.control == "fallback" and list(goals(plan)) == ["put it on the table", "find the plate"]
