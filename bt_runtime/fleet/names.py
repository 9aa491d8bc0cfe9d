"""Names of the fleet's subjects, streams and buckets. Each name stands here once; permissions are written from them.

A robot publishes only below subjects that end with its own name, so that an account can be limited to them.
"""

from __future__ import annotations

import re

from bt_runtime.faults.diagnostic import BtError

# Buckets: key → value with compare-and-set. Only operators and coordinators write to TASKS.
TASKS = "fleet_tasks"  # task's id → its record: what it asks for, who has it, how it stands
ROBOTS = "fleet_robots"  # robot's name → its card: what it can do, where it is, what it runs
ENTRIES = "fleet_entries"  # shared entries of blackboards
LOCKS = "fleet_locks"  # places and lifts that one robot holds at a time
SETTINGS = "fleet_settings"  # what holds for the whole fleet: halt, deployments
TREES = "fleet_trees"  # digest → bundle of a tree's version, signed

# Streams.
VERDICTS = "fleet_verdicts"  # one message for each subject, never replaced and never deleted
ORDERS = "fleet_orders"  # what a robot is told to do, kept until it has taken it
REPORTS = "fleet_reports"  # what robots report, in their order
CLAIMS = "fleet_claims"  # who may start: one message for each subject, the first one counts
JOURNALS = "fleet_journals"  # lines of runs' journals

# Plain subjects: no message is kept.
CALL = "fleet.call"  # a question to all robots: what would these tasks cost you
ALIVE = "fleet.alive"  # fleet.alive.ROBOT: heartbeat
HALT = "fleet.halt"  # everybody stops
SAID = "fleet.said"  # fleet.said.ROBOT.WHAT: what a run says of itself, as a question to a person
ANSWER = "fleet.answer"  # fleet.answer.ROBOT: a person's answer
CHANGED = "fleet.changed"  # fleet.changed.BUCKET.KEY: what was written to a bucket
PING = "fleet.ping"  # fleet.ping.ROBOT: asked by a coordinator, answered at once

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")


def named(word: str, what: str) -> str:
    """Returns a robot's or task's name when it may stand in a subject; BtError otherwise."""
    if not _NAME.match(word):
        raise BtError(
            f"{what} cannot be called {word!r}", "use 1 to 64 letters, digits, - and _, a letter or digit first"
        )
    return word


def verdict(task: str) -> str:
    return f"fleet.verdict.{task}"


def order(robot: str, task: str = "*") -> str:
    return f"fleet.order.{robot}.{task}"


def report(robot: str, task: str = "*") -> str:
    return f"fleet.report.{robot}.{task}"


def claim(robot: str, task: str, term: int | str = "*") -> str:
    """The subject that decides whether a robot may start its term of a task: the first message counts."""
    return f"fleet.claim.{robot}.{task}.{term}"


def journal(robot: str, task: str = "*", term: int | str = "*") -> str:
    return f"fleet.journal.{robot}.{task}.{term}"


def alive(robot: str = "*") -> str:
    return f"{ALIVE}.{robot}"


def ping(robot: str) -> str:
    return f"{PING}.{robot}"


def consumer(robot: str) -> str:
    """The durable consumer from which a robot takes its orders; a coordinator makes it when the robot joins."""
    return f"robot_{robot}"
