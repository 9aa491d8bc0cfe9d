"""A robot without physics: a real agent process whose runs are waits. What it does to the world is a line in a ledger,
a file that nobody of the fleet reads or writes.

python light_robot.py URL NAME FOLDER LEDGER SHIFT FIRST COUNT [KEY]: COUNT robots in one process, NAME0, NAME1, …
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

from bt_fleet.coordinator.bid import Known
from bt_fleet.robot.card import Card
from bt_fleet.robot.held import Held, Own
from bt_fleet.robot.robot import Agent
from bt_fleet.robot.runner import Outcome
from bt_fleet.server.link import Address, Link
from bt_fleet.store import record
from bt_fleet.store.task import Task
from packages.fleet.tests.still import Still


class Ledger:
    """Lines that processes append, each with one write; the independent witness of what was done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def note(self, what: str, task: str, robot: str) -> None:
        os.write(self._file, f"{what} {task} {robot} {time.time():.6f}\n".encode())

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.path.read_text("utf-8").splitlines()]


class Waits(Still):
    """A runner whose trees are waits. A tree is called POLICY or POLICY-verify; the input `seconds` says how long."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name, self.ledger = name, ledger
        self._stops: dict[str, asyncio.Event] = {}

    async def known(self, task: Task) -> Known:
        policy = record.REPEAT if task.tree.startswith("repeat") else record.STAYS
        return Known(float(str(task.inputs.get("seconds", 0.0))) or 0.01, policy)

    async def run(self, own: Own, again: bool) -> Outcome:
        task = own.task
        half = float(str(task.inputs.get("seconds", 0.0))) / 2
        if again and own.policy != record.REPEAT:  # an action that was going on: what `on_resume` says
            if not task.tree.endswith("verify"):
                return Outcome(record.FAILURE, "cut off in the middle")
            if any(each[:2] == ["effect", task.id] for each in self.ledger.lines()):
                return Outcome(record.SUCCESS)
        self.ledger.note("tick", task.id, self.name)
        stop = self._stops[task.id] = asyncio.Event()
        if await self._stopped(stop, half):
            return Outcome(None)
        self.ledger.note("effect", task.id, self.name)
        return Outcome(None if await self._stopped(stop, half) else record.SUCCESS)

    async def _stopped(self, stop: asyncio.Event, seconds: float) -> bool:
        try:
            await asyncio.wait_for(stop.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def stop(self, task: str) -> None:
        if task in self._stops:
            self._stops[task].set()


async def main(
    url: str, name: str, folder: Path, ledger: Ledger, shift: float, first: int, count: int, key: str = ""
) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(first, first + count):
            own = f"{name}{number}"
            link = Link(Address(url, creds=Path(key) if key else None), own)
            held = Held(folder / own / "held.db")
            agent = Agent(Card(own, {"level": number % 4}), link, held, Waits(own, ledger), lambda: time.time() + shift)
            group.create_task(agent.work())


if __name__ == "__main__":
    words = sys.argv[1:]
    asyncio.run(
        main(
            words[0],
            words[1],
            Path(words[2]),
            Ledger(Path(words[3])),
            float(words[4]),
            int(words[5]),
            int(words[6]),
            *words[7:],
        )
    )
