"""A run on another machine is shown while it goes on: its copy here grows with the store's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

import bt_runtime as bt
from bt_fleet.face import Fleet
from bt_fleet.page import growing
from bt_fleet.robot.copying import Copy
from bt_fleet.robot.held import RUNNING, Own
from bt_fleet.server.server import Server, ServerOptions
from bt_fleet.store import record
from bt_fleet.store.task import Task
from bt_runtime.journal import Recording
from bt_runtime.journal.folder import is_live
from bt_runtime.run.view.recorded import JournalReader
from packages.fleet.tests.threads import until


def test_a_copy_grows_while_its_run_goes_on_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of a page gets each new tick, sees the copy as live, and is told once the task is done."""
    monkeypatch.setattr(growing, "EVERY", 0.02)
    server = Server(ServerOptions(tmp_path / "server", port=0, sync="1m"))
    asyncio.run(server.start())
    tree = bt.load("version: 1\ntree: t\nroot: {repeat: {times: 9, child: {wait: 1}}}\n")
    try:
        clock = bt.clock.Manual()
        with Fleet(server.address) as fleet, bt.Run(tree, journal=tmp_path / "runs", clock=clock) as run:
            fleet.call(fleet.store.prepare())
            fleet.call(fleet.store.room("r1"))
            task = Task("t", "t")
            fleet.call(fleet.store.add(task))
            fleet.call(fleet.store.change("t", lambda held: held.assigned("r1", record.STAYS, 1.0).started(2.0)))
            copy = Copy(fleet.store, "r1", Own(task, 1, RUNNING, record.STAYS, 1.0))

            def tick(times: int) -> int:
                for _ in range(times):
                    clock.advance(0.6)
                    run.tick()
                run.parts.journal.settled()
                fleet.call(copy.go_on(run.parts.journal.path))
                return len(Recording(run.parts.journal.path).events)

            tick(2)
            grows = growing.Growing(fleet, "t", tmp_path / "copy.btr")
            reader = JournalReader(grows.path)
            assert reader.live and [*reader.more()]
            count = tick(4)
            until(lambda: len(Recording(grows.path).events) == count)
            assert [*reader.more()] and reader.live and not Recording(grows.path).damage
            fleet.call(fleet.store.change("t", lambda held: held.done(record.SUCCESS, 3.0)))
            until(lambda: not grows.live)
            assert not is_live(grows.path)
            grows.close()
    finally:
        server.stop()
