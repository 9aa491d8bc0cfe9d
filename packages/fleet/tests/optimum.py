"""The best that any assignment could do, by search over everything; and a central list scheduler to compare with."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Mapping, Sequence

from bt_fleet.robot.plan import Job, Robot, distance


def case(dice: random.Random, tasks: int, robots: int, travel: bool) -> tuple[list[Robot], dict[str, Job]]:
    def place() -> tuple[float, float] | None:
        return (dice.random() * 20, dice.random() * 20) if travel else None

    jobs = {f"t{n}": Job(f"t{n}", dice.uniform(5, 30), place(), place()) for n in range(tasks)}
    return [Robot(f"r{n}", 0.0, place()) for n in range(robots)], jobs


def makespan(robots: Sequence[Robot]) -> float:
    return max((robot.cost().finish for robot in robots if robot.jobs), default=0.0)


def optimum(robots: Sequence[Robot], jobs: Mapping[str, Job]) -> float:
    """The earliest moment at which all can be done: for each robot the best order of each set of jobs, then the best
    division of all jobs among the robots."""
    every = list(jobs.values())
    best = _orders(robots[0], every)
    for robot in robots[1:]:
        own, merged = _orders(robot, every), []
        for whole in range(len(best)):
            part, least = whole, math.inf
            while True:
                least = min(least, max(best[whole ^ part], own[part]))
                if not part:
                    break
                part = (part - 1) & whole
            merged.append(least)
        best = merged
    return best[-1]


def _orders(robot: Robot, jobs: Sequence[Job]) -> list[float]:
    done = [math.inf] * (1 << len(jobs))
    done[0] = robot.free
    layer: dict[tuple[int, int], float] = {(0, -1): robot.free}
    while layer:
        following: dict[tuple[int, int], float] = {}
        for (taken, last), now in layer.items():
            here = robot.place if last < 0 else (jobs[last].end or jobs[last].place)
            for number, job in enumerate(jobs):
                if not taken >> number & 1:
                    key = taken | 1 << number, number
                    then = now + distance(here, job.place) / robot.speed + job.takes
                    following[key] = min(then, following.get(key, math.inf))
        for (taken, _), now in following.items():
            done[taken] = min(done[taken], now)
        layer = following
    return done


def listed(robots: Sequence[Robot], jobs: Mapping[str, Job]) -> float:
    """A central list scheduler: the longest job first, each to the robot that is free first."""
    free = [(robot.free, robot.name, robot.place) for robot in robots]
    heapq.heapify(free)
    last = 0.0
    for job in sorted(jobs.values(), key=lambda each: -each.takes):
        now, name, here = heapq.heappop(free)
        then = now + distance(here, job.place) + job.takes
        last = max(last, then)
        heapq.heappush(free, (then, name, job.end or job.place or here))
    return last


def nearest(robots: Sequence[Robot], jobs: Mapping[str, Job]) -> float:
    """A central list scheduler that knows ways: each robot that is free takes the job that it would have done first."""
    free = [(robot.free, robot.name, robot.place) for robot in robots]
    heapq.heapify(free)
    left, last = dict(jobs), 0.0
    while left:
        now, name, here = heapq.heappop(free)
        job = min(left.values(), key=lambda each: (distance(here, each.place), each.id))
        del left[job.id]
        then = now + distance(here, job.place) + job.takes
        last = max(last, then)
        heapq.heappush(free, (then, name, job.end or job.place or here))
    return last
