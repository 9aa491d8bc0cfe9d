"""Who gets which task: the best insertions first, then moves and swaps that let the fleet finish earlier."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Mapping, Sequence

from bt_fleet.robot.plan import Cost, Job, Robot, distance

Jobs = Mapping[str, Mapping[str, Job]]  # task → robot → the job as this robot sees it; a robot that cannot is not there
_ROUNDS = 60


def assigned(robots: Sequence[Robot], waiting: Sequence[str], jobs: Jobs, more: Callable[[], bool] = lambda: True,
             seed: int = 0) -> dict[str, str]:  # fmt: skip
    """Returns task → robot for each waiting task that some robot can do. The robots' plans grow by it.

    `more` ends the search for better plans; the insertions themselves are always finished.
    """
    by_name = {robot.name: robot for robot in robots}
    if not by_name:
        return {}
    nearest = {name: robot.copy() for name, robot in by_name.items()}
    given = {task: name for task in _order(waiting, jobs) if (name := _inserted(by_name, jobs[task])) is not None}
    best = _improved(by_name, given, jobs, more)
    if any(job.place for able in jobs.values() for job in able.values()):
        other = _nearest(nearest, list(given), jobs)
        if (cost := _improved(nearest, other, jobs, more)) < best:
            best, given = cost, other
            _taken(by_name, nearest)
    dice = random.Random(seed)
    for _ in range(_ROUNDS if 2 <= len(given) <= 40 else 0):
        if not more():
            break
        trial = {name: robot.copy() for name, robot in by_name.items()}
        again = dict(given)
        loose = [task for task in given if dice.random() < 0.5]
        for task in loose:
            _removed(trial[again[task]], task)
        dice.shuffle(loose)
        for task in loose:
            again[task] = _inserted(trial, jobs[task]) or again[task]
        if (cost := _improved(trial, again, jobs, more)) < best:
            best, given = cost, again
            _taken(by_name, trial)
    return given


def _taken(robots: Mapping[str, Robot], better: Mapping[str, Robot]) -> None:
    for name, robot in robots.items():
        robot.jobs = better[name].jobs


def _nearest(robots: Mapping[str, Robot], waiting: Sequence[str], jobs: Jobs) -> dict[str, str]:
    """A list scheduler: whichever robot is done first takes the task that begins nearest to where it then is."""
    given: dict[str, str] = {}
    left = dict.fromkeys(waiting)
    done = [(robot.cost().finish, name) for name, robot in robots.items()]
    heapq.heapify(done)
    while left and done:
        _, name = heapq.heappop(done)
        robot, here = robots[name], robots[name].end()
        able = [(-job.priority, job.before, distance(here, job.place), task)
                for task in left if (job := jobs[task].get(name)) is not None]  # fmt: skip
        if able:
            task = min(able)[3]
            del left[task]
            given[task] = name
            heapq.heappush(done, (robot.insert(jobs[task][name]).finish, name))
    return given


def _order(waiting: Sequence[str], jobs: Jobs) -> list[str]:
    """The most urgent first, then the longest."""
    able = {task: next(iter(jobs[task].values())) for task in waiting if jobs.get(task)}
    return sorted(able, key=lambda task: (-able[task].priority, able[task].before, -able[task].takes, task))


def _inserted(robots: Mapping[str, Robot], able: Mapping[str, Job]) -> str | None:
    """Gives a task to the robot that then is done first, or with the least work where several are."""
    costs = [(robots[name].best(job)[0], name) for name, job in able.items() if name in robots]
    if not costs:
        return None
    _, best = min(costs)
    robots[best].insert(able[best])
    return best


def total(robots: Mapping[str, Robot]) -> tuple[float, list[float], float]:
    """What a fleet's plans cost: seconds too late, when each robot is done (the last first), all work."""
    costs = [robot.cost() for robot in robots.values()]
    return sum(c.late for c in costs), sorted((c.finish for c in costs), reverse=True), sum(c.work for c in costs)


def _improved(robots: Mapping[str, Robot], given: dict[str, str], jobs: Jobs,
              more: Callable[[], bool]) -> tuple[float, list[float], float]:  # fmt: skip
    """Takes tasks from the robot that is done last, or is late, as long as that helps."""
    while more() and (step := _step(robots, given, jobs)) is not None:
        for task in step:
            _removed(robots[given[task]], task)
        for task, name in step.items():
            robots[name].insert(jobs[task][name])
            given[task] = name
    return total(robots)


def _step(robots: Mapping[str, Robot], given: Mapping[str, str], jobs: Jobs) -> dict[str, str] | None:
    """Returns the best move or swap out of the worst plan; None when none helps."""
    if not robots:
        return None
    worst = max(robots.values(), key=lambda robot: (robot.cost(), robot.name))
    limit = worst.cost()
    movable = [job.id for job in worst.jobs if given.get(job.id) == worst.name]
    best: tuple[Cost, dict[str, str]] | None = None
    for task in movable:
        short = worst.without(task)
        left = short.cost()
        for name, job in jobs[task].items():
            if name == worst.name or name not in robots:
                continue
            cost = max(left, robots[name].best(job)[0])
            if cost < (best[0] if best else limit) and _less(cost, limit):
                best = cost, {task: name}
    if best is not None or len(movable) * sum(len(r.jobs) for r in robots.values()) > 4000:
        return best[1] if best else None
    for task in movable:
        short = worst.without(task)
        for name, job in jobs[task].items():
            for other in [each.id for each in robots[name].jobs] if name != worst.name and name in robots else []:
                if given.get(other) != name or worst.name not in jobs[other]:
                    continue
                cost = max(short.best(jobs[other][worst.name])[0], robots[name].without(other).best(job)[0])
                if cost < (best[0] if best else limit) and _less(cost, limit):
                    best = cost, {task: name, other: worst.name}
    return best[1] if best else None


def _less(cost: Cost, limit: Cost) -> bool:
    """A gain that is more than rounding: otherwise two plans could be exchanged for ever."""
    return cost.late < limit.late - 1e-6 or (cost.late <= limit.late + 1e-6 and cost.finish < limit.finish - 1e-6)


def _removed(robot: Robot, task: str) -> None:
    robot.jobs = [job for job in robot.jobs if job.id != task]
