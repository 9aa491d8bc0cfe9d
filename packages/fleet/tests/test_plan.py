"""Plans and who gets what: the best insertion, and nearly the optimum."""

from __future__ import annotations

import math
import random

from bt_fleet.coordinator.assign import assigned
from bt_fleet.robot.plan import Cost, Job, Robot
from packages.fleet.tests.optimum import case, makespan, optimum


def test_the_quick_way_to_insert_a_job_costs_what_the_whole_plan_costs() -> None:
    """Among all places of its priority the least cost is found, with and without places and windows."""
    dice = random.Random(0)

    def job(name: str) -> Job:
        place = dice.choice([None, (dice.random(), dice.random())])
        end = dice.choice([None, (1.0, 1.0)])
        after, before = (
            (dice.choice([0.0, 3.0]), dice.choice([math.inf, 2.0])) if dice.random() < 0.3 else (0.0, math.inf)
        )
        return Job(name, dice.uniform(0.1, 2), place, end, after, before, dice.choice([0, 0, 1]))

    for _ in range(300):
        robot = Robot("r", dice.random(), dice.choice([None, (0.0, 0.0)]), 2.0)
        for number in range(dice.randint(0, 6)):
            robot.insert(job(str(number)))
        more, before = job("more"), list(robot.jobs)
        costs = [robot.cost([*before[:i], more, *before[i:]]) for i in range(len(before) + 1)
                 if all(each.priority >= more.priority for each in before[:i])
                 and all(each.priority <= more.priority for each in before[i:])]  # fmt: skip
        cost = robot.insert(more)
        assert all(math.isclose(a, b) for a, b in zip(cost, min(costs), strict=True))
        assert all(math.isclose(a, b) for a, b in zip(cost, robot.cost(), strict=True))


def test_ten_small_cases_are_within_15_per_cent_of_the_optimum() -> None:
    """Found by search over all plans of all robots. `make fleet` takes a hundred."""
    dice = random.Random(1)
    for number in range(10):
        robots, jobs = case(dice, dice.randint(3, 6), dice.randint(2, 3), travel=number % 4 != 0)
        best = optimum(robots, jobs)
        assigned(robots, list(jobs), {task: {r.name: job for r in robots} for task, job in jobs.items()})
        assert makespan(robots) <= 1.15 * best + 1e-9


def test_a_task_that_one_robot_can_do_goes_there_and_one_that_none_can_to_nobody() -> None:
    """Who is able comes before who is cheap."""
    robots = [Robot("a"), Robot("b", free=100.0)]
    given = assigned(robots, ["t", "u"], {"t": {"b": Job("t", 1.0)}, "u": {}})
    assert given == {"t": "b"}


def test_the_urgent_first() -> None:
    """A job of a higher priority goes before all others, whatever that costs."""
    robot = Robot("a", jobs=[Job("x", 1.0), Job("y", 1.0)])
    robot.insert(Job("now", 5.0, priority=1))
    assert [job.id for job in robot.jobs] == ["now", "x", "y"]
    assert robot.cost() == Cost(0.0, 7.0, 7.0)
