"""Names of the fleet's subjects, streams and buckets. Each name stands here once; permissions are written from them.

A robot publishes only below subjects that end with its own name, so that an account can be limited to them.
"""

from __future__ import annotations

import re

from bt_runtime.language.faults.diagnostic import BtError

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
CLAIMS = "fleet_claims"  # fleet_claims_ROBOT: which terms it may start; of each subject the first message counts
COPIES = "fleet_copies"  # fleet_copies_ROBOT: its runs' journals
NEWS = "fleet_news"  # in memory, for a minute: it repeats plain subjects below NEWS_OF

# Plain subjects: each ends with the name of whom it is from or for, because the server checks subjects and no bodies.
ALIVE = "fleet.alive"  # fleet.alive.ROBOT: heartbeat, answered by a coordinator
FETCH = "fleet.fetch"  # fleet.fetch.ROBOT.TASK: asks a coordinator for the journal of the run that it goes on with
CALL = "fleet.call"  # fleet.call.ROBOT: a coordinator asks what these tasks would cost the robot
BID = "fleet.bid"  # fleet.bid.ROBOT.CALL: the robot's answer
HALTED = "fleet.halted"  # fleet.halted.ROBOT: it has taken a halt or a release
SAID = "fleet.said"  # fleet.said.ROBOT.WHAT: what a run says of itself, as a question to a person
ANSWER = "fleet.answer"  # fleet.answer.ROBOT.PERSON: a person's answer
WISH = "fleet.wish"  # fleet.wish.WHAT.PERSON: an operator asks a coordinator to send, cancel, settle or deploy
EVERY = "_all"  # stands for all robots, in place of a name
SOMEBODY = "somebody"  # name of a person without a key
# What the server repeats, for whoever may listen but does not take part.
CHANGED = "fleet.changed"  # fleet.changed.BUCKET.KEY: what was written to a bucket
NEWS_OF = "fleet.news"  # fleet.news.WHAT.…: what was told on a plain subject that NEWS takes in

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
    return f"fleet.copy.{robot}.{task}.{term}"


def copies(robot: str) -> str:
    """The stream of a robot's journals; a coordinator makes it when the robot joins."""
    return f"{COPIES}_{robot}"


def claims(robot: str) -> str:
    """The stream of a robot's claims, made with that of its journals: each is bounded for each robot."""
    return f"{CLAIMS}_{robot}"


def alive(robot: str = "*") -> str:
    return f"{ALIVE}.{robot}"


def call(robot: str) -> str:
    return f"{CALL}.{robot}"


def bid(robot: str, call: str) -> str:
    return f"{BID}.{robot}.{call}"


def fetch(robot: str, task: str = "*") -> str:
    return f"{FETCH}.{robot}.{task}"


def halted(robot: str) -> str:
    return f"{HALTED}.{robot}"


def said(robot: str, what: str) -> str:
    return f"{SAID}.{robot}.{what}"


def answer(robot: str, person: str) -> str:
    return f"{ANSWER}.{robot}.{person}"


def wish(what: str, person: str) -> str:
    return f"{WISH}.{what}.{person}"


def halt(robot: str, person: str = "*") -> str:
    """The key of SETTINGS in which a person halts and releases a robot; of all persons' words the latest one holds."""
    return f"halt.{robot}.{person}"


def drain(robot: str, person: str = "*") -> str:
    return f"drain.{robot}.{person}"


def news(subject: str) -> str:
    """Where the server repeats what is told on a plain subject."""
    return f"{NEWS_OF}.{subject.removeprefix('fleet.')}"


def changed(bucket: str, key: str = ">") -> str:
    return f"{CHANGED}.{bucket}.{key}"


def kept(bucket: str, key: str = ">") -> str:
    return f"$KV.{bucket}.{key}"


def consumer(robot: str) -> str:
    """The durable consumer from which a robot takes its orders; a coordinator makes it when the robot joins."""
    return robot
