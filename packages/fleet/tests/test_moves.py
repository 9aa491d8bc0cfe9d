"""A run that goes on at another robot: what was begun is in the store before it begins, and nothing is done twice."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

import bt_runtime as bt
from bt_fleet.coordinator.coordinator import Coordinator
from bt_fleet.robot.copying import Copy, Fenced
from bt_fleet.robot.held import RUNNING, Own
from bt_fleet.robot.relocate import relocate
from bt_fleet.server.link import Link
from bt_fleet.store import record
from bt_fleet.store.record import DONE, Record
from bt_fleet.store.replica import restored
from bt_fleet.store.store import Store
from bt_fleet.store.task import Task
from bt_runtime.journal import Recording, writer
from bt_runtime.language.project import child
from packages.fleet.tests.serving import linked

SKILLS = """\
version: 1
skills: cell
about: Welds.
kinds:
  weld: {sentence: "weld {what}", params: {what: {type: string}}, on_resume: fail, impl: "cell.py:weld"}
"""
PYTHON = """\
import os
import time


def weld(what):
    with open(os.environ["LEDGER"], "a") as file:
        file.write(f"{what} {os.environ['BTR_FLEET_ROBOT']}\\n")
    while what == "slow":
        time.sleep(0.05)
"""
TREE = """\
version: 1
tree: seam
moves: true
skills: [cell]
root:
  sequence: [{weld: a}, {fallback: [{weld: slow}, {weld: b}]}]
"""


def laid_out(project: Path) -> None:
    for room in ("trees", "skills"):
        (project / room).mkdir(parents=True, exist_ok=True)
    (project / "btr.yaml").write_text("version: 1\n")
    (project / "skills" / "cell.yaml").write_text(SKILLS)
    (project / "skills" / "cell.py").write_text(PYTHON)
    (project / "trees" / "seam.yaml").write_text(TREE)


class Cell:
    """A server, a coordinator, and real robots: `btr fleet join`, each with its workers."""

    def __init__(self, folder: Path, link: Link, url: str) -> None:
        self.folder, self.store, self.url = folder, Store(link), url
        self.ledger = folder / "ledger"
        self.robots: dict[str, subprocess.Popen[bytes]] = {}

    def join(self, name: str) -> None:
        """Each robot has a project folder of its own, which it trusts."""
        project = self.folder / name
        laid_out(project)
        words = [*child.python("bt_runtime.cli"), "fleet", "join", "--robot", name, "--project", str(project),
                 "--server", self.url]  # fmt: skip
        around = child.environment(LEDGER=str(self.ledger), BTR_TRUST=str(project))
        with (self.folder / f"{name}.log").open("ab") as log:
            self.robots[name] = child.start(words, around, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def lines(self) -> list[str]:
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []

    async def done(self, task: str) -> Record:
        while (held := await self.store.get(task)) is None or held[0].state != DONE:
            await asyncio.sleep(0.05)
        return held[0]


@contextmanager
def ended(cell: Cell) -> Iterator[None]:
    try:
        yield
    finally:
        for process in cell.robots.values():
            child.end(process)


def test_a_killed_robots_run_goes_on_at_another_and_nothing_is_done_twice(tmp_path: Path) -> None:
    """r1 is killed with -9 within an action that may not be repeated. At r2, whose project is another folder, this
    action fails, the one before it counts as done, and the run goes on."""

    async def story() -> None:
        async with linked(tmp_path) as (server, link):
            made = Coordinator(link, lease=3.0)
            coordinator = asyncio.create_task(made.work())
            await made.ready.wait()
            cell = Cell(tmp_path, link, server.address.url)
            with ended(cell):
                cell.join("r1")
                await cell.store.add(Task("t", "seam"))
                while "slow r1" not in cell.lines():
                    await asyncio.sleep(0.05)
                child.end(cell.robots["r1"])
                cell.join("r2")
                held = await cell.done("t")
            coordinator.cancel()
            await asyncio.gather(coordinator, return_exceptions=True)
        assert (held.verdict, held.robot, held.term) == ("success", "r2", 2), held
        assert cell.lines() == ["a r1", "slow r1", "b r2"]

    asyncio.run(asyncio.wait_for(story(), 120))


def test_an_action_begins_once_its_beginning_is_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the other place does not have it, nothing is done; when it refuses, the action has failed without it."""
    asked: list[tuple[bool, int]] = []
    answers = {"why": "not yet"}
    did: list[str] = []

    def elsewhere(path: Path, closing: object) -> str:
        begun = any(each.kind == "begin" for each in Recording(path).events)
        asked.append((begun, len(did)))
        return answers["why"]

    monkeypatch.setattr(writer, "elsewhere", elsewhere)

    @bt.skill("weld {what}", on_resume="fail")
    def weld(what: str) -> None:
        did.append(what)

    for answer, wanted in (("it was given to another", bt.Status.FAILURE), ("", bt.Status.SUCCESS)):
        answers["why"] = answer
        with bt.Run(bt.load("version: 1\ntree: t\nroot: {weld: a}\n", skills=[weld]), journal=tmp_path) as run:
            assert run.spin() is wanted
            assert bool(did) is (wanted is bt.Status.SUCCESS)
    assert asked[0] == (True, 0) and all(begun for begun, _ in asked)


def test_the_store_takes_nothing_after_a_fence_and_a_spare_sees_all_before_it(tmp_path: Path) -> None:
    """A robot that was stopped for longer than its lease cannot begin anything more of a run that others go on with."""

    async def story() -> None:
        async with linked(tmp_path) as (_, link):
            store = Store(link)
            await store.prepare()
            await store.room("r1")
            copy = Copy(store, "r1", Own(Task("t", "t"), 1, RUNNING, record.MOVES, 1.0))
            with bt.Run(bt.load("version: 1\ntree: t\nroot: {wait: 60}\n"), journal=tmp_path / "runs") as run:
                run.tick()
                run.parts.journal.settled()
                await copy.go_on(run.parts.journal.path)
                await store.fence("r1", "t", 1)
                run.parts.journal.tape.note("something", {})
                run.parts.journal.settled()
                for _ in range(2):
                    with pytest.raises(Fenced):
                        await copy.go_on(run.parts.journal.path)
            pieces = await store.journal("r1", "t", 1)
            assert Recording(restored(pieces, tmp_path / "copy.btr")).events

    asyncio.run(story())


def test_a_journal_names_this_robots_files_where_they_are_the_runs(tmp_path: Path) -> None:
    """Another folder is no hindrance; a tree or Python that differs is one, and the journal is left as it was."""
    for name in ("one", "two"):
        laid_out(tmp_path / name)
    with bt.Run(bt.load(tmp_path / "one" / "trees" / "seam.yaml"), journal=tmp_path / "runs") as run:
        path = run.parts.journal.path
    relocate(path, tmp_path / "two")
    moved = Recording(path)
    assert not moved.damage and moved.head["project"] == str(tmp_path / "two")
    assert {Path(file["origin"]).is_relative_to(tmp_path / "two") for file in moved.head["files"]} == {True}
    for changed in ("skills/cell.py", "trees/seam.yaml"):
        (tmp_path / "one" / changed).write_text("version: 1\n")
        with pytest.raises(bt.BtError, match=f"{changed} has changed: a run of another robot cannot go on here"):
            relocate(path, tmp_path / "one")
    assert Recording(path).head == moved.head


def test_a_fenced_robots_word_gives_the_run_to_a_spare() -> None:
    """Whoever fenced it may have died before the record said so: the robot's own report does it then."""
    held = Record(Task("t", "t")).assigned("r1", record.MOVES, 0.0).started(1.0)
    after = record.folded(held, {"what": "fenced", "robot": "r1", "term": 1}, 2.0)
    assert after is not None and (after.state, after.resume) == (record.WAITING, ("r1", 1))
    assert record.folded(after, {"what": "fenced", "robot": "r1", "term": 1}, 3.0) is None
