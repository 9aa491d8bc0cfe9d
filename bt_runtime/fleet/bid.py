"""What a call asks of robots and what they answer, as messages: costs of tasks, and the plan that they come into."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bt_runtime.fleet.plan import Job, Place, Robot
from bt_runtime.fleet.task import Task


@dataclass(frozen=True)
class Known:
    """What a robot knows of a task before it does it."""

    takes: float  # seconds that it is expected to take, failures counted in
    policy: str
    place: Place | None = None
    end: Place | None = None
    strain: float = 0.0  # seconds by which its bid is dearer than its time: a low battery


@dataclass(frozen=True)
class Offer:
    """A robot's answer to a call."""

    robot: Robot
    costs: Mapping[str, Known] = field(default_factory=dict)
    cannot: Mapping[str, str] = field(default_factory=dict)  # task → why not

    def plain(self) -> dict[str, Any]:
        robot = self.robot
        distinct = {known: number for number, known in enumerate(dict.fromkeys(self.costs.values()))}
        return {
            "robot": robot.name, "free": round(robot.free, 3), "place": robot.place, "speed": robot.speed,
            "jobs": [[j.id, j.takes, j.place, j.end, j.after, None if j.before == math.inf else j.before, j.priority]
                     for j in robot.jobs],
            "known": [[k.takes, k.policy, k.place, k.end, k.strain] for k in distinct],
            "costs": {task: distinct[k] for task, k in self.costs.items()},
            "cannot": dict(self.cannot),
        }  # fmt: skip


def offer_of(data: Mapping[str, Any]) -> Offer:
    jobs = [Job(i, takes, _place(place), _place(end), after, math.inf if before is None else before, priority)
            for i, takes, place, end, after, before, priority in data["jobs"]]  # fmt: skip
    robot = Robot(data["robot"], data["free"], _place(data["place"]), data["speed"], jobs)
    known = [Known(takes, policy, _place(place), _place(end), *strain)
             for takes, policy, place, end, *strain in data["known"]]  # fmt: skip
    costs = {task: known[number] for task, number in data["costs"].items()}
    return Offer(robot, costs, data["cannot"])


def job_of(task: Task, known: Known, now: float) -> Job:
    """Returns a task as a plan sees it at this moment."""
    after = 0.0 if task.at is None else max(0.0, task.at - now)
    before = math.inf if task.by is None else task.by - now
    return Job(task.id, known.takes + known.strain, known.place, known.end, after, before, task.priority)


def _place(pair: Any) -> Place | None:
    return None if pair is None else (float(pair[0]), float(pair[1]))
