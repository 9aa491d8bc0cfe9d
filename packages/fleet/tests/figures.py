"""The figures of a fleet as a table: what was measured here beside what it must be. `make fleet`;
ONLY=chaos,speed takes rows, TASKS= and KILLS= make the long one shorter."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from packages.fleet.tests.chaos import Chaos, Found, Plan
from packages.fleet.tests.optimum import case, listed, makespan, nearest, optimum
from packages.fleet.tests.speed import Speed, light, measured


class Row(NamedTuple):
    work: str
    figure: str
    target: str
    met: bool


def chaos(args: argparse.Namespace, field: bool) -> Iterator[Row]:
    """1,000 tasks, 200 kills; connections are cut for 10 s to minutes, clocks are up to a day wrong."""
    kind = "of the field" if field else "without physics"
    plan = Plan(robots=args.robots, tasks=args.tasks, kills=args.kills, cuts=args.kills // 4,
                cut=(args.cut_least, args.cut_most), lease=4.0, pause=2.0 if field else 1.0, seconds=1.0,
                seed=args.seed, limit=7200.0, field=field)  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        found: Found = asyncio.run(Chaos(plan, Path(folder)).run())
    work = f"{found.tasks:,} tasks, {plan.robots} robots {kind}, {found.kills} kills, {found.cuts} cuts"
    yield Row(f"{work}: lost", str(len(found.lost)), "0", not found.lost)
    yield Row("  with two verdicts", str(len(found.two_verdicts)), "0", not found.two_verdicts)
    yield Row("  effects doubled beyond policy", str(len(found.doubled)), "0", not found.doubled)
    yield Row("  success without an effect", str(len(found.unfounded)), "0", not found.unfounded)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in found.verdicts.most_common())
    yield Row(f"  verdicts ({found.seconds:.0f} s)", verdicts, "", True)
    for reason, count in found.reasons.most_common(8):
        yield Row(f"    {reason}", str(count), "", True)


def forged(args: argparse.Namespace) -> Iterator[Row]:
    """Everybody has a key; two of them send forged, malformed, repeated and late messages between kills and cuts."""
    plan = Plan(robots=8, tasks=args.tasks, kills=args.kills, cuts=args.kills // 4, lease=4.0, seconds=0.3,
                seed=args.seed, limit=7200.0, forged=10 * args.tasks)  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        found = asyncio.run(Chaos(plan, Path(folder)).run())
    wrong = {"lost": found.lost, "two verdicts": found.two_verdicts, "doubled": found.doubled,
             "unfounded": found.unfounded, "forged": found.forged}  # fmt: skip
    work = f"{found.tasks:,} tasks, {found.hostile:,} hostile messages, {found.kills} kills, {found.cuts} cuts"
    said = ", ".join(f"{len(each)} {name}" for name, each in wrong.items() if each) or "0"
    yield Row(f"{work}: wrong ({found.seconds:.0f} s)", said, "0", found.sound)


def partition(args: argparse.Namespace) -> Iterator[Row]:
    """Each robot in a network namespace; cables are pulled out for minutes, which no socket tells."""
    from packages.fleet.tests.namespace import missing

    if why := missing():
        yield Row("partitions between network namespaces", why[:24], "0 lost", False)
        return
    plan = Plan(robots=6, tasks=150, kills=20, cuts=10, cut=(10.0, 150.0), lease=4.0, pause=4.0, seconds=2.0,
                seed=args.seed, limit=1800.0, cables=True)  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        found = asyncio.run(Chaos(plan, Path(folder)).run())
    work = f"{found.tasks} tasks, 6 robots, {found.cuts} cables out for 10 to 150 s, {found.kills} kills: lost"
    yield Row(work, str(len(found.lost)), "0", not found.lost)
    wrong = len(found.two_verdicts) + len(found.doubled) + len(found.unfounded)
    yield Row(f"  two verdicts, doubled, unfounded ({found.seconds:.0f} s)", str(wrong), "0", not wrong)


def plans(args: argparse.Namespace) -> Iterator[Row]:
    """Bids against the best that any plan could do, and against two central list schedulers."""
    from bt_fleet.coordinator.assign import assigned
    from bt_fleet.coordinator.auction import search_seconds

    dice = random.Random(args.seed)
    ratios = []
    for number in range(100):
        robots, jobs = case(dice, dice.randint(4, 8), dice.randint(2, 4), travel=number % 4 != 0)
        best = optimum(robots, jobs)
        assigned(robots, list(jobs), {task: {r.name: job for r in robots} for task, job in jobs.items()})
        ratios.append(makespan(robots) / best)
    worst = max(ratios)
    yield Row("100 small cases: makespan by the optimum, the worst", f"{worst:.3f}", "<= 1.15", worst <= 1.15)
    large = []
    for number in range(20):
        robots, jobs = case(dice, 200, 20, travel=number % 4 != 0)
        other = min(listed(robots, jobs), nearest(robots, jobs))
        begun = time.monotonic()
        able = {task: {r.name: job for r in robots} for task, job in jobs.items()}
        bound = search_seconds(len(jobs))
        assigned(robots, list(jobs), able, lambda begun=begun, bound=bound: time.monotonic() - begun < bound)  # type: ignore[misc]
        large.append(makespan(robots) / other)
    yield Row(
        "20 large ones: makespan by a list scheduler's, the worst", f"{max(large):.3f}", "<= 1", max(large) <= 1.0
    )


def speed(args: argparse.Namespace, robots: int, processes: int, most: float) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        found: Speed = asyncio.run(measured(Path(folder), robots, processes, 200, 1000, args.sync))
    work = f"task sent to first tick, {robots} robots, p99 (p50 {found.p50 * 1000:.0f} ms)"
    yield Row(work, f"{found.p99 * 1000:.0f} ms", f"<= {most * 1000:.0f} ms", found.p99 <= most)
    work = f"a burst of 1,000 tasks, {robots} robots: all assigned"
    yield Row(work, f"{found.burst:.1f} s", "<= 10 s", found.burst <= 10.0)
    yield Row(
        "  tasks of the robot with the fewest, the most", f"{found.fewest}, {found.most}", "> 0", found.fewest > 0
    )


def burst(args: argparse.Namespace) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        found: Speed = asyncio.run(measured(Path(folder), 200, 4, 10, 500, args.sync))
    yield Row("a burst of 500 tasks, 200 robots: all assigned", f"{found.burst:.1f} s", "<= 10 s", found.burst <= 10.0)


def short(args: argparse.Namespace) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        found = asyncio.run(light(Path(folder), 100, 200, args.sync))
    work = f"a short task sent to its skill, a real robot, p50 (p99 {found.p99 * 1000:.0f} ms)"
    yield Row(work, f"{found.p50 * 1000:.0f} ms", "<= 50 ms", found.p50 <= 0.05)
    yield Row("  short tasks a second of one robot", f"{found.rate:.1f}", ">= 20", found.rate >= 20.0)


def alone(args: argparse.Namespace) -> Iterator[Row]:
    from packages.fleet.tests.test_robot import test_a_robot_alone_for_an_hour_hands_in_all_its_tasks_in_order as story

    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        story(Path(folder), 500)
    yield Row("a robot alone for an hour with 500 tasks: handed in, in order", "500", "500", True)


def overhead(args: argparse.Namespace) -> Iterator[Row]:
    from packages.fleet.tests.overhead import measured as beside

    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        core, memory = asyncio.run(beside(Path(folder), 30.0))
    yield Row("the agent beside a 50 Hz tree: of a core", f"{core:.2%}", "<= 1 %", core <= 0.01)
    yield Row("  memory of its own", f"{memory:.1f} MB", "<= 15 MB", memory <= 15.0)


def steps(args: argparse.Namespace) -> Iterator[Row]:
    """Each command of docs/fleet-keys.md, on loopback."""
    words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "packages/fleet/tests/test_docs_fleet.py"]
    done = subprocess.run(words, env={**os.environ, "FLEET_STEPS": "1"}, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-3000:], file=sys.stderr)
    yield Row(
        "the steps of docs/fleet-keys.md", "done" if done.returncode == 0 else "failed", "done", not done.returncode
    )


def vehicle(args: argparse.Namespace) -> Iterator[Row]:
    """300 random orders of VDA 5050 for a vehicle's program behind mosquitto, with SIGKILLs and ends of the broker."""
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        log = Path(folder, "rounds")
        words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "packages/fleet/tests/test_vda5050_chances.py"]
        given = {**os.environ, "VEHICLE_ROUNDS": "60", "VEHICLE_LOG": str(log)}
        done = subprocess.run(words, env=given, capture_output=True, text=True)
        rounds = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    if done.returncode:
        print(done.stdout[-3000:], file=sys.stderr)
    sums = {name: sum(each.get(name, 0) for each in rounds) for name in ("orders", "states", "kills", "drop", "wrong")}
    work = "{orders} orders of a master control, {kills} kills, {drop} ends of the broker: all as told".format(**sums)
    yield Row(work, "yes" if done.returncode == 0 else "no", "yes", done.returncode == 0)
    yield Row(f"  messages that say what is not so, of {sums['states']:,}", str(sums["wrong"]), "0", not sums["wrong"])


def traffic(args: argparse.Namespace) -> Iterator[Row]:
    """50 vehicles on single lanes, 10,000 crossings, with kills, partitions, late writes and wrecks."""
    from packages.fleet.tests.traffic import Plan as Roads
    from packages.fleet.tests.traffic import Traffic

    found = Traffic(Roads(seed=args.seed)).run()
    mishaps = sum(found.misfortunes.values())
    work = f"50 vehicles, {found.crossings:,} crossings, {mishaps:,} misfortunes: two in one place"
    yield Row(work, str(len(found.collisions)), "0", not found.collisions)
    yield Row(f"  deadlocks that nobody was told, beside {found.told:,} told", str(len(found.untold)), "0",
              not found.untold)  # fmt: skip


def page(args: argparse.Namespace) -> Iterator[Row]:
    """The page in headless Chromium while 200 robots beat and their tasks change."""
    from packages.fleet.tests.page_frames import measured as frames
    from tests.run.view.browser import missing

    if why := missing():
        yield Row("the page with 200 robots", why, "> 30 frames/s", False)
        return
    found, late = frames(200)
    work = f"the page with 200 robots and 200 tasks (99 % of the gaps within {late:.0f} ms)"
    yield Row(work, f"{found:.0f} frames/s", "> 30 frames/s", found > 30)


ROWS: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "plans": plans,
    "speed": lambda args: speed(args, 20, 20, 0.05),
    "speed200": lambda args: speed(args, 200, 4, 0.15),
    "burst": burst,
    "short": short,
    "alone": alone,
    "overhead": overhead,
    "page": page,
    "steps": steps,
    "vehicle": vehicle,
    "traffic": traffic,
    "partition": partition,
    "forged": forged,
    "chaos": lambda args: chaos(args, field=False),
    "field": lambda args: chaos(args, field=True),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(ROWS), help=f"of {','.join(ROWS)}")
    parser.add_argument("--robots", type=int, default=20)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cut-least", type=float, default=10.0, help="seconds that a robot is cut off, at least")
    parser.add_argument("--cut-most", type=float, default=180.0)
    parser.add_argument("--sync", default="always")
    args = parser.parse_args()
    missed = 0
    print(f"{'work':<78} {'figure':>24} {'target':>12}", flush=True)
    for name in args.only.split(","):
        for row in ROWS[name](args):
            missed += not row.met
            print(f"{row.work:<78} {row.figure:>24} {row.target:>12}{'' if row.met else '  MISSED'}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
