"""Whatever a model writes: nothing is raised, and nothing is built that the dialect does not allow."""

from __future__ import annotations

import random

import pytest

from bt_runtime import BtError, Budget, load
from bt_runtime.agents.expansion import Situation, as_yaml, objections
from bt_runtime.agents.plan_text import read_plan
from bt_runtime.language.fragment import load_fragment
from bt_runtime.testing import FAILURE

ALLOWED = {
    "sequence",
    "fallback",
    "parallel",
    "tree",
    "fail",
    "go_to",
    "pick_up",
    "put_down",
    "open",
    "close",
    "turn_on",
    "turn_off",
}
SEEDS = [
    "sequence:\n- find the cup\n- fallback:\n  - look left\n  - look right\n- act: go to fridge 1\n",
    "- control flow: sequence\n- subgoals: find the cup, wash the cup\n",
    "Step 1: find the cup\nStep 2: wash it\nExecution Order: (Step 1 AND Step 2)\n",
    "parallel: [a cup, {sequence: [b cup, c cup]}, {fail: no}]",
    "py: {class: 'os:system', args: {command: 'rm -rf /'}}\n",
    "sequence:\n- py:\n    class: subprocess:Popen\n    args: {args: [sh, -c, id]}\n",
    "sequence:\n- tree: {file: ../../../../etc/passwd}\n- tree: /etc/shadow\n",
    "sequence:\n- {act: go to fridge 1, when: '1 == 1'}\n- set: {goal: evil}\n",
    "sequence:\n- agent: {goal: more, max_steps: 999999}\n- plan: {goal: x, leaf: ../x}\n",
    'sequence:\n- "{goal.__class__.__mro__}"\n- "{{nested}} {9**9**9}"\n- "{"\n',
    "sequence: &a [*a, *a]\n",
    "a: &x [1]\nb: &y [*x,*x]\nc: [*y,*y]\n",
    "sequence:\n- !!python/object/apply:os.system ['id']\n- !!binary aGk=\n",
    "sequence:\n- find\x00cup\n- \u202egnp.exe\n- \ud83d\n".encode("utf-8", "replace").decode(),
    "sequence:\n" + "".join(f"- part {i}\n" for i in range(3000)),
    "sequence: [" * 500 + "x" + "]" * 500,
    "(" * 3000 + "Step 1" + ")" * 3000,
    "Step 1: x\nExecution Order: " + "(" * 3000 + "Step 1" + ")" * 3000,
    "Step 1: x\nExecution Order: " + " AND ".join(["Step 1"] * 1500),
    "act: sudo make me a sandwich\n",
    "act: open fridge 1; rm -rf /\n",
    "sequence:\n- act: {go_to: fridge}\n- fail: {a: b}\n- 12\n- true\n- null\n- 1e400\n",
    "sequence:\n  children:\n  - x\n  when: true\n  on_halt: {a: '{1/0}'}\n",
    "<<: {sequence: [a]}\nsequence: [b]\n",
    "? [sequence]\n: [a]\n",
    "---\nsequence: [a]\n---\nsequence: [b]\n",
    "sequence: [find the cup\n",
    "",
    "\t\n",
    "I would first look for the cup, then wash it.",
]
PIECES = [
    *(
        "- ",
        "\n",
        ": ",
        "{",
        "}",
        "[",
        "]",
        "sequence:",
        "py:",
        "act: ",
        "*a",
        "&a ",
        "!!python/name:os.system ",
        "\x00",
    ),
    *("\u2028", "'", '"', "#", "|", ">", "<<: ", "tree:", "../", "Step 1: ", "Execution Order: ", "(", ")", " AND "),
    *("control flow: ", "subgoals: ", "{{", "}}", "%", "@", "`", "  ", "\t"),
]


def mutated(rng: random.Random) -> str:
    text = rng.choice(SEEDS)[:4000]
    for _ in range(rng.randint(0, 6)):
        at = rng.randint(0, len(text))
        what = rng.random()
        if what < 0.5:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif what < 0.75:
            text = text[:at] + text[at + rng.randint(1, 12) :]
        else:
            other = rng.choice(SEEDS)[:400]
            text = text[:at] + other + text[at:]
    return text


TREE = "version: 1\ntree: t\nskills: [house]\nroot:\n  agent: {goal: tidy up, moves: [expand], leaf: react}\n"


def test_ten_thousand_hostile_answers_raise_nothing_and_build_only_what_the_dialect_allows():
    tree = load(TREE)
    rng = random.Random(20260)
    at = Situation("tidy up", ("tidy up",), 1, 0, Budget())
    built = refused = 0
    for number in range(10_000):
        text = SEEDS[number] if number < len(SEEDS) else mutated(rng)
        try:
            plan = read_plan(text)
            if objections(plan, at):
                refused += 1
                continue
            spec = load_fragment(tree.loader(), as_yaml(plan, "react", {}, tree.spec.registry), tree.spec, "plan")
        except BtError:
            refused += 1
            continue
        built += 1
        for node in spec.walk():
            assert node.kind.name in ALLOWED, text
            assert not {"when", "unless", "on_success", "on_failure", "on_halt", "class"} & node.values.keys(), text
            if node.kind.name == "tree":
                assert node.values["file"] == "react"
    assert built > 500 and refused > 500


def test_a_goal_with_braces_is_told_as_it_was_written_and_computes_nothing(start):
    script = ['Expand:\nsequence: ["say {1 + 1} and {goal}", "then }{ stop"]', "Act: failure"]
    run = start("reactree", script, goal="talk")
    assert run.spin(ticks=50) is FAILURE
    assert run.model.asked[-1].prompt.count("Your task is to: say {1 + 1} and {goal}\n") == 1


@pytest.mark.parametrize("text", SEEDS)
def test_an_agent_takes_any_answer_and_ends_of_itself(text, start):
    run = start(
        "reactree",
        lambda ask: "Expand:\n" + text if ask.kind == "decide" and len(run.told) < 40 else "Act: failure",
        goal="x",
    )
    run.spin(ticks=2000)
    assert run.parts.engine.root.ending is not None
