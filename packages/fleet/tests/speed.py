"""How fast a fleet is: from a task that is sent to its first tick on an idle robot, and a burst of tasks until all are
assigned. Robots are light, the server, the coordinator and their messages are real."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bt_fleet.server import names
from bt_fleet.server.link import Address, Link
from bt_fleet.server.server import free_port
from bt_fleet.store.record import DONE, WAITING
from bt_fleet.store.store import Store
from bt_fleet.store.task import Task
from bt_runtime.language.project import child
from packages.fleet.tests.light_robot import Ledger

HERE = Path(__file__).parent


@dataclass
class Speed:
    robots: int
    p50: float = 0.0  # seconds from sending to the first tick
    p99: float = 0.0
    burst: float = 0.0  # seconds until all tasks of the burst are assigned
    fewest: int = 0  # tasks of the burst that the robot with the fewest got
    most: int = 0


async def measured(folder: Path, robots: int, processes: int, sends: int, burst: int, sync: str) -> Speed:
    port = free_port("127.0.0.1")
    address = Address(f"nats://127.0.0.1:{port}")
    ledger = Ledger(folder / "ledger")
    with (folder / "log").open("ab") as log:
        up = [
            "-P",
            "-m",
            "bt_runtime.cli",
            "fleet",
            "up",
            "--data",
            str(folder / "server"),
            "--port",
            str(port),
            "--sync",
            sync,
        ]
        started = [child.start([sys.executable, *up], stdout=log, stderr=log, stdin=subprocess.DEVNULL)]
        each = robots // processes
        for number in range(processes):
            words = [address.url, "r", str(folder), str(ledger.path), "0", str(number * each), str(each)]
            command = [sys.executable, "-P", str(HERE / "light_robot.py"), *words]
            started.append(child.start(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
    found = Speed(robots)
    try:
        async with await Link(address).opened(20) as link:
            await _joined(link, robots)
            store = Store(link)
            sent: dict[str, float] = {}
            for number in range(sends):
                task = f"one{number}"
                sent[task] = time.time()
                await store.add(Task(task, "repeat", {"seconds": 0.01}))
                while (held := await store.get(task)) is not None and held[0].state != DONE:
                    await asyncio.sleep(0.02)
            ticks = {task: float(at) for what, task, _, at in ledger.lines() if what == "tick"}
            took = sorted(ticks[task] - at for task, at in sent.items())
            found.p50, found.p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
            if burst:
                begun = time.monotonic()
                tasks = [Task(f"many{n}", "repeat", {"seconds": 3600.0 + n % 7}) for n in range(burst)]
                for first in range(0, burst, 256):
                    await asyncio.gather(*(store.add(task) for task in tasks[first : first + 256]))
                got = await _assigned(store, burst)
                found.burst = time.monotonic() - begun
                found.fewest, found.most = min(got.values()), max(got.values())
                if len(got) < robots:
                    found.fewest = 0
    finally:
        for process in started:
            child.end(process)
    return found


SKILLS = """\
version: 1
skills: cell
about: Tells when it was done.
kinds:
  note: {sentence: "note {what}", params: {what: {type: string}}, on_resume: repeat, impl: "cell.py:note"}
"""
PYTHON = """\
import os
import time


def note(what):
    file = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, f"tick {what} r0 {time.time():.6f}\\n".encode())
    os.close(file)
"""
TREE = "version: 1\ntree: noted\nskills: [cell]\ninputs: {what: string}\nroot: {note: '{what}'}\n"


@dataclass
class Light:
    p50: float  # seconds from sending a task to its skill's first line, with a real robot at rest
    p99: float
    rate: float  # tasks a second that one robot does, of many that wait


async def light(folder: Path, sends: int, many: int, sync: str) -> Light:
    """A robot by `btr fleet join`, with journals, and short tasks: one at a time, then many at once."""
    project, ledger = folder / "project", Ledger(folder / "ledger")
    for name, text in (("btr.yaml", "version: 1\n"), ("skills/cell.yaml", SKILLS), ("skills/cell.py", PYTHON),
                       ("trees/noted.yaml", TREE)):  # fmt: skip
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    port = free_port("127.0.0.1")
    address = Address(f"nats://127.0.0.1:{port}")
    fleet = [sys.executable, "-P", "-m", "bt_runtime.cli", "fleet"]
    up = [*fleet, "up", "--data", str(folder / "server"), "--port", str(port), "--sync", sync]
    join = [*fleet, "join", "--robot", "r0", "--project", str(project), "--server", address.url,
            "--state", str(folder / "r0")]  # fmt: skip
    around = child.environment(LEDGER=str(ledger.path), BTR_TRUST=str(project))
    with (folder / "log").open("ab") as log:
        started = [child.start(words, around, stdout=log, stderr=log, stdin=subprocess.DEVNULL) for words in (up, join)]
    try:
        async with await Link(address).opened(20) as link:
            await _joined(link, 1)
            store = Store(link)
            sent: dict[str, float] = {}
            for number in range(sends + 1):  # the first one warms up
                task = f"one{number}"
                sent[task] = time.time()
                await store.add(Task(task, "noted", {"what": task}))
                while (held := await store.get(task)) is not None and held[0].state != DONE:
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.1)
            await asyncio.gather(*(store.add(Task(f"many{n}", "noted", {"what": f"many{n}"})) for n in range(many)))
            while len(ticks := {task: float(at) for _, task, _, at in ledger.lines()}) < sends + 1 + many:
                await asyncio.sleep(0.1)
            took = sorted(ticks[task] - at for task, at in sent.items() if task != "one0")
            done = sorted(at for task, at in ticks.items() if task.startswith("many"))
            return Light(took[len(took) // 2], took[int(len(took) * 0.99)], (many - 1) / (done[-1] - done[0]))
    finally:
        for process in started:
            child.end(process)


async def _joined(link: Link, robots: int) -> None:
    while True:
        try:
            keys = await (await link.bucket(names.ROBOTS)).keys()
            if len(keys) >= robots:
                return
        except Exception:
            pass
        await asyncio.sleep(0.1)


async def _assigned(store: Store, burst: int) -> Counter[str]:
    has: dict[str, str] = {}
    async for each in store.watch():
        if each is not None and each[0].task.id.startswith("many"):
            if each[0].state != WAITING:
                has[each[0].task.id] = each[0].robot or ""
            if len(has) == burst:
                break
    return Counter(has.values())


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory(prefix="speed-") as place:
        numbers = [int(word) for word in sys.argv[1:5]]
        print(asyncio.run(measured(Path(place), *numbers, sys.argv[5])))
