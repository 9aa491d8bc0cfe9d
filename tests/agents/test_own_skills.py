"""The strategies of `trees/`, as they are, with a project's own skills and no world: through real grafts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_lab.distill import journals
from bt_runtime import BtError, Run, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.events import Expanded
from bt_runtime.journal import replay
from bt_runtime.testing import SUCCESS
from bt_runtime.types import Question
from tests.support.oracles import acting, expanding, judged, planning

GOAL = "put the cup on the shelf and the plate on the rack"
WAY = ["pick up cup", "put it on the shelf", "pick up plate", "put it on the rack"]
TREE = """
version: 1
tree: home
blackboard:
  things: {{type: list, default: [cup, plate]}}
  places: {{type: list, default: [shelf, rack]}}
root:
  tree: {{file: {}, with: {{goal: {}}}}}
"""


class Table:
    """What the skills act on; `drops`: how often it falls at first."""

    def __init__(self, drops: int = 0) -> None:
        self.held, self.drops = "", drops
        self.stands: dict[str, str] = {}

    def skills(self) -> list[Any]:
        @skill("pick up {thing}", sources={"thing": "things"}, instant=True, says="You hold the {thing}.")
        def pick(thing: str) -> None:
            self.held = thing

        @skill("put it on the {place}", sources={"place": "places"}, instant=True)
        def place(place: str) -> None:
            if self.drops:
                self.drops -= 1
                raise RuntimeError("it fell")
            self.stands[self.held] = place

        return [pick, place]


def trying(count: int) -> Callable[[Question], str]:
    """Gives up as often, when it has seen that it fell, and learns a lesson if it is asked for one."""

    def lines() -> Iterator[str]:
        for _ in range(count):
            yield from ("Act: pick up cup", "Act: put it on the shelf", "Act: failure")
        yield from (*(f"Act: {sentence}" for sentence in WAY), "Act: done")

    made = lines()
    return lambda ask: "Hold on to it." if ask.kind == "write" else next(made)


@pytest.mark.parametrize(
    "strategy, script, drops, grafts",
    [
        ("react", acting(WAY), 0, 0),
        ("lota", [*(f"Act: {sentence}" for sentence in WAY), "Act: done"], 0, 0),
        ("try_again", judged(trying(2)), 2, 0),
        ("reflexion", judged(trying(2)), 2, 0),
        ("reactree", expanding(WAY), 0, 1),
        ("adapt", planning(WAY, GOAL), 0, 1),
        ("plan_and_execute", planning(WAY, GOAL), 0, 1),
    ],
)
def test_each_strategy_reaches_its_goal_by_a_projects_own_skills_and_its_journal_is_replayed_and_learnt_from(
    tmp_path: Path, strategy: str, script: Any, drops: int, grafts: int
) -> None:
    table, grown, model = Table(drops), [], ScriptedModel(script, polls=1)
    tree = load(TREE.format(strategy, GOAL), skills=table.skills())
    with Run(tree, model=model, clock=Manual(), journal=tmp_path) as run:
        run.listen(grown.append, Expanded)
        assert run.spin(ticks=1000) is SUCCESS
        assert run.parts.journal is not None
        file = run.parts.journal.path
    assert table.stands == {"cup": "shelf", "plate": "rack"}
    assert len(grown) == grafts
    assert all(each.grafted.count("- tree:") == 2 for each in grown)
    if strategy == "reflexion":
        assert any("Hold on to it." in question.prompt for question in model.asked if question.kind != "write")
    found = replay(file)
    assert found.same, found.difference
    lessons = [*journals.told([file])]
    learnt = "\n".join(document.text[start:end] for document in lessons for start, end in document.learn)
    assert all(f"Act: {sentence}" in "".join(document.text for document in lessons) for sentence in WAY)
    assert all(sentence in learnt for sentence in WAY), "what was decided is what is learnt"
    assert "You hold the cup." not in learnt, "what was seen is not"


def test_a_class_without_a_docstring_is_described_by_its_sentence() -> None:
    """Never by the docstring of the class that it derives from, which tells Python's authors how to write one."""
    from bt_runtime import Skill
    from bt_runtime.skills.skill import kind_of

    @skill("listen at the {door}")
    class Listen(Skill):
        def start(self, door: str) -> None: ...

    assert kind_of(Listen).about == "listen at the {door}"


@pytest.mark.parametrize("type_", [{"type": "integer"}, ["integer"], 3])
def test_an_output_without_a_type_of_a_tree_is_told_with_one(type_: object) -> None:
    from bt_runtime.skills.skill import SkillError, kind_of

    @skill("count", outputs={"n": type_})
    def count() -> dict[str, int]:
        return {"n": 1}

    with pytest.raises(SkillError, match="the output `n` of `count` has no type of a tree"):
        kind_of(count)


def test_a_text_that_an_agent_writes_in_another_form_is_refused_in_words() -> None:
    """Also where a model is held to no grammar: the skill is not started, and the agent is told the form."""
    noted: list[str] = []

    @skill("note {code}", sources={"code": "/[A-Z]{2}-[0-9]{1,3}/"}, on_resume="repeat")
    def note(code: str) -> None:
        noted.append(code)

    model = ScriptedModel(["Act: note ", "rm -rf", "Act: note ", "AB-12", "Act: done"])
    text = "version: 1\ntree: t\nroot:\n  agent: {goal: note it, moves: [act]}\n"
    with Run(load(text, skills=[note]), services={"model": model}) as run:
        run.spin(seconds=20)
    assert noted == ["AB-12"]
    assert any("`code` is of the form [A-Z]{2}-[0-9]{1,3}" in question.prompt for question in model.asked)


def test_a_source_that_is_no_form_is_refused_where_it_is_written() -> None:
    with pytest.raises(BtError, match=r"no form of a text: `.` is not part of one"):

        @skill("note {code}", sources={"code": "/.{3}/"})
        def note(code: str) -> None: ...

        load("version: 1\ntree: t\nroot: {note: A}\n", skills=[note])
