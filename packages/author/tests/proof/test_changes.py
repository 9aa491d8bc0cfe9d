"""What is grafted is held against what the run has done, against included trees, and against what must come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, debugger_of, load
from bt_runtime.agents import ModelNode, ScriptedModel
from bt_runtime.events import Line
from bt_runtime.run.monitoring.watch import Watch
from bt_runtime.testing import RUNNING, Trial
from packages.author.tests.proof.test_grafts import Played
from tests.support.random_trees import SKILLS

HEAD = """\
version: 1
tree: t
blackboard: {full: {type: boolean, default: false}, dirty: {type: boolean, default: false}}
properties:
"""
WORK = "root: {sequence: [{wait: 1}, {set: {full: false}}, {wait: 1}, {go: {}}]}\n"


@pytest.fixture
def begun() -> Iterator[object]:
    """A trial of a tree with these properties, one tick in."""
    trials: list[Trial] = []

    def begin(properties: str, root: str = WORK) -> Trial:
        trial = Trial(load(f"{HEAD}{properties}{root}", skills=SKILLS), skills={"go": RUNNING, "grab": RUNNING})
        trials.append(trial)
        trial.tick()
        return trial

    yield begin
    for trial in trials:
        trial.close()


SOFT = "  soft: {never: full and grab is running}\n"


def test_what_a_person_inserts_is_refused_with_the_story(begun) -> None:
    """The nodes behind the new ones count, and the tree stays as it was."""
    trial = begun(SOFT)
    with pytest.raises(BtError, match=r"it may break soft: never .*grab \(/t/4"):
        trial.insert("/t", "sequence: [{set: {full: true}}, {grab: {}}]", -1)
    with pytest.raises(BtError, match="it may break soft"):
        trial.insert("/t", "parallel: [{set: {full: true}}, {grab: {}}]", 1)
    assert len(trial.run.parts.engine.root.children) == 4
    trial.insert("/t", "sequence: [{set: {full: true}}, {set: {full: false}}, {grab: {}}]", 1)
    assert len(trial.run.parts.engine.root.children) == 5


def test_what_a_person_replaces_is_refused_by_what_comes_after_it(begun) -> None:
    """Without the node that empties the hand, the graft alone is sound and the tree is not."""
    trial = begun(SOFT, "root: {sequence: [{wait: 1}, {set: {full: true}}, {set: {full: false}}, {grab: {}}]}\n")
    with pytest.raises(BtError, match="it may break soft"):
        trial.replace("/t/2", "succeed: {}")
    trial.replace("/t/1", "succeed: {}")


def test_an_edit_in_the_debugger_is_refused_too_and_undoing_one_is_not(begun) -> None:
    trial = begun(SOFT)
    debugger = debugger_of(trial.run)
    with pytest.raises(BtError, match="it may break soft"):
        debugger.replace("/t/3", "sequence: [{set: {full: true}}, {grab: {}}]")
    debugger.replace("/t/3", "grab: {}")
    assert debugger.take_back()


def test_what_the_tree_may_do_without_the_graft_is_not_held_against_it(begun) -> None:
    """The graft is made, and the log names the property."""
    trial = begun(SOFT, "root: {sequence: [{wait: 1}, {set: {full: true}}, {grab: {}}]}\n")
    said: list[str] = []
    trial.run.listen(lambda line: said.append(line.text), Line)
    trial.insert("/t", "sequence: [{set: {full: true}}, {grab: {}}]", -1)
    assert any("without it the tree may break that as well" in text for text in said)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("repeat: {times: -1, child: {force: {status: success, child: {go: {}}}}}", True),
        ("force: {status: success, child: {go: {}}}", False),
    ],
)
def test_what_must_come_is_asked_of_a_graft(begun, text: str, refused: bool) -> None:
    """Its skills are taken to end; nodes that can go on for ever before the thing comes are refused."""
    root = "root: {sequence: [{wait: 1}, {force: {status: success, child: {grab: {}}}}, {set: {full: true}}]}\n"
    trial = begun("  comes: {leads_to: {from: dirty, to: full}}\n", root)
    if refused:
        with pytest.raises(BtError, match="for ever"):
            trial.insert("/t", text, 1)
    else:
        trial.insert("/t", text, 1)


def test_the_time_that_has_passed_counts_for_within(begun) -> None:
    """The same wait is sound at the start, and too long when half of the time has gone."""
    properties = "  soon: {within: {seconds: 4, to: full}}\n"
    root = "root: {sequence: [{wait: 1}, {set: {full: true}}, {grab: {}}]}\n"
    begun(properties, root).insert("/t", "wait: 1.5", 1)
    trial = begun(properties, root.replace("wait: 1", "wait: 2"))
    trial.advance(1.5)
    with pytest.raises(BtError, match="it may break soon"):
        trial.insert("/t", "wait: 2.5", 1)


PLANNED = """\
version: 1
tree: inner
blackboard: {full: {type: boolean, default: true}}
properties:
  soft: {never: full and grab is running}
root:
  agent: {goal: tidy, moves: [expand], leaf: react}
"""


def test_the_properties_of_an_included_tree_are_watched_and_held_against_plans(tmp_path: Path) -> None:
    """They are read in the included tree's own terms: its entries, its paths, its result."""
    (tmp_path / "inner.yaml").write_text(PLANNED)
    tree = "version: 1\ntree: outer\nroot: {sequence: [{wait: 0.001}, {tree: {file: inner.yaml, name: room}}]}\n"
    (tmp_path / "outer.yaml").write_text(tree)
    model = ScriptedModel([])
    with Run(load(tmp_path / "outer.yaml", skills=SKILLS), services={"model": model}, recall=False) as run:
        watch = run.parts.extensions[Watch]
        [included] = watch.included.values()
        agent = next(node for node in run.nodes() if isinstance(node, ModelNode))
        above = agent
        while above is not None:
            above.status = RUNNING
            above = above.parent
        agent.scope["full"] = True
        for skill, broken in (("grab", True), ("go", False)):
            spec = run.parts.engine.growth.checked(agent.path, f"sequence: [{{{skill}: {{}}}}]")
            [answer] = included.grafts.check(agent, spec, included.past)
            assert bool(answer.story) is broken, answer


def test_a_run_that_breaks_a_property_of_an_included_tree_is_told_and_halted(tmp_path: Path) -> None:
    inner = "version: 1\ntree: inner\nblackboard: {n: {type: integer, default: 0}}\nproperties:\n"
    inner += "  low: {never: n == 2 and /inner/1 is running, on_violation: halt}\n"
    inner += "root: {sequence: [{set: {n: '{n + 1}'}}, {wait: 1}]}\n"
    (tmp_path / "inner.yaml").write_text(inner)
    outer = "version: 1\ntree: outer\nroot: {repeat: {times: 3, child: {tree: {file: inner.yaml}}}}\n"
    (tmp_path / "outer.yaml").write_text(outer)
    with Trial(tmp_path / "outer.yaml") as trial:
        trial.go_on(10)
        assert list(trial.run.parts.extensions[Watch].violations) == ["/outer/0: low"]
        assert trial.status.name == "INVALID" and trial.clock.now() < 2


def test_promises_of_a_command_line_are_held_against_grafts() -> None:
    """As the tree's own properties are: with `--never` of `btr fuzz`, and `never=` of a test."""
    never = "full and grab is running"
    with Trial(load(f"{HEAD.replace('properties:', '')}{WORK}", skills=SKILLS), allow="*", never=never) as trial:
        trial.run.parts.context.services.scripted_skills = Played()
        trial.tick()
        with pytest.raises(BtError, match="it may break never full and grab is running"):
            trial.insert("/t", "sequence: [{set: {full: true}}, {grab: {}}]", -1)
        trial.insert("/t", "sequence: [{set: {full: false}}, {grab: {}}]", -1)
