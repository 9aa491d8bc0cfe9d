"""A run goes on from its journal: what was done is not done again, what was in doubt is settled by its manifest."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, load
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.run.replay.resume import CannotResume
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from tests.support.abandoned import TREE, abandoned, drilling, in_doubt


@pytest.mark.parametrize(
    "on_resume, told, starts, status",
    [
        ("repeat", None, 2, RUNNING),  # it is started once more
        ("fail", None, 1, FAILURE),
        ("verify", True, 1, RUNNING),  # it was done: the tree goes on behind it
        ("verify", False, 2, RUNNING),
        ("verify", None, 1, FAILURE),  # nobody can tell
    ],
)
def test_an_action_in_doubt_is_settled_as_its_manifest_says(on_resume, told, starts, status, runs):
    done: list[str] = []
    drill = drilling(on_resume, done, told=False)
    path = in_doubt(runs, drill)
    assert done == ["start 7"]
    drill.answers = told
    with resume(path, skills=[drill], clock=Manual()) as run:
        assert run.parts.journal.tape.writer.durable().wait(60)
        run.tick()
        assert run.parts.engine.root.status is status
        assert done == ["start 7"] * starts
        assert run.blackboard["n"] == (2 if told else 1)
    recording = Recording(path)
    assert sum(1 for e in recording.events if e.kind == "in doubt") == 1
    found = replay(path)
    assert found.same, found


def test_what_was_so_before_is_no_proof_that_it_was_done(runs):
    done: list[str] = []
    drill = drilling("verify", done, told=True)
    with resume(in_doubt(runs, drill), skills=[drill], clock=Manual()) as run:
        run.tick()
        assert run.parts.engine.root.status is FAILURE and done == ["start 7"]


def test_an_action_that_may_not_be_repeated_begins_only_once_that_is_on_the_disk(runs):
    done: list[str] = []
    run = Run(load(TREE, skills=[drilling("fail", done)]), clock=Manual(), journal=runs)
    writer = run.parts.journal.tape.writer
    held = threading.Event()
    commit = writer.store.commit
    writer.store.commit = lambda *args: (held.wait(60), commit(*args))[1]
    for _ in range(20):
        run.tick()
    assert done == []
    held.set()
    assert writer.durable().wait(60)
    run.tick()
    assert done == ["start 7"]
    run.close()


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(runs):
    tree = load("version: 1\ntree: t\nroot:\n  sequence:\n    - set: {x: 1}\n    - wait: 5\n")
    with Run(tree, clock=Manual(), journal=runs) as run:
        run.tick()
    with resume(run.parts.journal.path, clock=Manual(100.0)) as again:
        assert again.status is RUNNING and again.blackboard["x"] == 1
        assert again.spin() is SUCCESS
        assert again.parts.context.clock.now() == pytest.approx(5)  # the pause was no time of the run's
    assert replay(run.parts.journal.path).same


def test_the_tree_stands_as_it_stood(errand_of):
    """Grafted shape, statuses, blackboard, working memory: before and after, at many moments."""
    for ticks in (1, 3, 5, 9, 17, 40):
        path = errand_of("house", 3, ticks=ticks)
        seen = []
        replay(path, see=lambda run, tick, seen=seen: seen.append(state(run)))
        site = _fresh(path)
        with resume(path, world=site[0], model=site[1], clock=Manual()) as run:
            assert run.parts.engine.count == ticks
            assert state(run) == seen[-1]
        path.unlink()


def state(run: Run):
    from bt_runtime.tree.node import path_of

    board = {
        p: {k: str(v) for k, v in entries.items()} for p, entries in run.parts.context.blackboard.snapshot().items()
    }
    return [(path_of(n), n.status.name) for n in run.nodes()], board


def _fresh(path: Path):
    from bt_runtime.agents import ScriptedModel
    from bt_runtime.plugins import open_suite
    from tests.journal import errand

    task = open_suite("house").tasks(3, 1)[0]
    site = errand.Site("house", path.parent, lasting=False)
    return site, ScriptedModel(errand.script(site, errand.oracle("house", task)), 1)


def test_a_world_of_ours_is_opened_again_by_its_name_and_led_to_where_it_was(runs):
    from bt_runtime.agents import ScriptedModel
    from bt_runtime.plugins import open_suite

    suite = open_suite("textcraft")
    task = suite.tasks(3, 1)[0]
    world = suite.open()
    world.reset(task)
    plan = list(suite.oracle(world, task))
    model = ScriptedModel([f"Act: {sentence}" for sentence in plan])
    run = Run(
        load("react"), inputs={"goal": task.goal}, world=world, task=task, model=model, clock=Manual(), journal=runs
    )
    while world.verdict().met == 0:
        run.tick()
    path = abandoned(run)
    assert world.verdict().met == 1
    with resume(path, model=ScriptedModel(["Act: done"]), clock=Manual()) as again:
        assert again.spin() is SUCCESS
        assert again.parts.resources.verdict() == world.verdict()
    assert Recording(path).verdict == (1, 1)


def test_a_tree_whose_file_was_changed_goes_on_as_the_one_it_was_when_told_so(runs, tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text("version: 1\ntree: t\nroot:\n  sequence:\n    - set: {x: 1}\n    - wait: 5\n    - set: {y: 2}\n")
    run = Run(load(file), clock=Manual(), journal=runs)
    run.tick()
    path = abandoned(run)
    file.write_text("version: 1\ntree: t\nroot:\n  fail: {}\n")
    with pytest.raises(CannotResume, match=r"t\.yaml has changed"):
        resume(path, clock=Manual())
    with resume(path, clock=Manual(), changed=True) as again:
        assert again.spin() is SUCCESS and again.blackboard["y"] == 2


def test_a_run_that_is_being_written_is_not_resumed(runs):
    with Run(load("version: 1\ntree: t\nroot:\n  wait: 5\n"), clock=Manual(), journal=runs) as run:
        run.tick()
        assert run.parts.journal.tape.writer.durable().wait(60)
        with pytest.raises(BtError, match="written by another"):
            resume(run.parts.journal.path, clock=Manual())


def test_python_skills_have_to_be_given_again(runs):
    path = in_doubt(runs, drilling("repeat", []))
    with pytest.raises(CannotResume, match="Python skills: drill"):
        resume(path)


LOGS = """
version: 1
tree: t
root:
  sequence:
    - log: begun
    - parallel: {children: [drill: {hole: 1}, drill: {hole: 2}, drill: {hole: 3}]}
    - log: drilled
    - drill: {hole: 4}
    - log: the work is done
"""


@pytest.mark.parametrize("times", [1, 2, 3, 10])
def test_no_resume_however_late_swallows_a_note(runs, times):
    """What was in doubt stays told, and what comes after is told: each resume begins where the last was cut off."""
    done: list[str] = []
    drill = drilling("repeat", done)
    path = abandoned(ticked(Run(load(LOGS, skills=[drill]), clock=Manual(), journal=runs)))
    for _ in range(times - 1):
        path = abandoned(ticked(resume(path, skills=[drill], clock=Manual())))
    drill.ended = True
    with resume(path, skills=[drill], clock=Manual()) as run:
        assert run.spin() is SUCCESS
    recording = Recording(path)
    assert [b["text"] for _, b in recording.of("log")] == ["begun", "drilled", "the work is done"]
    doubts = [b["sentence"] for _, b in recording.of("in doubt")]
    assert sorted(doubts) == sorted(f"drill {n}" for n in (1, 2, 3) for _ in range(times))
    assert sum(1 for _ in recording.of("resumed")) == times
    assert [b["status"] for _, b in recording.of("result")] == ["SUCCESS"] == [recording.result]
    assert replay(path).same


def ticked(run: Run) -> Run:
    for _ in range(4):
        run.tick()
    return run


def test_a_write_between_two_ticks_at_the_end_of_the_journal_leaves_its_tick_whole(runs):
    """The journal goes on behind it, and the tick before it keeps what it changed."""
    tree = load("version: 1\ntree: t\nroot:\n  sequence: [set: {x: 1}, wait: 5, set: {y: '{x + 1}'}]\n")
    run = Run(tree, clock=Manual(), journal=runs)
    run.tick()
    run.blackboard["x"] = 5
    path = abandoned(run)
    with resume(path, clock=Manual()) as again:
        assert again.spin() is SUCCESS and again.blackboard["y"] == 6
    found = replay(path)
    assert found.same, found.difference


def test_a_resume_that_cannot_lead_the_run_back_leaves_the_journal_as_it_was(runs, monkeypatch):
    from bt_runtime.journal.tape import Difference, Tape

    drill = drilling("repeat", [])
    path = in_doubt(runs, drill)
    before = [tuple(e) for e in Recording(path).events]

    def differ(self: Tape, kind: str, number: int) -> None:
        raise Difference(2, "another world")

    monkeypatch.setattr(Tape, "answer", differ)
    with pytest.raises(CannotResume, match="cannot be led back"):
        resume(path, skills=[drill], clock=Manual())
    assert [tuple(e) for e in Recording(path).events] == before
