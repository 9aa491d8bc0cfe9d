"""A recorded run comes out the same without model or world, or the first difference is named."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, Skill, load, skill
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, replay
from bt_runtime.journal.layout import head_sum
from bt_runtime.run.replay.regression_test import write_test
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from tests.journal.conftest import read
from tests.journal.forgery import rewrite

TIMED = """
version: 1
tree: timed
blackboard:
  n: {type: integer, default: 0}
  go: {type: boolean, default: false}
root:
  parallel:
    success: 2
    children:
      - sequence:
        - wait: 0.4
        - set: {n: "{n + 1}"}
        - reactive_sequence:
          - check: go
          - wait: 0.1
      - retry:
          times: 50
          child:
            timeout:
              seconds: 0.3
              child: {rate: {hz: 5, child: {check: n > 0}}}
"""


@pytest.mark.parametrize("suite", ["house", "textcraft"])
def test_fifty_recorded_errands_replay_identically(suite, errand_of):
    grafts = 0
    for seed in range(50):
        journal = errand_of(suite, seed, polls=seed % 3)
        recording = Recording(journal)
        assert recording.result == "SUCCESS" and not recording.damage
        grafts += sum(1 for e in recording.events if e.kind == "graft")
        found = replay(journal)
        assert found.same and found.status == "SUCCESS" and found.ticks == recording.last_tick, found
    assert grafts >= 50  # one in each, at the least


def test_time_and_what_others_wrote_between_ticks_come_again(record):
    run = record(TIMED)
    for number in range(400):
        if number == 20:
            run.blackboard["go"] = True
        run.parts.context.clock.inner.advance(0.013)
        if not run.tick().running:
            break
    assert run.status is SUCCESS
    found = replay(read(run).path)
    assert found.same and found.status == "SUCCESS", found


def test_grafts_removals_and_halts_from_outside_come_again(record):
    run = record("version: 1\ntree: t\nroot:\n  sequence:\n    - wait: 1\n    - wait: 5\n")
    run.tick()
    run.insert("/t", "set: {x: 1}", 0)
    run.tick()
    run.halt("look around")
    run.parts.context.clock.inner.advance(2)
    run.tick()
    run.remove("/t/1")
    for _ in range(3):
        run.parts.context.clock.inner.advance(1)
        run.tick()
    recording = read(run)
    assert [b["how"] for _, b in recording.of("graft")] == ["insert", "remove"]
    seen = []
    found = replay(recording.path, see=lambda run, tick: seen.append(len(run.parts.engine.root.children)))
    assert found.same, found
    assert seen[0] == 2 and 3 in seen and seen[-1] == 2


@skill("count to {n}", name="count_to")
class CountTo(Skill):
    started = 0

    def start(self, n: int) -> None:
        type(self).started += 1
        self.left = n

    def poll(self):
        self.left -= 1
        self.result = {"ok": True, "left": self.left}
        return RUNNING if self.left > 0 else SUCCESS


@skill
def flip(n: int) -> bool:
    if n == 2:
        raise ValueError("not two")
    return n % 2 == 0


SKILLS = """
version: 1
tree: s
root:
  sequence:
    - count_to: 3
    - fallback:
        - flip: 1
        - flip: 2
        - flip: 4
"""


def test_python_skills_are_not_called_again_and_their_failures_and_crashes_are(record):
    run = record(SKILLS, skills=[CountTo, flip])
    while run.tick().running:
        run.parts.journal.tape.boundary()
    assert run.status is SUCCESS
    before = CountTo.started
    found = replay(read(run).path)
    assert found.same and found.status == "SUCCESS", found
    assert CountTo.started == before


def test_a_model_that_answers_otherwise_is_named_as_the_first_difference(errand_of):
    journal = errand_of("textcraft", 8)
    rewrite(journal, "answer", "sequence:", "fallback:")
    found = replay(journal)
    assert not found.same and found.difference.startswith("tick "), found


def test_a_tree_that_became_another_is_named_at_its_first_status(record):
    run = record("version: 1\ntree: t\nroot:\n  sequence:\n    - succeed: {}\n    - fail: {}\n")
    run.tick()
    recording = read(run)
    head = {**recording.head, "text": recording.head["text"].replace("- fail", "- succeed")}
    connection = sqlite3.connect(recording.path)
    for name, value in {**head, "sum": head_sum(head)}.items():
        connection.execute("UPDATE head SET value = ? WHERE name = ?", (json.dumps(value), name))
    connection.commit()
    connection.close()
    found = replay(recording.path)
    assert found.difference == "tick 1: the replay has /t/1 SUCCESS, the recording /t/1 FAILURE"


def test_until_stops_after_that_tick(errand_of):
    found = replay(errand_of("textcraft", 8), until=4)
    assert found.same and found.ticks == 4 and found.status == "RUNNING"


def test_a_run_becomes_a_test_that_passes_and_is_not_overwritten(errand_of, tmp_path, pytester_like):
    journal = errand_of("textcraft", 3)
    made = write_test(journal, tmp_path / "kept")
    assert pytester_like(made) == 0
    with pytest.raises(BtError, match=r"there is .* already"):
        write_test(journal, tmp_path / "kept")
    rewrite(made.with_name(next(made.parent.glob("*.btr")).name), "answer", "sequence:", "fallback:")
    assert pytester_like(made) == 1


@pytest.fixture
def pytester_like():
    """Runs one test file in a process of its own."""
    import subprocess
    import sys

    def run_tests(path: Path) -> int:
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
        return subprocess.run(words, capture_output=True, timeout=900, cwd=path.parent).returncode

    return run_tests


def test_a_python_graft_cannot_be_made_again_and_the_replay_says_so(record):
    from py_trees.behaviours import Success

    run = record("version: 1\ntree: t\nroot:\n  sequence:\n    - wait: 1\n")
    run.tick()
    run.insert("/t", Success("ours"))
    run.tick()
    found = replay(read(run).path)
    assert "made in Python" in found.difference


def test_failure_of_the_root_is_replayed_too(record):
    run = record("version: 1\ntree: t\nroot:\n  fail: {}\n")
    assert run.tick().status is FAILURE
    assert replay(read(run).path).status == "FAILURE"


def test_a_journal_without_a_whole_tick_is_not_called_the_same(runs, capsys) -> None:
    text = "version: 1\ntree: t\nroot: {sequence: [wait: 1, fail: done]}\n"
    with Run(load(text), clock=Manual(), journal=runs) as run:
        run.spin()
    path = run.parts.journal.path
    assert replay(path).same
    with contextlib.closing(sqlite3.connect(path)) as damaged, damaged:
        damaged.execute("update events set body = '{}' where seq = (select min(seq) from events)")
    assert main(["runs", "replay", str(path)]) != 0
    told = capsys.readouterr()
    assert "has no whole tick to replay: event 1 is damaged" in told.err and "the same" not in told.out
