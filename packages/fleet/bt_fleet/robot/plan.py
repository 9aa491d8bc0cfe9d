"""A robot's plan: jobs in an order, what they take, and what one more would cost where it fits best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Job:
    """What a plan must know of a task. Times are seconds from now."""

    id: str
    takes: float
    place: Place | None = None  # where the task begins
    end: Place | None = None  # where the task leaves the robot
    after: float = 0.0
    before: float = math.inf  # a later beginning is late
    priority: int = 0


class Cost(NamedTuple):
    """What a plan costs, the worst first: seconds too late, when it is done, seconds of work."""

    late: float
    finish: float
    work: float


class Robot:
    """A robot as a plan sees it, with the jobs that it has promised."""

    __slots__ = ("_base", "_jobs", "free", "name", "place", "speed")

    def __init__(self, name: str, free: float = 0.0, place: Place | None = None, speed: float = 1.0,
                 jobs: Sequence[Job] = ()) -> None:  # fmt: skip
        self.name = name
        self.free = free  # seconds until it has done what it is at
        self.place = place
        self.speed = speed
        self.jobs = jobs

    @property
    def jobs(self) -> Sequence[Job]:
        return self._jobs

    @jobs.setter
    def jobs(self, jobs: Sequence[Job]) -> None:
        self._jobs = [*jobs]
        self._base: tuple[float, Cost, bool, bool] | None = None

    def cost(self, jobs: Sequence[Job] | None = None) -> Cost:
        late, now, work, here = 0.0, self.free, 0.0, self.place
        for job in self._jobs if jobs is None else jobs:
            way = distance(here, job.place) / self.speed
            start = max(now + way, job.after)
            late += max(0.0, start - job.before)
            now = start + job.takes
            work += way + job.takes
            here = job.end or job.place or here
        return Cost(late, now, work)

    def _known(self) -> tuple[float, Cost, bool, bool]:
        """Returns what holds of the plan as it is: its cost; has it no window; is every job of the same priority and
        without a place."""
        if self._base is None or self._base[0] != self.free:
            plain = all(job.after <= 0 and job.before == math.inf for job in self._jobs)
            first = self._jobs[0].priority if self._jobs else 0
            alike = all(job.place is None and job.end is None and job.priority == first for job in self._jobs)
            self._base = self.free, self.cost(), plain, alike
        return self._base

    def best(self, job: Job) -> tuple[Cost, int]:
        """Returns the least cost with one more job, and where it stands then. A higher priority always goes first."""
        _, base, plain, alike = self._known()
        if plain and alike and job.place is None and job.after <= 0 and job.before == math.inf:
            first = bool(self._jobs) and self._jobs[0].priority < job.priority
            return Cost(base.late, base.finish + job.takes, base.work + job.takes), 0 if first else len(self._jobs)
        begin, end = self._range(job)
        if plain and job.after <= 0 and job.before == math.inf:
            costs = [self._inserted(base, job, i) for i in range(begin, end + 1)]
        else:
            costs = [self.cost([*self._jobs[:i], job, *self._jobs[i:]]) for i in range(begin, end + 1)]
        least = min(costs)
        return least, begin + max(i for i, cost in enumerate(costs) if cost == least)

    def insert(self, job: Job) -> Cost:
        cost, place = self.best(job)
        self._jobs.insert(place, job)
        self._base = None
        return cost

    def copy(self) -> Robot:
        return Robot(self.name, self.free, self.place, self.speed, self._jobs)

    def end(self) -> Place | None:
        """Returns where the plan leaves it."""
        places = (job.end or job.place for job in reversed(self._jobs))
        return next((place for place in places if place is not None), self.place)

    def without(self, job: str) -> Robot:
        return Robot(self.name, self.free, self.place, self.speed, [each for each in self._jobs if each.id != job])

    def _range(self, job: Job) -> tuple[int, int]:
        first = next((i for i, each in enumerate(self._jobs) if each.priority <= job.priority), len(self._jobs))
        last = next((i for i, each in enumerate(self._jobs) if each.priority < job.priority), len(self._jobs))
        return first, last

    def _inserted(self, base: Cost, job: Job, i: int) -> Cost:
        here = self.place
        for each in reversed(self._jobs[:i]):
            if (before := each.end or each.place) is not None:
                here = before
                break
        after = next((each.place for each in self._jobs[i:] if (each.place or each.end) is not None), None)
        leaves = job.end or job.place or here
        more = (distance(here, job.place) + distance(leaves, after) - distance(here, after)) / self.speed + job.takes
        return Cost(0.0, base.finish + more, base.work + more)


def distance(one: Place | None, other: Place | None) -> float:
    return 0.0 if one is None or other is None else math.dist(one, other)
