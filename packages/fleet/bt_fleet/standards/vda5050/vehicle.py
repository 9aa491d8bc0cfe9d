"""A vehicle under a master control: its order is a run of its own, and MQTT messages tell how that run stands.

Each order is one run of the tree in `steps.py`, with a journal. A message of the master control becomes entries and
grafts of that run, and a state message is made of its entries: nothing is kept beside it. So a vehicle that is started
again after any end goes on with the order. A state is published once the journal has on the disk what it says."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import queue
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_fleet.server import messages
from bt_fleet.server.messages import Malformed
from bt_fleet.standards.vda5050.facts import Facts
from bt_fleet.standards.vda5050.factsheet import factsheet
from bt_fleet.standards.vda5050.journey import CANCELLED, Journey, Progress
from bt_fleet.standards.vda5050.messages import MAJOR, VERSION, Topic, faults
from bt_fleet.standards.vda5050.steps import ACTING, STEPS, Step, entries, graft
from bt_runtime import Run
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.skills.activity import Pending, Wrapping
from bt_runtime.tree.node import segment_of
from bt_runtime.tree.request import Request
from bt_runtime.types import Json

OFTEN = 30.0  # seconds between two state messages, at most
SELDOM = 1.0  # seconds between two that differ in position, velocity or battery only
LOOK = 0.02  # seconds between two looks at what is stopping
AHEAD = 8  # steps of the queue that are in the tree at once: a long order holds up no tick
MOST = 200_000  # bytes of a message
DRIVEN = ("AUTOMATIC", "SEMIAUTOMATIC")  # the modes in which a master control may send orders
ALWAYS = ("agvPosition", "velocity", "batteryState", "distanceSinceLastNode")  # fields that change all the time
_LOG = logging.getLogger(__name__)


class Broker(Protocol):
    """What a vehicle needs of an MQTT broker; `Mqtt` has it."""

    def publish(self, topic: str, payload: str, retained: bool) -> None: ...


class Names:
    """The vehicle's topics, and the header of its messages."""

    def __init__(self, manufacturer: str, serial: str, wall: Callable[[], float] = time.time) -> None:
        self.manufacturer, self.serial, self.wall = manufacturer, serial, wall
        self._counts: dict[Topic, int] = {}

    def topic(self, what: Topic) -> str:
        return f"uagv/v{MAJOR}/{self.manufacturer}/{self.serial}/{what}"

    def message(self, what: Topic, body: Mapping[str, Json]) -> dict[str, Json]:
        count = self._counts[what] = self._counts.get(what, -1) + 1
        when = datetime.fromtimestamp(self.wall(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {"headerId": count, "timestamp": when, "version": VERSION, "manufacturer": self.manufacturer,
                "serialNumber": self.serial, **body}  # fmt: skip

    def connection(self, word: str) -> str:
        return json.dumps(self.message("connection", {"connectionState": word}))


class Vehicle:
    """Takes messages and ticks the run, in one thread. `begin` makes the run of a new order, with these entries."""

    def __init__(
        self, run: Run, begin: Callable[[Mapping[str, Json]], Run], facts: Facts, broker: Broker, names: Names,
        maker: Mapping[str, Json] | None = None, trial: bool = False,
    ) -> None:  # fmt: skip
        """`maker`: what a file says of the vehicle's type, for the factsheet. `trial`: a state is published although
        required facts are not known."""
        self.run, self.begin, self.facts, self.broker, self.names = run, begin, facts, broker, names
        self.maker, self.trial = maker, trial
        self.news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.journey = Journey()
        self._asked: dict[str, Request] = {}  # grafts of steps that are requested, and not made yet
        self._begun: set[int] = set()  # actions at work: a skill of theirs has begun
        self._stood: float | None = None  # since when no drive is at work or stopping; None: one is
        self._turned = -math.inf  # moment at which a drive last began or ended
        self._turn: tuple[Json, ...] = ()
        self._due = -math.inf
        self._told: dict[str, Json] = {}  # the state that was published last
        self._when = -math.inf
        self._next: tuple[dict[str, Json], Any] | None = None  # a state that waits for the disk
        self._wanted = True  # a state is to be published, whether it has changed or not
        self._linked = False
        self._takes(run)

    # The run -----------------------------------------------------------------------------------

    def _takes(self, run: Run) -> None:
        self.run, board = run, run.blackboard
        self.journey = Journey(board.get("order"), board.get("notes"))
        self._asked.clear()
        self._begun.clear()
        self._reconcile()

    def progress(self) -> Progress:
        """Returns how far the tree has come."""
        board = self.run.blackboard
        numbers = range(len(self.journey.given))
        statuses = {n: str(board.get(f"status_{n}")) for n in numbers if f"status_{n}" in board}
        statuses |= {n: "RUNNING" for n in self._begun if statuses.get(n) == "INITIALIZING"}
        whys = {n: str(board.get(f"why_{n}")) for n in statuses if f"why_{n}" in board}
        return Progress(board["done"], board["beside"], board["failed"], statuses, whys)

    def _commit(self) -> None:
        """Writes the order into the run, and brings the tree in line with it."""
        self.run.blackboard.update(self.journey.kept())
        self._reconcile()

    def _reconcile(self) -> None:
        """Asks for the grafts of the next steps that the tree lacks, and for the removal of those that have ended. What
        was asked for before a kill, and not made, is asked for again."""
        journey, progress = self.journey, self.progress()
        there = {segment_of(node) for node in self._steps()} - {"0"}
        self._asked = {name: asked for name, asked in self._asked.items() if name not in there}
        left = {step.name: step for step in journey.left(progress) if step.at < progress.done + AHEAD}
        actions = {int(number): each for number, each in journey.given.items()}
        written: dict[str, Json] = {}
        for step in left.values():
            if step.name not in there | self._asked.keys():
                written |= entries(step, actions, journey.stops(step))
            elif step.kind == "drive":
                written[f"stop_{step.at}"] = journey.stops(step)
        board = self.run.blackboard
        if new := {name: value for name, value in written.items() if board.get(name) != value or name not in board}:
            board.update(new)
        for name, step in left.items():
            try:
                if name in self._asked:
                    self._asked[name].poll()
                elif name not in there:
                    self._asked[name] = self.run.insert(STEPS, graft(step))
            except (BtError, Faults) as error:  # a tree of the project cannot be had any more
                return self._impossible(step, in_words(error))
        for name in there - set(left):
            self.run.remove(f"{STEPS}/{name}")
        return None

    def _impossible(self, step: Step, why: str) -> None:
        _LOG.warning("%s cannot be done: %s", step.name, why)
        self._asked.pop(step.name, None)
        self.journey.refused(step, why)
        self._commit()

    def moving(self) -> bool:
        """True while the vehicle drives: as it says itself, else while a drive is at work or stopping."""
        known = self.facts.known.get("driving")
        return bool(known) if known is not None else self._stood is None

    def stands(self) -> bool:
        """True when no drive is at work, all that was cancelled has stopped, and the vehicle has said since then that
        it does not drive."""
        if self._stood is None:
            return False
        known = self.facts.known.get("driving")
        return known is None or (not known and self.facts.measured >= self._stood)

    def _look(self) -> None:
        """Notes whether a drive is at work or stopping. When that changes, the vehicle is asked anew what it knows."""
        board, now = self.run.blackboard, self.run.parts.context.clock.now()
        works = bool(board["driving"]) or bool(self.run.parts.context.resources.left())
        if works != (self._stood is None):
            self._stood = None if works else now
        if (turn := (board["done"], board["driving"], works)) != self._turn:
            self._turn, self._turned = turn, now
            self.facts.soon()

    def _see_actions(self) -> None:
        """Notes which actions have begun: one whose skill waits for the disk, a lock or a person has not."""
        for node in self.run.nodes():
            name, _, number = segment_of(node).rpartition("_")
            if f"{name}_" == ACTING and node.status is Status.RUNNING and int(number) not in self._begun:
                leaves = [each for each in node.iterate() if not each.children and each.status is Status.RUNNING]
                if any(not _pending(each) for each in leaves):
                    self._begun.add(int(number))

    def _old(self) -> bool:
        """True while what the vehicle says of itself was measured before a drive has begun or ended; for so long no
        state is published."""
        since = self.run.parts.context.clock.now() - self._turned
        return "driving" in self.facts.known and self.facts.measured < self._turned and since < SELDOM

    def advance(self) -> float:
        """Takes what has come, ticks once when that is due, and publishes; returns the seconds until more is due."""
        while not self.news.empty():
            self._take(*self.news.get())
        clock = self.run.parts.context.clock
        if clock.now() >= self._due or self.run.parts.runner.woken.is_set() or self.run.parts.context.requests:
            self.run.parts.runner.woken.clear()
            before, tick = self.run.blackboard["done"], self.run.tick()
            if not tick.running:
                return self._broken()
            self._due = tick.due
            if self._asked or before != self.run.blackboard["done"]:
                self._reconcile()
        self._look()
        self._see_actions()
        facts_due = self.facts.look()
        self._settle()
        self._tell()
        stopping = LOOK if self._stood is None and not self.run.blackboard["driving"] else math.inf
        return max(0.0, min(self._due - clock.now(), facts_due, stopping, SELDOM))

    def _broken(self) -> float:
        """The run has ended by itself, which a step that breaks may bring about: the order has failed."""
        self.journey.drop("the vehicle's run has broken", "orderError")
        self.journey.dropped(self.progress())
        self._change(self.journey)
        return 0.0

    def _change(self, journey: Journey) -> None:
        """Begins the next run, which is on the disk before this returns, and ends the one before."""
        board, old = self.run.blackboard, self.run
        self._takes(self.begin({**journey.kept(), "paused": board["paused"], "halted": board["halted"]}))
        if old.status is Status.RUNNING:
            old.blackboard.update(over=True)
            old.tick()  # its last, in which it ends
        old.close("the next run has begun")
        self._due, self._next, self._wanted = -math.inf, None, True

    def _settle(self) -> None:
        """Ends what was waiting for the tree or for the vehicle."""
        journey, progress, stands = self.journey, self.progress(), self.stands()
        changed = journey.look(progress)
        if progress.failed and not (journey.dropping or journey.over):
            journey.drop(progress.failed, "orderError")
            changed = True
        elif journey.dropping and stands and self._gone():
            journey.dropped(progress)
            changed = True
        board = self.run.blackboard
        if board["paused"] and stands:
            changed |= journey.ended("startPause")
        if not board["paused"]:
            changed |= journey.ended("stopPause")
        if changed:
            self._commit()

    def _gone(self) -> bool:
        """True when no step of the order is in the tree."""
        return all(segment_of(each).partition("_")[0] in ("0", "instant") for each in self._steps())

    def _steps(self) -> list[Behaviour]:
        """Returns the nodes of steps, and the one that keeps the run open."""
        return list(self.run.parts.engine.root.children[0].children)

    # From the master control -------------------------------------------------------------------

    def _take(self, what: str, payload: Any) -> None:
        if what == "halted":
            if self.run.blackboard["halted"] != (payload or ""):
                self.run.blackboard.update(halted=payload or "")
            return
        self._wanted = True
        if what == "linked":
            self._online()
        elif what in ("order", "instantActions"):
            try:
                given = messages.parsed(payload, what, MOST)
                (self._order if what == "order" else self._instant)(given)
            except Malformed as error:
                self.journey.error("validationError", error.message)
                self._commit()
            except Exception as error:  # the tree does not take it, or this is a fault of ours: the control is told
                _LOG.exception("the %s could not be taken", what)
                self.journey.error("orderError", in_words(error))
                self._commit()

    def _order(self, message: Json) -> None:
        progress, mode = self.progress(), self.facts.known.get("operating_mode", DRIVEN[0])
        if mode not in DRIVEN and isinstance(message, dict):
            self.journey.error("orderError", f"no orders are taken while the operating mode is {mode}")
        else:
            new = self.journey.accepted(message, progress, self.facts.known.get("position"))
            if new is not None and new is not self.journey:
                self._change(new)
                return
        self._commit()

    def _instant(self, message: Json) -> None:
        journey, wrong = self.journey, faults("instantActions", message)
        if wrong:
            journey.error("validationError", wrong[0])
        else:
            assert isinstance(message, dict)
            for action in message["actions"]:
                self._begin(action)
        self._commit()

    def _begin(self, action: Mapping[str, Any]) -> None:
        """Begins an instant action. One that is RUNNING is ended by `_settle`."""
        journey, id, kind = self.journey, action["actionId"], action["actionType"]
        if id in journey.seen:
            return  # sent twice
        why, status = "", "RUNNING"
        if kind == "cancelOrder":
            if not journey.active(self.progress()):
                why = "there is no order"
            else:
                journey.drop(CANCELLED)
        elif kind in ("startPause", "stopPause"):
            self.run.blackboard.update(paused=kind == "startPause")
        elif kind == "initPosition":
            why = "the vehicle drives, or has an order" if not self._idle() else ""
            if not why:
                journey.do(action)
                return
        elif kind in ("stateRequest", "factsheetRequest"):
            status = "FINISHED"
            if kind == "factsheetRequest" and not self._factsheet():
                why = "there is no factsheet: btr fleet vda5050 --factsheet FILE"
        else:
            why = f"`{kind}` is no instant action of this vehicle"
        if why:
            reference = [{"referenceKey": "actionId", "referenceValue": id}]
            journey.error("noOrderToCancel" if kind == "cancelOrder" else "actionError", why, reference)
        journey.instant(id, kind, "FAILED" if why else status, why)

    def _idle(self) -> bool:
        return self.stands() and not self.journey.active(self.progress()) and not self.journey.running

    # To the master control ---------------------------------------------------------------------

    def _tell(self) -> None:
        """Publishes the state once it has changed, and what it says is on the disk."""
        if self._next is not None:
            body, ticket = self._next
            if not ticket.done:
                return
            self._next = None
            if ticket.failed:
                _LOG.warning("the journal cannot be written: %s", ticket.failed)
            self.broker.publish(self.names.topic("state"), json.dumps(self.names.message("state", body)), False)
            self._told, self._when = body, self.run.parts.context.clock.now()
        if not self._linked or (self.facts.unknown and not self.trial) or self._old():
            return
        body, since = self.state(), self.run.parts.context.clock.now() - self._when
        changed = _apart(body) != _apart(self._told) or (body != self._told and since >= SELDOM)
        if self._wanted or changed or since >= OFTEN:
            self._wanted = False
            assert self.run.parts.journal is not None and self.run.parts.journal.tape.writer is not None
            self._next = body, self.run.parts.journal.tape.writer.durable(self.run.parts.runner.woken.set)

    def state(self) -> dict[str, Json]:
        """Returns the body of the state message."""
        board, moving = self.run.blackboard, self.moving()
        halted = str(board["halted"])
        paused = (bool(board["paused"]) or bool(halted)) and self.stands()
        return {**self.journey.state(self.progress(), moving, paused, halted), **self.facts.state()}

    def _online(self) -> None:
        """The connection is there, again perhaps: the last will may stand there."""
        self._linked = True
        self.broker.publish(self.names.topic("connection"), self.names.connection("ONLINE"), True)
        self._factsheet()

    def _factsheet(self) -> bool:
        if self.maker is None:
            return False
        body = self.names.message("factsheet", factsheet(self.maker, OFTEN))
        self.broker.publish(self.names.topic("factsheet"), json.dumps(body), True)
        return True

    def take(self, what: str, payload: Any) -> None:
        """Takes a message, or that the connection is there, from any thread."""
        self.news.put((what, payload))
        self.run.parts.runner.woken.set()

    def close(self) -> None:
        """Ends in order: the drive is cancelled, and OFFLINE is told. The next start goes on with the order."""
        self.run.close("the vehicle's program ends")
        self.facts.close()
        self.broker.publish(self.names.topic("connection"), self.names.connection("OFFLINE"), True)


def in_words(error: BaseException) -> str:
    """Returns what is wrong, in a line."""
    if isinstance(error, Faults) and error.diagnostics:
        return str(error.diagnostics[0].message)
    return str(error).partition("\n")[0] or type(error).__name__


def _pending(leaf: Behaviour) -> bool:
    """True for the node of a skill that has not begun."""
    activity = getattr(leaf, "activity", None)
    while isinstance(activity, Wrapping):
        activity = activity.inner
    return isinstance(activity, Pending)


def _apart(body: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in body.items() if name not in ALWAYS}


async def live(vehicle: Vehicle, over: asyncio.Event) -> None:
    """Ticks the vehicle until it is over."""
    loop = asyncio.get_running_loop()
    rung = asyncio.Event()

    def ring() -> None:
        loop.call_soon_threadsafe(rung.set)

    ends = asyncio.create_task(over.wait())
    while not over.is_set():
        rung.clear()
        alarms = [
            vehicle.run.parts.runner.woken,
            *([vehicle.facts.run.parts.runner.woken] if vehicle.facts.run else []),
        ]
        leave = [alarm.listen(ring) for alarm in alarms]
        try:
            seconds = vehicle.advance()
            if not any(alarm.is_set() for alarm in alarms) and vehicle.news.empty():
                await asyncio.wait([ends, rest := asyncio.create_task(rung.wait())], timeout=seconds,
                                   return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
                rest.cancel()
            else:
                await asyncio.sleep(0)
        finally:
            for each in leave:
                each()
    ends.cancel()
