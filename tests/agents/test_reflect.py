"""AutoPlan's reflection (summary, flaw, revision) and the rewriting of a plan."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bt_runtime.agents import ScriptedModel, autoplan
from bt_runtime.testing import FAILURE, SUCCESS
from tests.support.room import Room

rule = pytest.mark.rule
TRIED = {
    "goal": "get out", "reached": False, "met": 1, "total": 3, "ended": "failure",
    "story": "Your task is to: get out\nAct: jump\nNothing new.\nAct: failure\n",
}  # fmt: skip
HEAD = """
version: 1
tree: t
inputs:
  tried: {type: object, default: {}}
  plan: {type: string, default: ""}
  parts: {type: list, default: [summary, flaw, revision]}
outputs: {learnt: {type: any, default: none}, new: {type: any, default: none}}
root:
"""
REFLECTING = HEAD + (
    '  reflect: {goal: get out, experience: "{tried}", guide: "{plan}", parts: "{parts}", reflection: learnt}\n'
)


@rule("reflect", 2, 3)
def test_summary_flaw_and_revision_are_asked_one_after_another_each_with_those_before_in_view(start):
    script = [" I jumped, nothing happened.", " jumping does not help", " take the door"]
    run = start(REFLECTING, script, tried=TRIED, plan="1. Jump.", world=Room())
    assert run.spin(ticks=20) is SUCCESS
    assert run.outputs["learnt"] == {
        "goal": "get out", "summary": "I jumped, nothing happened.", "flaw": "jumping does not help",
        "revision": "take the door", "reached": False,
    }  # fmt: skip
    prompts = [a.prompt for a in run.model.asked]
    assert [p.rpartition("\n")[2] for p in prompts] == ["Summary:", "Flaw:", "Revision:"]
    assert all(later.startswith(earlier) for earlier, later in pairwise(prompts))
    assert "The plan was:\n1. Jump.\nYour task is to: get out\nAct: jump\nNothing new.\n" in prompts[0]
    assert "This attempt ended: failure.\nThe goal was not reached: 1 of 3 parts.\n" in prompts[0]
    assert prompts[2].endswith("Summary: I jumped, nothing happened.\nFlaw: jumping does not help\nRevision:")
    assert [what for name, what in run.told if name == "reflection"] == [
        {"path": "/t", "summary": "I jumped, nothing happened.", "flaw": "jumping does not help",
         "revision": "take the door"}
    ]  # fmt: skip


@rule("reflect", 3)
def test_without_flaw_and_revision_only_the_summary_is_asked_for(start):
    run = start(REFLECTING, [" I jumped."], tried=TRIED, parts=["summary"], world=Room())
    assert run.spin(ticks=20) is SUCCESS
    assert run.outputs["learnt"] == {"goal": "get out", "summary": "I jumped.", "reached": False}
    assert "The plan was:\n(none yet)\n" in run.model.asked[0].prompt


def test_a_part_that_does_not_exist_fails_the_node_and_names_those_that_do(start):
    run = start(REFLECTING, [], tried=TRIED, parts=["sumary"], world=Room())
    assert run.spin(ticks=20) is FAILURE
    assert "summary, flaw, revision, not sumary" in run.parts.context.crashes[-1].message


REWRITING = HEAD + (
    '  rewrite: {goal: tasks of kind out, guide: "{plan}", reflections: "{tried[\'all\']}", into: new, max_lines: 3}\n'
)
LEARNT = [
    {"goal": "get out", "reached": False, "summary": "I jumped.", "flaw": "jumping", "revision": "take the door"},
    {"goal": "get in", "reached": True, "summary": "I took the door.", "flaw": "none", "revision": "none"},
]


@rule("rewrite", 1)
def test_one_plan_is_written_from_the_plan_before_and_all_reflections(start):
    run = start(REWRITING, ["1. Look.\n2. Take the door.\n"], tried={"all": LEARNT}, plan="1. Jump.", world=Room())
    assert run.spin(ticks=20) is SUCCESS
    assert run.outputs["new"] == "1. Look.\n2. Take the door."
    (ask,) = run.model.asked
    assert ask.prompt.endswith(
        "The tasks: tasks of kind out\nThe plan was:\n1. Jump.\n\n"
        "Task: get out\nThe goal was not reached.\nSummary: I jumped.\nFlaw: jumping\nRevision: take the door\n\n"
        "Task: get in\nThe goal was reached.\nSummary: I took the door.\nFlaw: none\nRevision: none\n\n"
        "New plan:\n"
    )
    assert ask.stop == ("\n\n",)
    assert [what["plan"] for name, what in run.told if name == "rewriting"] == [run.outputs["new"]]


@rule("rewrite", 2)
@pytest.mark.parametrize(("learnt", "said"), [([], []), ([None], []), (LEARNT, ["I would rather not.\n"])])
def test_without_anything_learnt_or_written_there_is_no_new_plan(start, learnt, said):
    run = start(REWRITING, said, tried={"all": learnt}, plan="1. Jump.", world=Room())
    assert run.spin(ticks=20) is FAILURE
    assert run.outputs["new"] == "none"


@rule("rewrite", 3)
def test_a_plan_that_was_cut_off_loses_the_step_that_is_not_whole():
    assert autoplan.numbered("1. Look.\n2. Take the d", whole=False) == "1. Look."
    assert autoplan.numbered("1. Look.\n2. Take the door.") == "1. Look.\n2. Take the door."


class CutOff(ScriptedModel):
    """Whatever it writes, it runs out of tokens."""

    def ask(self, question):
        job = super().ask(question)
        job.answer = job.answer._replace(ended="length")
        return job


@rule("rewrite", 3)
def test_the_node_keeps_the_whole_steps_of_a_plan_that_was_cut_off(start):
    model = CutOff(["1. Look.\n2. Take the d"])
    run = start(REWRITING, [], tried={"all": LEARNT}, services={"model": model})
    assert run.spin(ticks=20) is SUCCESS
    assert run.outputs["new"] == "1. Look."


def test_steps_are_numbered_anew_and_none_stands_twice():
    assert autoplan.numbered("Here it is:\n1. Look.\n1. Look.\n7. Go.\nBye") == "1. Look.\n2. Go."


def test_a_story_that_is_too_long_keeps_its_task_and_its_end():
    story = "Your task is to: win\n" + "".join(f"Think: thought {n}\nOK.\nAct: move {n}\nMoved.\n" for n in range(50))

    def count(text: str) -> int:
        return len(text.split())

    assert autoplan.shortened(story, 0, count) is story
    assert autoplan.shortened(story, 10_000, count) is story
    short = autoplan.shortened(story, 60, count)
    assert short.startswith("Your task is to: win\n…\n") and short.endswith("Act: move 49\nMoved.\n")
    assert count(short) <= 62


@rule("reflect", 2)
def test_long_answers_of_a_story_are_cut_and_the_task_and_what_was_said_stay_whole():
    long = "x" * 90
    story = f"Your task is to: {long}\nAct: {long}\n{long}\nThink: {long}\nOK.\n"
    assert autoplan.cut(story, 80) == story.replace(f"\n{long}\n", f"\n{'x' * 79}…\n")


@pytest.mark.llm
def test_the_grammars_allow_a_numbered_plan_and_one_line_and_nothing_else():
    pytest.importorskip("llguidance")
    from bt_runtime.llm.decoding.grammar import accepts

    plan, line = autoplan.plan_grammar(3, 20), autoplan.line_grammar(10)
    assert accepts(plan, "1. Look.\n\n") and accepts(plan, "1. Look.\n2. Go.\n3. Come.\n\n")
    for wrong in (
        "Look.\n\n",
        "1. Look.\n3. Go.\n\n",
        "1. Look.\n",
        "1. a\n2. b\n3. c\n4. d\n\n",
        f"1. {'x' * 21}\n\n",
    ):
        assert not accepts(plan, wrong)
    assert accepts(line, " a flaw\n") and not accepts(line, "\n") and not accepts(line, " twelve chars\n")
