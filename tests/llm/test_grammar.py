"""Plans within limits: whatever a model that knows nothing writes, it reads back as a plan within the limits."""

from __future__ import annotations

import re

import pytest
import yaml

pytest.importorskip("llguidance", reason="needs the llm extra")

from bt_runtime import BtError
from bt_runtime.agents.plan_text import Group, PlannedGoal, read_plan
from bt_runtime.language.emit.dialect import Form, FormField, PlanLimits
from bt_runtime.llm.decoding.grammar import accepts
from bt_runtime.llm.decoding.plan_grammar import FOREIGN, bare, expansion
from bt_runtime.types import Grammar

FORMS = [
    Form("sequence", "children"),
    Form("fallback", "children"),
    Form("parallel", "children", (FormField("order", ("together", "in_turn")),)),
    Form("retry", "child", (FormField("times", "integer"),)),
    Form("invert", "child"),
    Form("wait", "leaf", (FormField("seconds", "number"),)),
    Form("log", "leaf", (FormField("text", "string"), FormField("loud", "boolean"))),
    Form("succeed", "leaf"),
    Form("act", "sentence"),
]
BY_NAME = {form.name: form for form in FORMS}
SKILLS = ["go to fridge 1", "pick up the apple", "stop", "yes", "say: hello", 'say "hi" #1', "- odd"]
LIMITS = PlanLimits(depth=3, width=3, string=40)


def check(node, limits: PlanLimits, depth: int = 1) -> None:
    """The slow and obvious reading of what a plan may be."""
    if isinstance(node, str):
        assert 3 <= len(node) <= limits.string
        return
    assert isinstance(node, dict) and len(node) == 1, node
    ((name, value),) = node.items()
    kind = BY_NAME[name]
    if kind.shape == "sentence":
        assert value in SKILLS
    elif kind.shape == "leaf":
        check_fields(kind, value)
    else:
        assert depth <= limits.depth
        below = value if isinstance(value, list) else value.get("children", [value.get("child")])
        if not isinstance(value, list):
            check_fields(kind, {k: v for k, v in value.items() if k not in ("children", "child")})
        assert 1 <= len(below) <= limits.width
        for child in below:
            check(child, limits, depth + 1)


def check_fields(kind: Form, value: dict) -> None:
    types = {"integer": int, "number": (int, float), "boolean": bool, "string": str}
    known = {f.name: f for f in kind.fields}
    assert {f.name for f in kind.fields} == set(value)
    for name, item in value.items():
        kinds = known[name].type
        assert item in kinds if isinstance(kinds, tuple) else isinstance(item, types[kinds])


def test_sixty_random_plans_read_back_within_the_limits(model):
    """Random weights, hot sampling: every finished answer is a plan; an unfinished one says that it is."""
    grammar = expansion(FORMS, LIMITS, SKILLS)
    jobs = [model.write(f"Plan {n}:\n", grammar=grammar, temperature=1.3, seed=n, max_tokens=700) for n in range(60)]
    finished = 0
    for job in jobs:
        answer = job.wait(60)
        assert answer.ended in ("grammar", "length")
        if answer.ended == "grammar":
            finished += 1
            check(yaml.safe_load(answer.text), LIMITS)
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
    grammar = expansion(FORMS, LIMITS, SKILLS)
    assert accepts(grammar, GOOD)
    check(yaml.safe_load(GOOD), LIMITS)


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
    assert not accepts(expansion(FORMS, LIMITS, SKILLS), spoil(GOOD))


def test_without_skills_or_subgoals_there_is_nothing_of_them_in_the_language():
    assert not accepts(expansion(FORMS, LIMITS), "sequence:\n- act: stop now\n")
    assert not accepts(expansion(FORMS, LIMITS, SKILLS, subgoals=False), "sequence:\n- find the apple\n")


def test_a_sentence_stands_bare_only_where_yaml_reads_it_back():
    """`yes` and `- odd` are quoted, `go to fridge 1` is not; all of them read back as they are."""
    for text in SKILLS:
        assert yaml.safe_load(f"act: {bare(text)}") == {"act": text}
    assert bare("go to fridge 1") == "go to fridge 1"
    assert bare("yes") == '"yes"'


def test_limits_and_grammars_that_allow_nothing_are_faults():
    for bad in (
        lambda: expansion(FORMS, PlanLimits(depth=0)),
        lambda: expansion([Form("act", "sentence")], LIMITS, SKILLS),
        lambda: accepts(Grammar("lark", "start: oops"), "x"),
        lambda: accepts(Grammar("gbnf", "root ::= x"), "x"),  # type: ignore[arg-type]
    ):
        with pytest.raises(BtError):
            bad()


@pytest.mark.parametrize("goal", ["öffne die Tür", "Tür öffnen", "打开冰箱", "открой окно", '"use glue #2: strong"'])
def test_a_subgoal_is_said_in_any_script_and_with_any_sign_between_quotes(goal):
    text = f"sequence:\n- {goal}\n- put it down\n"
    assert accepts(expansion(FORMS, LIMITS, SKILLS), text)
    check(yaml.safe_load(text), LIMITS)


def test_every_letter_beyond_ascii_that_may_stand_bare_reads_back_as_itself():
    foreign = [chr(code) for code in range(0x80, 0x10000) if re.fullmatch(f"[{FOREIGN}]", chr(code))]
    assert len(foreign) > 50_000
    for start in range(0, len(foreign), 1000):
        some = foreign[start : start + 1000]
        written = "sequence:\n" + "".join(f"- {letter}\n" for letter in some)
        assert read_plan(written) == Group("sequence", tuple(map(PlannedGoal, some)))


def test_the_tables_of_a_vocabulary_are_made_beside_all_else(monkeypatch):
    """They are begun when the model is loaded, on a thread of their own; the first plan waits for the rest of it."""
    import threading

    from bt_runtime.llm.local import task_factory

    made, go = [], threading.Event()

    class Slow:
        def __init__(self, weights):
            made.append(threading.current_thread())
            assert go.wait(60)

    monkeypatch.setattr(task_factory, "GrammarGuide", Slow)
    factory = object.__new__(task_factory.TaskFactory)
    factory.weights, factory._guide = None, None
    factory.prepare()
    go.set()
    assert isinstance(factory.guide(), Slow) and factory.guide() is factory.guide()
    assert made != [threading.current_thread()] and len(made) == 1


def test_a_json_answer_cannot_go_on_with_spaces_and_is_read_however_it_is_indented() -> None:
    """A small model that likes spaces would otherwise write them until it is cut off."""
    grammar = Grammar("json_schema", '{"type": "array", "items": {"enum": ["cup", "plate"]}, "maxItems": 2}')
    for text in ('["cup","plate"]', '["cup", "plate"]', '[\n    "cup",\n    "plate"\n]', "[]"):
        assert accepts(grammar, text)
    assert not accepts(grammar, f'["cup"{" " * 40}]')
