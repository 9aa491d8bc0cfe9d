"""`requires` of a skill: nothing starts or goes on while the condition is false, whoever asks for it."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import debugger_of, resume
from bt_runtime.language.manifest import parse
from bt_runtime.skills.skill import SkillError
from bt_runtime.testing import Manual

HEAD = "version: 1\ntree: t\nblackboard: {closed: {type: boolean, default: true}}\nroot:\n  "
FAILURE, RUNNING, SUCCESS = bt.Status.FAILURE, bt.Status.RUNNING, bt.Status.SUCCESS


def drive(log: list[str], requires: str = "closed", **more: Any) -> Any:
    @bt.skill("drive", name="drive", requires=requires, **more)
    class Drive(bt.Skill):
        def start(self) -> None:
            log.append("start")

        def poll(self) -> bt.Status:
            return RUNNING

        def cancel(self) -> None:
            log.append("cancel")

        def verify(self) -> bool:
            log.append("verify")
            return False

    return Drive


def test_a_write_from_another_thread_halts_a_skill_of_a_run_that_sleeps() -> None:
    log: list[str] = []
    began = threading.Event()

    @bt.skill("drive", requires="closed")
    async def drive() -> None:
        import asyncio

        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            log.append("cancel")

    with bt.Run(bt.load(f"{HEAD}drive: {{}}\n", skills=[drive])) as run:

        def open_it() -> None:
            began.wait(30)
            run.blackboard["closed"] = False

        opener = threading.Thread(target=open_it)
        opener.start()
        assert run.spin(seconds=30) is FAILURE
        opener.join()
    assert log == ["cancel"]


def test_an_entry_that_the_tree_itself_writes_halts_the_skill_at_the_next_tick() -> None:
    log: list[str] = []
    root = "parallel: [{drive: {}}, {sequence: [{wait: 1}, {set: {closed: false}}]}]\n"
    clock = Manual()
    with bt.Run(bt.load(HEAD + root, skills=[drive(log)]), clock=clock) as run:
        run.tick()
        clock.advance(1)
        for _ in range(2):
            status = run.tick().status
        assert status is FAILURE
    assert log == ["start", "cancel"]


@pytest.mark.parametrize(
    "wrapped", ["retry: {times: 3, child: {drive: {}}}", "timeout: {seconds: 9, child: {drive: {}}}"]
)
def test_neither_a_retry_nor_a_timeout_starts_it_while_the_condition_is_false(wrapped: str) -> None:
    log: list[str] = []
    with bt.Run(bt.load(HEAD + wrapped + "\n", skills=[drive(log)])) as run:
        run.blackboard["closed"] = False
        assert run.spin(seconds=30) is FAILURE
    assert log == []


def test_an_included_tree_cannot_stand_in_for_the_entry(tmp_path: Path) -> None:
    """The names are entries of the outermost tree; one of the same name below it is another one."""
    log: list[str] = []
    inner = "version: 1\ntree: inner\nblackboard: {closed: {type: boolean, default: true}}\nroot:\n  drive: {}\n"
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "inner.yaml").write_text(inner)
    (tmp_path / "trees" / "t.yaml").write_text(f"{HEAD}tree: inner\n")
    tree = bt.load(tmp_path / "trees" / "t.yaml", skills=[drive(log)], project=tmp_path)
    with bt.Run(tree) as run:
        run.blackboard["closed"] = False
        assert run.tick().status is FAILURE
    assert log == []


def test_a_graft_meets_the_same_condition() -> None:
    log: list[str] = []
    with bt.Run(bt.load(f"{HEAD}sequence: [{{wait: 1}}]\n", skills=[drive(log)])) as run:
        run.blackboard["closed"] = False
        run.tick()
        run.replace("/t/0", "drive: {}")
        run.tick()
        assert run.tick().status is FAILURE
    assert log == []


@pytest.mark.parametrize("condition", ["closde", "closed + 1", "1 if closed else 0"])
def test_what_cannot_be_told_or_is_not_true_does_not_hold(condition: str) -> None:
    """A misspelt name, an error, a number: none of them is `true`."""
    log: list[str] = []
    with bt.Run(bt.load(f"{HEAD}drive: {{}}\n", skills=[drive(log, condition)])) as run:
        assert run.tick().status is FAILURE
        assert condition in run.parts.engine.root.feedback_message
    assert log == []


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("on_resume", ["repeat", "verify"])
def test_a_resumed_run_asks_again_before_the_skill_goes_on(tmp_path: Path, on_resume: Any, closed: bool) -> None:
    """What was opened while the process was dead: nothing is asked, started or repeated."""
    log: list[str] = []
    tree = bt.load(f"{HEAD}drive: {{}}\n", skills=[drive(log, on_resume=on_resume)])
    with bt.Run(tree, journal=tmp_path / "runs") as run:
        run.tick()
        run.tick()
        assert run.parts.journal is not None and run.parts.journal.path is not None
        kept = tmp_path / "killed.btr"
        _copy(run.parts.journal.path, kept)
    log.clear()
    with resume(kept, skills=[drive(log, on_resume=on_resume)]) as again:
        again.blackboard["closed"] = closed
        assert again.tick().status is (RUNNING if closed else FAILURE)
        for _ in range(1000 * closed):  # `verify` is asked in a thread
            if "start" in log:
                break
            time.sleep(0.001)
            again.tick()
    went_on = {"repeat": ["start"], "verify": ["verify", "start"]}[on_resume] if closed else []
    assert [each for each in log if each != "cancel"] == went_on


def _copy(path: Path, to: Path) -> None:
    import shutil

    for each in path.parent.glob(f"{path.name}*"):
        shutil.copy(each, to.parent / each.name.replace(path.name, to.name))


@pytest.mark.parametrize("text", ["true", "closed and", "1 < 2"])
def test_a_condition_that_is_none_is_a_fault_at_its_place(text: str) -> None:
    [fault] = parse(f"version: 1\nskills: s\nkinds:\n  go: {{sentence: go, requires: '{text}'}}\n").diagnostics
    assert (
        fault.code == "BT042" and fault.span.line == 4 and fault.message.startswith("`requires` takes an expression: ")
    )
    assert fault.message[-1] != "0"
    with pytest.raises(SkillError):
        bt.load(f"{HEAD}drive: {{}}\n", skills=[drive([], text)])


def test_a_condition_over_what_no_tree_has_is_told() -> None:
    """A tree that can only fail on it is warned about."""
    told = bt.load(f"{HEAD}drive: {{}}\n", skills=[drive([], "guard")]).warnings
    assert any("guard" in each.message for each in told)


@pytest.mark.parametrize("closed", [True, False])
def test_a_debuggers_forced_result_starts_nothing_and_taken_back_it_is_no_permission(closed: bool) -> None:
    """A forced result is a result alone. The node that is no longer forced asks the condition as any other."""
    log: list[str] = []
    tree = bt.load(HEAD.replace("true", str(closed).lower()) + "drive: {}\n", skills=[drive(log)])
    with bt.Run(tree) as run:
        debugger_of(run).force("/t", "running")
        assert run.tick().running
        assert log == []
        debugger_of(run).take_back()
        run.spin(ticks=3)
        assert log[:1] == (["start"] if closed else [])
