"""A robot's runs as processes: where nothing has begun it is begun, and a failure is told in words."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from bt_fleet.robot.held import RUNNING, Held, Own
from bt_fleet.robot.runner import Outcome
from bt_fleet.robot.runs import Runs
from bt_fleet.store import record
from bt_fleet.store.task import Task
from bt_runtime.journal.folder import begun, last_begun
from packages.fleet.tests.test_moves import laid_out

ONE = "version: 1\ntree: one\nskills: [cell]\nroot: {weld: a}\n"
SLOW = "version: 1\ntree: slow\nskills: [cell]\nroot: {sequence: [{weld: a}, {weld: slow}]}\n"
HOPELESS = "version: 1\ntree: hopeless\nskills: [cell]\ninputs: {x: string}\nroot: {weld: '{x}'}\n"


def empty(path: Path) -> None:
    path.touch()


def half_made(path: Path) -> None:
    """SQLite's log that takes the file back to nothing is still beside it."""
    path.write_bytes(bytes(4096))
    Path(f"{path}-journal").write_bytes(bytes(512))


UNBEGUN = (empty, half_made)


@pytest.mark.parametrize("make", UNBEGUN)
def test_a_journal_that_is_not_made_has_not_begun(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A process that was killed early leaves one of these."""
    make(tmp_path / "a.btr")
    assert not begun(tmp_path / "a.btr")
    assert last_begun(tmp_path) is None


def without_rows(path: Path, table: str) -> None:
    """Changes one byte of a journal: how many rows stand on the first page of a table."""
    with closing(sqlite3.connect(path)) as read:
        read.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = read.execute("PRAGMA page_size").fetchone()[0]
        page = read.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    data = bytearray(path.read_bytes())
    at = size * (page - 1)
    assert data[at + 3 : at + 5] != b"\0\0"
    data[at + 3 : at + 5] = b"\0\0"
    path.write_bytes(data)


class Robot:
    """The runs of one robot, in a project of its own."""

    def __init__(self, folder: Path) -> None:
        laid_out(folder)
        for name, text in (("one", ONE), ("slow", SLOW), ("hopeless", HOPELESS)):
            (folder / "trees" / f"{name}.yaml").write_text(text)
        self.folder, self.ledger, self.held = folder, folder / "ledger", Held(folder / "held.db")
        around = {"LEDGER": str(self.ledger), "BTR_FLEET_ROBOT": "r1", "BTR_TRUST": str(folder)}
        self.runs = Runs(folder / "runs", self.held, fleet=around)

    def own(self, tree: str) -> Own:
        return Own(Task("t", tree), 1, RUNNING, record.STAYS, 1.0)

    def lines(self) -> list[str]:
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []


def played(folder: Path, monkeypatch: pytest.MonkeyPatch, story: Callable[[Robot], Awaitable[None]]) -> None:
    async def whole() -> None:
        robot = Robot(folder)
        monkeypatch.chdir(folder)
        try:
            await asyncio.wait_for(story(robot), 120)
        finally:
            await robot.runs.close()
            robot.held.close()

    asyncio.run(whole())


@pytest.mark.parametrize("make", UNBEGUN)
def test_where_nothing_has_begun_the_task_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    """The agent and its worker were killed as the journal came to be: the next agent runs the task, once."""

    async def story(robot: Robot) -> None:
        own = robot.own("one")
        robot.runs.path(own).mkdir(parents=True)
        make(robot.runs.path(own) / "one-1.btr")
        assert await robot.runs.run(own, True) == Outcome(record.SUCCESS, "", {})
        assert robot.lines() == ["a r1"]

    played(tmp_path, monkeypatch, story)


def test_a_run_that_was_cut_off_names_the_skill_that_may_not_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is killed within an action: the reason is not an exit status."""

    async def story(robot: Robot) -> None:
        going = asyncio.create_task(robot.runs.run(robot.own("slow"), False))
        while robot.lines() != ["a r1", "slow r1"]:
            await asyncio.sleep(0.02)
        robot.runs._at_work["t"].process.kill()
        ended = await going
        assert ended.verdict == record.FAILURE
        assert "weld slow" in ended.reason and "cut off" in ended.reason and "exit" not in ended.reason
        assert robot.lines() == ["a r1", "slow r1"]

    played(tmp_path, monkeypatch, story)


def test_a_journal_that_has_lost_its_head_is_damaged_and_its_run_is_not_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stood there may have been done: an action that may not be repeated is not done again."""

    async def story(robot: Robot) -> None:
        own = robot.own("one")
        assert await robot.runs.run(own, False) == Outcome(record.SUCCESS, "", {})
        journal = robot.runs.journal(own)
        assert journal is not None
        without_rows(journal, "head")
        ended = await robot.runs.run(own, True)
        assert robot.lines() == ["a r1"]
        assert ended.verdict == record.FAILURE and "damaged" in ended.reason

    played(tmp_path, monkeypatch, story)


@pytest.mark.parametrize("what", ["nothing", "failure", "another version", "new python", "a thread", "a child", "stop"])
def test_a_worker_runs_the_next_task_unless_something_is_left_of_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A process that may not be as it was is not used again, and the next task does not see it."""
    left = {
        "a thread": "import threading; threading.Thread(target=time.sleep, args=[60], daemon=True).start()",
        "a child": "import subprocess; subprocess.Popen(['sleep', '60'])",
        "failure": "raise ValueError",
    }

    async def story(robot: Robot) -> None:
        cell, runs = robot.folder / "skills" / "cell.py", robot.runs
        text = cell.read_text().replace("['BTR_FLEET_ROBOT']", "['BTR_FLEET_ROBOT'] + ' ' + str(os.getpid())")
        cell.write_text(text.replace("    while", f"    {left.get(what, 'pass')}\n    while"))
        going = asyncio.create_task(runs.run(robot.own("slow" if what == "stop" else "one"), False))
        if what == "stop":
            while len(robot.lines()) < 2:
                await asyncio.sleep(0.02)
            runs.stop("t")
        verdicts = {"failure": record.FAILURE, "stop": None}
        assert (await going).verdict == verdicts.get(what, record.SUCCESS)
        if what == "another version":
            assert runs._warm is not None
            runs._warm.version = "1234"
        if what == "new python":
            cell.write_text(text.replace('f"{what}', 'f"new-{what}'))
        following = robot.own("one")._replace(task=Task("u", "one"))
        await runs.run(following, False)
        words = [each.split() for each in robot.lines()]
        assert (words[0][2] == words[-1][2]) == (what == "nothing")
        assert words[-1][0] == ("new-a" if what == "new python" else "a")

    played(tmp_path, monkeypatch, story)


def test_a_run_that_cannot_begin_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing input, and a tree that is not there: the command's own words."""

    async def story(robot: Robot) -> None:
        ended = await robot.runs.run(robot.own("hopeless"), False)
        assert ended.verdict == record.FAILURE and "`x`" in ended.reason and "exit" not in ended.reason
        (robot.folder / "trees" / "one.yaml").unlink()
        ended = await robot.runs.run(robot.own("one")._replace(term=2), False)
        assert ended.verdict == record.FAILURE and "one" in ended.reason and "exit" not in ended.reason

    played(tmp_path, monkeypatch, story)
