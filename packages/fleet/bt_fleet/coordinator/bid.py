"""What a call asks of robots and what they answer, as messages: costs of tasks, and the plan that they come into."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bt_fleet.robot.plan import Job, Place, Robot
from bt_fleet.server.forms import PLACE, POLICY
from bt_fleet.server.messages import Malformed
from bt_fleet.store.task import Task
from bt_runtime.language.schema_quick import fits, number


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
    cannot: dict[str, str] = field(default_factory=dict)  # task → why not

    def plain(self) -> dict[str, Any]:
        robot = self.robot
        distinct = {known: number for number, known in enumerate(dict.fromkeys(self.costs.values()))}
        return {
            "free": round(robot.free, 3), "place": robot.place, "speed": robot.speed,
            "jobs": [[j.id, j.takes, j.place, j.end, j.after, None if j.before == math.inf else j.before, j.priority]
                     for j in robot.jobs],
            "known": [[k.takes, k.policy, k.place, k.end, k.strain] for k in distinct],
            "costs": {task: distinct[k] for task, k in self.costs.items()},
            "cannot": dict(self.cannot),
        }  # fmt: skip


def offer_of(name: str, data: Mapping[str, Any], asked: Iterable[str]) -> Offer:
    """Returns what a robot of this name offers for the tasks that it was asked for; Malformed for what is no offer."""
    try:
        jobs = [_job(*each) for each in data["jobs"]]
        known = [_known(*each) for each in data["known"]]
        tasks = list(asked)
        costs = {task: known[data["costs"][task]] for task in tasks if task in data["costs"]}
    except (ValueError, TypeError, IndexError) as error:
        raise Malformed(f"this is no bid: {error!s:.100}", "see docs/fleet-keys.md") from error
    cannot = {task: data["cannot"][task] for task in tasks if task in data["cannot"]}
    return Offer(Robot(name, data["free"], _place(data["place"]), data["speed"], jobs), costs, cannot)


def _job(id: Any, takes: Any, place: Any, end: Any, after: Any, before: Any, priority: Any) -> Job:
    late = math.inf if before is None else _seconds(before, least=-1e12)
    first = int(_seconds(priority, -1e12))
    return Job(str(id)[:64], _seconds(takes), _place(place), _place(end), _seconds(after), late, first)


def _known(takes: Any, policy: Any, place: Any, end: Any, strain: Any = 0.0) -> Known:
    if not fits(POLICY, policy):
        raise ValueError(f"{policy!r:.40} is no policy")
    return Known(_seconds(takes), policy, _place(place), _place(end), _seconds(strain))


def _seconds(value: Any, least: float = 0.0) -> float:
    if not number(value) or not least <= value <= 1e12:
        raise ValueError(f"{value!r:.40} is no time")
    return float(value)


def job_of(task: Task, known: Known, now: float) -> Job:
    """Returns a task as a plan sees it at this moment."""
    after = 0.0 if task.at is None else max(0.0, task.at - now)
    before = math.inf if task.by is None else task.by - now
    return Job(task.id, known.takes + known.strain, known.place, known.end, after, before, task.priority)


def _place(pair: Any) -> Place | None:
    if pair is None:
        return None
    if not fits(PLACE, pair):
        raise ValueError(f"{pair!r:.40} is no place")
    return float(pair[0]), float(pair[1])
