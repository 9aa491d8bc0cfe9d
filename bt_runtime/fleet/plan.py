"""A robot's plan: jobs in an order, what they take, and what one more would cost where it fits best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Job:
    """What a plan must know of a task. Times are seconds from now."""

    id: str
    takes: float
    place: Place | None = None  # where it begins
    end: Place | None = None  # where it leaves the robot
    after: float = 0.0
    before: float = math.inf  # it is late when it begins after that
    priority: int = 0


class Cost(NamedTuple):
    """What a plan costs, the worst first: seconds too late, when it is done, seconds of work."""

    late: float
    finish: float
    work: float


@dataclass(slots=True)
class Robot:
    """A robot as a plan sees it, with the jobs that it has promised."""

    name: str
    free: float = 0.0  # seconds until it has done what it is at
    place: Place | None = None
    speed: float = 1.0
    jobs: list[Job] = field(default_factory=list)

    def cost(self, jobs: Sequence[Job] | None = None) -> Cost:
        late, now, work, here = 0.0, self.free, 0.0, self.place
        for job in self.jobs if jobs is None else jobs:
            way = distance(here, job.place) / self.speed
            start = max(now + way, job.after)
            late += max(0.0, start - job.before)
            now = start + job.takes
            work += way + job.takes
            here = job.end or job.place or here
        return Cost(late, now, work)

    def best(self, job: Job) -> tuple[Cost, int]:
        """Returns the least cost with one more job, and where it stands then. A higher priority always goes first."""
        first, last = self._range(job)
        if not self._simple(job):
            return min((self.cost([*self.jobs[:i], job, *self.jobs[i:]]), -i) for i in range(first, last + 1))
        base = self.cost()
        return min((self._inserted(base, job, i), -i) for i in range(first, last + 1))

    def insert(self, job: Job) -> Cost:
        cost, place = self.best(job)
        self.jobs.insert(-place, job)
        return cost

    def without(self, job: str) -> Robot:
        return Robot(self.name, self.free, self.place, self.speed, [each for each in self.jobs if each.id != job])

    def _range(self, job: Job) -> tuple[int, int]:
        first = next((i for i, each in enumerate(self.jobs) if each.priority <= job.priority), len(self.jobs))
        last = next((i for i, each in enumerate(self.jobs) if each.priority < job.priority), len(self.jobs))
        return first, last

    def _simple(self, job: Job) -> bool:
        """True when no window decides, so that one more job changes only the ways around it."""
        return all(each.after <= 0 and each.before == math.inf for each in (*self.jobs, job))

    def _inserted(self, base: Cost, job: Job, i: int) -> Cost:
        here = self.place
        for each in reversed(self.jobs[:i]):
            if (before := each.end or each.place) is not None:
                here = before
                break
        after = next((each.place for each in self.jobs[i:] if each.place is not None), None)
        leaves = job.end or job.place or here
        more = (distance(here, job.place) + distance(leaves, after) - distance(here, after)) / self.speed + job.takes
        return Cost(0.0, base.finish + more, base.work + more)


def distance(one: Place | None, other: Place | None) -> float:
    return 0.0 if one is None or other is None else math.dist(one, other)
