"""What the agent process costs the robot beside a run: its share of a core, and the memory that is its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from bt_fleet.server.link import Address, Link
from bt_fleet.server.server import free_port
from bt_fleet.store.record import STARTED
from bt_fleet.store.store import Store
from bt_fleet.store.task import Task
from bt_runtime.language.project import child

_TREE = "version: 1\ntree: ticking\nroot:\n  wait: 3600\n"


async def measured(folder: Path, seconds: float) -> tuple[float, float]:
    """Returns the share of a core and the megabytes of an agent, while its worker ticks a tree 50 times a second."""
    port = free_port("127.0.0.1")
    project = folder / "project"
    (project / "trees").mkdir(parents=True)
    (project / "btr.yaml").write_text("version: 1\nhz: 50\n")
    (project / "trees" / "ticking.yaml").write_text(_TREE)
    btr = [sys.executable, "-P", "-m", "bt_runtime.cli", "fleet"]
    url = f"nats://127.0.0.1:{port}"
    up = ["up", "--data", str(folder / "server"), "--port", str(port)]
    join = ["join", "--robot", "r1", "--project", str(project), "--server", url]
    # an installed package has its bytecode beside it; compiling it anew costs an agent memory
    compiled = child.environment(PYTHONDONTWRITEBYTECODE="")
    rooms = [str(Path(child.HOME) / "bt_runtime" / room) for room in ("fleet", "cli/fleet", "project", "faults")]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *rooms], env=compiled, check=True)
    with (folder / "log").open("ab") as log:
        started = [
            child.start([*btr, *words], compiled, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            for words in (up, join)
        ]
    try:
        async with await Link(Address(url)).opened(30) as link:
            await link.once(lambda: _begun(Store(link)))
            await asyncio.sleep(5.0)  # what joining took is not what being there takes
            agent, begun = started[1].pid, time.monotonic()
            before = _used(agent)
            await asyncio.sleep(seconds)
            return (_used(agent) - before) / (time.monotonic() - begun), _own(agent)
    finally:
        for process in started:
            child.end(process)


async def _begun(store: Store) -> None:
    await store.add(Task("t", "ticking", to="r1"))
    async for each in store.watch():
        if each is not None and each[0].state == STARTED:
            return


def _used(process: int) -> float:
    """Seconds of a core that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _own(process: int) -> float:
    """Megabytes that would be free again if it ended; what it shares with other processes of Python is not counted."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    kept = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return (kept["Private_Clean"] + kept["Private_Dirty"]) / 1024


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        print(asyncio.run(measured(Path(place), float(sys.argv[1]))))
