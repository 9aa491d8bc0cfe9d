"""Plans under a budget: whatever a model that knows nothing writes, it reads back as a plan within the budget."""

from __future__ import annotations

import json

import pytest
import yaml

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.grammar import accepts, line, sentences
from bt_runtime.llm.plans import Budget, Field, Kind, bare, expansion
from bt_runtime.types import Grammar

KINDS = [
    Kind("sequence", "children"),
    Kind("fallback", "children"),
    Kind(
        "parallel", "children", (Field("success", "integer", required=False), Field("order", ("together", "in_turn")))
    ),
    Kind("retry", "child", (Field("times", "integer"),)),
    Kind("invert", "child"),
    Kind("wait", "leaf", (Field("seconds", "number"),)),
    Kind("log", "leaf", (Field("text", "string"), Field("loud", "boolean", required=False))),
    Kind("succeed", "leaf"),
    Kind("act", "sentence"),
]
SHAPES = {k.name: k for k in KINDS}
SKILLS = ["go to fridge 1", "pick up the apple", "stop", "yes", "say: hello", 'say "hi" #1', "- odd"]
BUDGET = Budget(depth=3, width=3, string=40)


def check(node, budget: Budget, depth: int = 1) -> None:
    """The slow and obvious reading of what a plan may be."""
    if isinstance(node, str):
        assert 3 <= len(node) <= budget.string
        return
    assert isinstance(node, dict) and len(node) == 1, node
    ((name, value),) = node.items()
    kind = SHAPES[name]
    if kind.shape == "sentence":
        assert value in SKILLS
    elif kind.shape == "leaf":
        check_fields(kind, value)
    else:
        assert depth <= budget.depth
        below = value if isinstance(value, list) else value.get("children", [value.get("child")])
        if not isinstance(value, list):
            check_fields(kind, {k: v for k, v in value.items() if k not in ("children", "child")})
        assert 1 <= len(below) <= budget.width
        for child in below:
            check(child, budget, depth + 1)


def check_fields(kind: Kind, value: dict) -> None:
    types = {"integer": int, "number": (int, float), "boolean": bool, "string": str}
    known = {f.name: f for f in kind.fields}
    assert set(value) <= set(known)
    assert {f.name for f in kind.fields if f.required} <= set(value)
    for name, item in value.items():
        kinds = known[name].type
        assert item in kinds if isinstance(kinds, tuple) else isinstance(item, types[kinds])


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_sixty_random_plans_read_back_within_the_budget(model, form):
    """Random weights, hot sampling: every finished answer is a plan; an unfinished one says that it is."""
    grammar = expansion(KINDS, BUDGET, SKILLS, form=form)
    jobs = [model.write(f"Plan {n}:\n", grammar=grammar, temperature=1.3, seed=n, max_tokens=700) for n in range(60)]
    finished = 0
    for job in jobs:
        answer = job.wait(60)
        assert answer.ended in ("grammar", "length")
        if answer.ended == "grammar":
            finished += 1
            check((yaml.safe_load if form == "yaml" else json.loads)(answer.text), BUDGET)
            assert accepts(grammar, answer.text)
    assert finished >= 50


GOOD = """\
sequence:
- fallback:
  - find and pick up the apple in kitchen 1
  - retry:
      times: 3
      child:
        act: pick up the apple
- parallel:
    order: in_turn
    children:
    - act: "yes"
    - succeed: {}
- put down the apple in the fridge
"""


def test_the_dialect_as_a_person_writes_it_is_in_the_language():
    grammar = expansion(KINDS, BUDGET, SKILLS)
    assert accepts(grammar, GOOD)
    check(yaml.safe_load(GOOD), BUDGET)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: t.replace("retry", "rterty"),
        lambda t: t.replace("pick up the apple\n- par", "fly to the moon\n- par"),
        lambda t: t.replace("times: 3", "times: many"),
        lambda t: t.replace("put down the apple in the fridge", "put " + "down " * 20 + "it"),
        lambda t: t.replace("- put down the apple in the fridge", "- put it down\n- and again\n- and again"),
        lambda t: t + "more",
        lambda t: t[:-9],
        lambda t: "",
        lambda t: "null",
        lambda t: "a lone subgoal\n",
        lambda t: "sequence:\n- fallback:\n  - fallback:\n    - fallback:\n      - too deep\n",
        lambda t: "sequence:\n- no\n",
    ],
)
def test_what_is_beyond_the_kinds_the_skills_or_the_budget_is_not(spoil):
    """Unknown kinds and skills, wrong values, too long, wide or deep, cut off: none is accepted."""
    assert not accepts(expansion(KINDS, BUDGET, SKILLS), spoil(GOOD))


def test_without_skills_or_subgoals_there_is_nothing_of_them_in_the_language():
    assert not accepts(expansion(KINDS, BUDGET), "sequence:\n- act: stop now\n")
    assert not accepts(expansion(KINDS, BUDGET, SKILLS, subgoals=False), "sequence:\n- find the apple\n")


def test_a_sentence_stands_bare_only_where_yaml_reads_it_back():
    """`yes` and `- odd` are quoted, `go to fridge 1` is not; all of them read back as they are."""
    for text in SKILLS:
        assert yaml.safe_load(f"act: {bare(text)}") == {"act": text}
    assert bare("go to fridge 1") == "go to fridge 1"
    assert bare("yes") == '"yes"'


def test_sentences_and_lines():
    grammar = sentences(["find the egg", "find the egg carton", 'say "hi"'])
    assert accepts(grammar, "find the egg carton\n")
    assert accepts(grammar, 'say "hi"\n')
    assert not accepts(grammar, "find the egg")
    assert not accepts(grammar, "find the eggs\n")
    assert accepts(line(20), "I see an apple.\n")
    assert not accepts(line(20), "\n")
    assert not accepts(line(20), "x" * 21 + "\n")


def test_budgets_and_grammars_that_allow_nothing_are_faults():
    for bad in (
        lambda: expansion(KINDS, Budget(depth=0)),
        lambda: expansion([Kind("act", "sentence")], BUDGET, SKILLS),
        lambda: sentences([]),
        lambda: accepts(Grammar("lark", "start: oops"), "x"),
        lambda: accepts(Grammar("gbnf", "root ::= x"), "x"),  # type: ignore[arg-type]
    ):
        with pytest.raises(BtError):
            bad()
