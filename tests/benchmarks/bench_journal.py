"""What a journal costs: per tick of a 100 Hz tree of 50 nodes, per decision of an agent, and as it is read again."""

from __future__ import annotations

import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench_engine import changing as busy
from rows import Row

from bt_runtime import Run, Skill, Status, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.journal import replay
from bt_runtime.plugins import open_suite

HZ = 100
BRANCHES = 16  # each three nodes: a sequence of a check and a running leaf


def fifty_nodes() -> str:
    """A robot's patrol: every tick looks at everything, some branches change, a timeout reads the clock."""
    lines = ["version: 1", "tree: patrol", "blackboard:", "  n: {type: integer, default: 0}", "root:", "  parallel:"]
    lines += ["    order: together", f"    success: {BRANCHES + 1}", "    children:"]
    for i in range(BRANCHES):
        lines += [
            f"      - reactive_sequence:\n          - check: n % {i + 2} != 0 or n >= 0\n          - wait: 1000000"
        ]
    lines += ["      - wait: 1000000"]
    return "\n".join(lines) + "\n"


def changing() -> str:
    """The same size, and nearly all of its nodes change their status at every other tick."""
    return busy(44, "        - wait: 0.001\n")


def ticks(text: str, journal: Path | None, count: int) -> tuple[list[float], float]:
    """Seconds of each tick at 100 Hz, and the processor time of the whole process per tick."""
    with Run(load(text), journal=journal) as run:
        for _ in range(50):
            run.tick()
        found, before, due = [], time.process_time(), time.perf_counter()
        for _ in range(count):
            due += 1 / HZ
            time.sleep(max(0.0, due - time.perf_counter()))
            start = time.perf_counter()
            run.tick()
            found.append(time.perf_counter() - start)
        used = (time.process_time() - before) / count
        assert sum(1 for _ in run.nodes()) >= 45
    return found, used


def per_tick(name: str, text: str, folder: Path) -> Iterator[Row]:
    plain: list[float] = []
    kept: list[float] = []
    used = {"plain": [0.0], "kept": [0.0]}
    for i in range(6):  # by turns, so that a noisy neighbour disturbs both
        for journal, times, key in ((None, plain, "plain"), (folder / f"{name}{i}", kept, "kept")):
            found, cpu = ticks(text, journal, 60)
            times += found
            used[key].append(cpu)
    a, b = statistics.median(plain), statistics.median(kept)
    extra = statistics.median(used["kept"][1:]) - statistics.median(used["plain"][1:])
    period = 1e6 / HZ
    yield Row(
        f"journal: of the 10 ms of a tick at 100 Hz, 50 nodes, {name}",
        f"tick {a * 1e6:.0f} µs, with a journal {b * 1e6:.0f} µs; whole process +{extra * 1e6:.0f} µs",
        100 * max(b - a, extra) * 1e6 / period, "≤ 5 %",
    )  # fmt: skip


def back_to_back(folder: Path) -> Iterator[Row]:
    """The same tick without the pauses of 100 Hz, where caches are warm and every microsecond shows."""
    found: dict[bool, list[float]] = {False: [], True: []}
    for i in range(5):
        for journal in (False, True):
            with Run(load(fifty_nodes()), journal=folder / f"hot{i}" if journal else None) as run:
                for _ in range(300):
                    start = time.perf_counter()
                    run.tick()
                    found[journal].append(time.perf_counter() - start)
    a, b = statistics.median(found[False]), statistics.median(found[True])
    yield Row(
        "journal: a tick of 50 nodes back to back, its thread's own time", f"{a * 1e6:.1f} → {b * 1e6:.1f} µs",
        100 * (b / a - 1), "≤ 5 %",
    )  # fmt: skip


def script(plan: list[str]) -> Callable[[Any], str]:
    left = iter(plan)
    return lambda ask: f"Act: {next(left, 'done')}"


def per_decision(folder: Path) -> Iterator[Row]:
    suite = open_suite("house")
    task = suite.tasks(3, 1)[0]
    world = suite.open()
    world.reset(task)
    plan = []
    for sentence in suite.oracle(world, task):
        plan.append(sentence)
        world.act(sentence)
    times: dict[bool, list[float]] = {False: [], True: []}
    path = None
    for _ in range(5):
        for journal in (False, True):
            world.reset(task)
            with Run(
                load("react"), inputs={"goal": task.goal}, world=world, task=task, model=ScriptedModel(script(plan)),
                clock=Manual(), journal=folder if journal else None,
            ) as run:  # fmt: skip
                start = time.perf_counter()
                run.spin(ticks=5000)
                times[journal].append((time.perf_counter() - start) / len(plan))
                path = run.parts.journal.path if run.parts.journal is not None else path
    a, b = statistics.median(times[False]), statistics.median(times[True])
    yield Row(
        "journal: one decision and its action (prompt, answer, observation, memory, fsync)",
        f"{a * 1e6:.0f} µs, with a journal {b * 1e6:.0f} µs", (b - a) * 1e3, "≤ 5 ms",
    )  # fmt: skip
    assert path is not None
    start = time.perf_counter()
    found = replay(path)
    took = time.perf_counter() - start
    size = path.stat().st_size / len(plan)
    yield Row(
        "journal: a decision in the file, and a replay's time for one",
        f"{size / 1000:.1f} KB, {took / len(plan) * 1e6:.0f} µs, {'the same' if found.same else found.difference}",
        size / 1000, "≤ 20 KB",
    )  # fmt: skip


PATROL = """\
version: 1
tree: patrol
blackboard: {n: {type: integer, default: 0}}
root:
  repeat:
    times: -1
    child: {sequence: [drive: {to: "{n % 7}"}, wait: 0.3, set: {n: "{n + 1}"}]}
"""
RESUMED = """\
import resource, sys, time
from bench_journal import drive
from bt_runtime.clock import Manual
from bt_runtime.journal import resume
start = time.perf_counter()
with resume(sys.argv[1], skills=[drive()], clock=Manual()) as run:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(run.parts.engine.count, time.perf_counter() - start, used)
"""
MANY = 1_000_000


def drive() -> type[Skill]:
    class Drive(Skill):
        left = 0

        def start(self, to: int) -> None:
            self.left = 5

        def poll(self) -> Status:
            self.left -= 1
            return Status.RUNNING if self.left else Status.SUCCESS

    return skill("drive to {to}", name="drive", on_resume="repeat")(Drive)  # type: ignore[return-value]


def resumed(folder: Path) -> Iterator[Row]:
    """A patrol of many ticks that was stopped, led back in a process of its own."""
    found = {}
    for ticks in (1_000, MANY):
        clock = Manual()
        with Run(load(PATROL, skills=[drive()]), clock=clock, journal=folder / str(ticks)) as run:
            for _ in range(ticks):
                run.tick()
                clock.advance(0.1)
        assert run.parts.journal is not None
        words = [sys.executable, "-c", RESUMED, str(run.parts.journal.path)]
        told = subprocess.run(words, capture_output=True, text=True, check=True, cwd=Path(__file__).parent).stdout
        count, seconds, memory = map(float, told.split())
        assert count >= ticks - 1, count
        found[ticks] = seconds, memory
    (few, small), (many, large) = found.values()
    yield Row(f"journal: resume of {MANY:,} ticks", f"{many:.2f} s; of 1,000 {few:.2f} s", many, "≤ 2 s")
    yield Row(
        f"journal: memory at the resume of {MANY:,} ticks beside 1,000", f"{large:.0f} MB beside {small:.0f} MB",
        large / small, "≤ 1.2 ×",
    )  # fmt: skip


STEPS = 60


class Step(Skill):
    def start(self, n: int) -> None: ...

    def poll(self) -> Status:
        return Status.SUCCESS


def durable(folder: Path) -> Iterator[Row]:
    """Skills that may not be repeated, in a sequence: the begin and the end of each are on the disk before the tree
    goes on. Beside them, by turns, two commits of SQLite that wait for the disk."""
    steps = "".join(f"    - step: {i}\n" for i in range(STEPS))
    tree = load(f"version: 1\ntree: t\nroot:\n  sequence:\n{steps}", skills=[Step])
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(9):
        with Run(tree, journal=folder / f"durable{turn}") as run:
            start = time.perf_counter()
            run.spin()
            ours.append((time.perf_counter() - start) / STEPS)
        file = sqlite3.connect(folder / f"{turn}.db", isolation_level=None)
        for line in ("pragma journal_mode=wal", "pragma synchronous=full", "create table e(x)"):
            file.execute(line)
        start = time.perf_counter()
        for _ in range(2 * STEPS):
            file.execute("insert into e values(?)", (b"x" * 150,))
        theirs.append((time.perf_counter() - start) / STEPS)
        file.close()
    a, b = statistics.median(ours), statistics.median(theirs)
    yield Row(
        "journal: a skill whose begin and end are on the disk, beside two commits of SQLite",
        f"{a * 1e6:.0f} µs, commits {b * 1e6:.0f} µs", a / b, "≤ 1.5 ×",
    )  # fmt: skip


GRAFTS = 10_000
PLAN = """sequence:
- fallback:
  - check: n > {i}
  - log: looked in room {i}
  - sequence: [{{log: one}}, {{log: two}}]
- log: three
- set: {{n: '{{n + 1}}'}}
- wait: 100000000
"""
SLOT = """version: 1
tree: t
blackboard: {n: {type: integer, default: 0}}
root: {parallel: {success: -1, children: [wait: 100000000, sequence: {name: slot, children: [wait: 100000000]}]}}
"""


def resident() -> float:
    """MB of this process's memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def grafted(folder: Path) -> Iterator[Row]:
    """Grafts of nine nodes as quick as they go: what waits to be written is bounded, and no tick works or waits long
    for it. What other programs take of the processor is not counted."""
    longest = memory = 0.0
    with Run(load(SLOT), journal=folder / "grafts") as run:
        run.tick()
        assert run.parts.journal is not None
        writer = run.parts.journal.tape.writer
        assert writer is not None
        for i in range(GRAFTS):
            start, waited = time.thread_time(), writer.slowed
            run.replace("/t/slot/0", PLAN.format(i=i))
            run.tick()
            longest = max(longest, time.thread_time() - start + writer.slowed - waited)
            memory = resident() if i == GRAFTS // 20 else memory
        grown = resident() - memory
    yield Row(
        f"journal: longest of {GRAFTS:,} grafts and their ticks, one behind the other",
        f"{longest * 1e3:.1f} ms; memory {memory:.0f} MB, +{grown:.0f} MB at the end", longest * 1e3, "≤ 20 ms",
    )  # fmt: skip


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as made:
        yield from per_tick("nothing changes", fifty_nodes(), Path(made))
        yield from per_tick("45 change at every other tick", changing(), Path(made))
        yield from back_to_back(Path(made))
        yield from per_decision(Path(made) / "decisions")
        yield from durable(Path(made))
        yield from grafted(Path(made))
        yield from resumed(Path(made))
