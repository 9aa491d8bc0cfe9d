"""Kills writers at random moments and counts what was lost. A script, because the writers must be processes.

python tests/memory/kill.py rounds FOLDER ROUNDS SEED
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience

GOALS = [
    f"{verb} the {thing}" for verb in ("find", "wash", "move", "open") for thing in ("cup", "apple", "box", "lamp")
]


class Outcome(NamedTuple):
    acknowledged: int
    lost: int
    torn: int
    index_wrong: int
    corrupt: int
    doubled: int


def run_of(name: str, number: int) -> list[Experience]:
    """A run of one to four agents; its size and text follow from its name, so that they can be checked."""
    size = 1 + number % 4
    return [
        Experience(
            goal=f"{GOALS[(number * 7 + i) % len(GOALS)]} number {number // 8}",
            text=f"{name} {number} {i}\n" + "Act: look around\n" * (number % 50),
            end=("success", "failure", "expand")[i % 3],  # type: ignore[arg-type]
            run=f"{name}:{number}:{size}",
            place=f"/{i}",
            verdict=True,
            when=1.0,
        )
        for i in range(size)
    ]


def write(path: str, name: str) -> None:
    """Writes runs for ever; says on stdout which one is safe."""
    with Episodes.open(path, "hashing") as memory:
        for number in range(10**9):
            memory.add(run_of(name, number))
            os.write(1, f"{name} {number}\n".encode())


def rounds(folder: Path, count: int, seed: int, writers: int = 2) -> Outcome:
    path, chance = folder / "kill.sqlite", random.Random(seed)
    acknowledged: set[tuple[str, int]] = set()
    total = Outcome(0, 0, 0, 0, 0, 0)
    for turn in range(count):
        acknowledged |= _one_round(path, [f"w{turn}.{i}" for i in range(writers)], chance)
        total = Outcome(*map(sum, zip(total, _verify(path, acknowledged), strict=True)))._replace(
            acknowledged=len(acknowledged)
        )
    return total


def _one_round(path: Path, names: list[str], chance: random.Random) -> set[tuple[str, int]]:
    command = [sys.executable, __file__, "write", str(path)]
    started = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for name in names]
    for process in started:
        assert process.stdout is not None
        process.stdout.peek(1)  # type: ignore[attr-defined]  # it has written its first run
    time.sleep(chance.uniform(0.0, 0.15))
    for process in started:
        process.send_signal(signal.SIGKILL)
    said = b"".join(process.communicate()[0] for process in started)
    return {(line.split()[0], int(line.split()[1])) for line in said.decode().splitlines()}


def _verify(path: Path, acknowledged: set[tuple[str, int]]) -> Outcome:
    lost = torn = wrong = doubled = 0
    with Episodes.open(path, "hashing") as memory:
        with memory.store.reading() as db:
            corrupt = int(db.execute("PRAGMA integrity_check").fetchone()[0] != "ok")
            goals = dict(db.execute("SELECT goal, id FROM goals"))
            vectors = dict(db.execute("SELECT goal, vector FROM vectors"))
        found: dict[str, list[str]] = {}
        for e in memory.store.each():
            found.setdefault(e.run, []).append(e.uid)
        for run, uids in found.items():
            name, number, _ = run.split(":")
            torn += sorted(uids) != sorted(e.uid for e in run_of(name, int(number)))
            doubled += len(uids) != len(set(uids))
        lost = sum(f"{n}:{i}:{1 + i % 4}" not in found for n, i in acknowledged)
        wrong = _index_faults(memory, goals, vectors)
        last = max(acknowledged, key=lambda pair: pair[1])
        doubled += memory.add(run_of(*last)).new  # a retry of what is there already adds nothing
    return Outcome(0, lost, torn, wrong, corrupt, doubled)


def _index_faults(memory: Episodes, goals: dict[str, int], vectors: dict[int, bytes]) -> int:
    """Every goal has its own vector, finds itself first, and no other is in the index."""
    from bt_runtime.memory.embedder import embed_packed

    wrong = int(set(vectors) != set(goals.values()))
    cache = memory._index()
    with memory.store.reading() as db:
        for goal, blob in zip(goals, embed_packed(memory.embedder, list(goals)), strict=True):
            hits = cache.search(db, blob, 1)
            wrong += vectors.get(goals[goal]) != blob or goals[goal] not in {h.goal for h in hits if h.score == 1.0}
    return wrong + (len(cache) != len(goals))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], sys.argv[3])
    else:
        print(json.dumps(rounds(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))._asdict()))
