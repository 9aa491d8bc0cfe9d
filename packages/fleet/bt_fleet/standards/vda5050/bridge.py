"""Between an MQTT broker and the fleet: a stage of an order is a task for its robot, a change is a state message.

The stages of an order are sent one after another, each when the one before has succeeded. Their ids are made of the
order's, and the order is kept in the fleet's store: a bridge that is started again goes on with it, and repeats
nothing."""

from __future__ import annotations

import hashlib
import json
import logging
import queue
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from bt_fleet.server import messages
from bt_fleet.server.messages import Malformed
from bt_fleet.standards.vda5050.factsheet import factsheet
from bt_fleet.standards.vda5050.journey import UNHEARD, Journey, Vehicle
from bt_fleet.standards.vda5050.messages import MAJOR, VERSION, Topic, faults
from bt_fleet.store import record
from bt_fleet.store.record import DONE, STARTED, Record
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

TREE = "vda5050"
OFTEN = 30.0  # seconds between two state messages of a robot, at most
LOST = 6.0  # seconds without a heartbeat after which a robot's connection counts as broken
MOST = 200_000  # bytes of a message
PAUSED = "paused by the master control"
SILENT = "fleetError"  # the type of an error: the fleet does not answer
CANCELLED = "cancelled by the master control"
LOOKED = 5.0  # seconds between two looks which robots there are
_LOG = logging.getLogger(__name__)


class VdaDesk(Protocol):
    """What the bridge needs of a fleet; `Fleet` has it."""

    def send(
        self, tree: str, inputs: Mapping[str, Json] | None = None, *, id: str | None = None, **more: Any
    ) -> Any: ...
    def show(self, task: str) -> Record: ...
    def cancel(self, task: str, reason: str = "") -> Record: ...
    def halt(self, reason: str, robot: str | None = None) -> list[str]: ...
    def release(self, robot: str | None = None) -> list[str]: ...
    def robots(self) -> Mapping[str, Any]: ...
    def keep(self, key: str, value: Json) -> None: ...
    def kept(self, beginning: str) -> Mapping[str, Any]: ...


class Broker(Protocol):
    """What the bridge needs of an MQTT broker; `Mqtt` has it."""

    def enter(self, robot: str, topic: str, will: str) -> None: ...
    def publish(self, robot: str, topic: str, payload: str, retained: bool) -> None: ...


class Bridge:
    """Takes messages of the broker and changes of records, one after another, from one thread."""

    def __init__(
        self, desk: VdaDesk, broker: Broker, manufacturer: str, tree: str = TREE, now: Callable[[], float] = time.time,
        maker: Mapping[str, Json] | None = None,
    ) -> None:  # fmt: skip
        """`maker`: what a file says of the robots' type, for the factsheet; None: there is none."""
        self.maker = maker
        self.desk, self.broker, self.manufacturer, self.tree, self.now = desk, broker, manufacturer, tree, now
        self.journeys: dict[str, Journey] = {}
        self.vehicles: dict[str, Vehicle] = {}
        self._queues: dict[str, deque[tuple[str, dict[str, Any]]]] = {}
        self._active: dict[str, tuple[str, dict[str, Any]]] = {}  # robot → the stage that is sent, with its task's id
        self._counts: dict[tuple[str, Topic], int] = {}
        self._stated: dict[str, float] = {}
        self._online: dict[str, str] = {}
        self._looked = -LOOKED
        self._there: set[str] = set()  # robots that have joined the fleet
        self._ending: set[str] = set()  # tasks that the fleet was told to cancel
        self._unkept: set[str] = set()  # robots whose order has changed since it was kept
        self._key = f"vda5050.{hashlib.sha256(manufacturer.encode()).hexdigest()[:8]}."
        self._load()

    # What outlives the bridge ------------------------------------------------------------------

    def _load(self) -> None:
        for key, kept in self.desk.kept(self._key).items():
            robot = key.removeprefix(self._key)
            try:
                journey = Journey.of(robot, kept["journey"])
                stages = [(str(task), dict(stage)) for task, stage in kept["stages"]]
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                _LOG.warning("the order of %s that was kept cannot be read: %r", robot, error)
                continue
            self.journeys[robot] = journey
            if stages:  # the first may have been sent: sent again, it is the same task
                self._queues[robot] = deque(stages)
                self._next(robot)  # what its task has done meanwhile is known before a state is published

    def _keep(self, robot: str) -> None:
        active = [self._active[robot]] if robot in self._active else []
        stages: list[Any] = [list(each) for each in (*active, *self._queues.get(robot, ()))]
        self._unkept.add(robot)
        try:
            self.desk.keep(f"{self._key}{robot}", {"journey": self._journey(robot).plain(), "stages": stages})
        except Exception as error:  # the fleet's server does not answer: kept at a later tick, nothing is sent before
            _LOG.warning("the order of %s is not kept: %r", robot, error)
        else:
            self._unkept.discard(robot)

    def topic(self, robot: str, topic: Topic) -> str:
        return f"uagv/v{MAJOR}/{self.manufacturer}/{robot}/{topic}"

    @property
    def subscriptions(self) -> list[str]:
        return [self.topic("+", "order"), self.topic("+", "instantActions")]

    # From the broker ---------------------------------------------------------------------------

    def message(self, topic: str, payload: bytes) -> None:
        *_, robot, what = topic.split("/")
        if not self._known(robot):
            _LOG.warning("%s: no robot of this name has joined the fleet", topic[:120])
            return
        try:
            given = messages.parsed(payload, what, MOST)
            if what == "order":
                self._order(robot, given)
            else:
                self._instant(robot, given)
        except Malformed as error:
            self._journey(robot).error("validationError", error.message)
        except Exception as error:  # the fleet's server does not answer: the control is told, and may send it again
            _LOG.warning("%s: %r", topic[:120], error)
            self._journey(robot).error(SILENT, _silent(error))
        self.state(robot)

    def _known(self, robot: str) -> bool:
        """True for a robot that is heard, or has joined before."""
        if robot in self.vehicles or robot in self.journeys or robot in self._there:
            return True
        if self.now() - self._looked >= LOOKED:
            self._looked, self._there = self.now(), set(self.desk.robots())
        return robot in self._there

    def _order(self, robot: str, order: Json) -> None:
        part = self._journey(robot).accept(order)
        if part is not None:
            name = hashlib.sha256(part.id.encode()).hexdigest()[:16]
            waiting = self._queues.setdefault(robot, deque())
            waiting.extend((f"vda-{name}-{number}", stage) for number, stage in enumerate(part.stages))
        self._keep(robot)
        self._next(robot)

    def _instant(self, robot: str, message: Json) -> None:
        journey, wrong = self._journey(robot), faults("instantActions", message)
        if wrong:
            journey.error("validationError", wrong[0])
            return
        assert isinstance(message, dict)
        for action in message["actions"]:
            id, kind = action["actionId"], action["actionType"]
            try:
                status, why = self._act(robot, kind, id)
            except Exception as error:
                status, why = "FAILED", _silent(error)
            if why:
                reference = [{"referenceKey": "actionId", "referenceValue": id}]
                journey.error("noOrderToCancel" if kind == "cancelOrder" else "actionError", why, reference)
            if status != "RUNNING":
                journey.instant(id, kind, status, why)
        self._keep(robot)

    def _act(self, robot: str, kind: str, id: str) -> tuple[str, str]:
        """Begins an instant action; returns how it stands, and why it failed. One that is RUNNING ends when the robot
        tells so."""
        if kind == "cancelOrder":
            return self._cancel(robot, id)
        if kind in ("startPause", "stopPause"):
            return self._pause(robot, kind, id)
        if kind == "factsheetRequest":
            if self.maker is None:
                return "FAILED", "there is no factsheet: btr fleet vda5050 --factsheet FILE"
            self._factsheet(robot)
        elif kind != "stateRequest":
            return "FAILED", f"`{kind}` is no instant action of this robot"
        return "FINISHED", ""

    def _cancel(self, robot: str, id: str) -> tuple[str, str]:
        journey = self._journey(robot)
        if not journey.active:
            return "FAILED", "there is no order"
        self._queues.pop(robot, None)
        if robot not in self._active:
            journey.dropped(CANCELLED, failed=False)
            return "FINISHED", ""
        journey.instant(id, "cancelOrder", "RUNNING")
        self._end_active(robot)
        return "RUNNING", ""

    def _end_active(self, robot: str) -> None:
        """Cancels the stage that is under way; where the fleet does not answer, at a later tick again."""
        task = self._active[robot][0]
        try:
            if self.desk.show(task).state != DONE:  # else its record, which comes too, ends the order
                self.desk.cancel(task, CANCELLED)
            self._ending.add(task)
        except Exception as error:
            _LOG.info("%s: %s is not cancelled: %r", robot, task, error)

    def _pause(self, robot: str, kind: str, id: str) -> tuple[str, str]:
        """A pause is a halt of the robot's task; going on is its resume."""
        halted = self.vehicles.get(robot, UNHEARD).halted
        if halted not in (None, PAUSED):
            return "FAILED", f"the robot is halted by somebody else: {halted}"
        self._journey(robot).instant(id, kind, "RUNNING")
        if kind == "startPause":
            self.desk.halt(PAUSED, robot)
        else:
            self.desk.release(robot)
        return "RUNNING", ""

    # From the fleet ----------------------------------------------------------------------------

    def changed(self, held: Record) -> None:
        """Takes a change of a task's record."""
        robot = held.task.to or ""
        active = self._active.get(robot)
        if active is None or active[0] != held.task.id:
            return
        journey, stage = self._journey(robot), active[1]
        parts = [part for part in (stage["drive"], *stage["actions"]) if part]
        if held.state == STARTED:
            for part in parts:
                journey.begun(part)
        elif held.state == DONE:
            self._ended(robot, held, parts)
        else:
            return
        self._keep(robot)
        self._next(robot)
        self.state(robot)

    def _ended(self, robot: str, held: Record, parts: list[dict[str, Any]]) -> None:
        journey, good = self._journey(robot), held.verdict == record.SUCCESS
        for part in parts:
            journey.ended(part, good, "" if good else held.reason)
        del self._active[robot]
        self._ending.discard(held.task.id)
        if journey.cancelling:
            journey.dropped(CANCELLED, failed=False)
            journey.done("cancelOrder")
        elif not good:
            self._queues.pop(robot, None)
            journey.dropped(held.reason or str(held.verdict), failed=True)

    def alive(self, robot: str, beat: Mapping[str, Any]) -> None:
        before, journey = self.vehicles.get(robot), self._journey(robot)
        battery = before.battery if before is not None else None
        if "facts" in beat:
            charge = beat["facts"].get("battery")
            told = isinstance(charge, int | float) and not isinstance(charge, bool)
            battery = min(100.0, max(0.0, float(charge))) if told else None
        now = Vehicle(self.now(), beat.get("halted"), beat.get("running") is not None, battery)
        self.vehicles[robot] = now
        if before is None:
            self.broker.enter(robot, self.topic(robot, "connection"), self._will(robot))
            if self.maker is not None:
                self._factsheet(robot)
        self._connection(robot, "ONLINE")
        waiting = len(journey.waiting)
        if now.stands:
            journey.done("startPause")
        elif now.halted is None:
            journey.done("stopPause")
        if len(journey.waiting) != waiting:
            self._keep(robot)
        if before is None or now[1:] != before[1:] or len(journey.waiting) != waiting:
            self.state(robot)

    def linked(self, robot: str) -> None:
        """The robot's connection to the broker is there, again perhaps: its last will may stand there."""
        if word := self._online.pop(robot, None):
            self._connection(robot, word)

    def tick(self) -> None:
        """What time does: state messages now and then, robots that are not heard any more, stages to be sent."""
        now = self.now()
        for robot, vehicle in [*self.vehicles.items()]:
            if now - vehicle.heard > LOST:
                self._connection(robot, "CONNECTIONBROKEN")
        for robot in [*self._unkept]:
            self._keep(robot)
        for robot, journey in [*self.journeys.items()]:
            self._next(robot)
            if journey.cancelling and robot in self._active and self._active[robot][0] not in self._ending:
                self._end_active(robot)
            if now - self._stated.get(robot, 0.0) > OFTEN:
                self.state(robot)

    def leave(self) -> None:
        """The bridge ends: every robot that is online is told to be offline."""
        for robot in [robot for robot, word in self._online.items() if word == "ONLINE"]:
            self._connection(robot, "OFFLINE")

    # To the broker -----------------------------------------------------------------------------

    def state(self, robot: str) -> None:
        """Publishes a robot's state. Of one that this bridge has not heard yet, nothing is known and nothing told."""
        if (vehicle := self.vehicles.get(robot)) is not None:
            self._stated[robot] = self.now()
            self._publish(robot, "state", self._journey(robot).state(vehicle))

    def _connection(self, robot: str, word: str) -> None:
        if self._online.get(robot) != word:
            self._online[robot] = word
            self._publish(robot, "connection", {"connectionState": word}, retained=True)

    def _factsheet(self, robot: str) -> None:
        assert self.maker is not None
        self._publish(robot, "factsheet", factsheet(self.maker, OFTEN), retained=True)

    def _will(self, robot: str) -> str:
        return json.dumps({**self._header(robot, "connection"), "connectionState": "CONNECTIONBROKEN"})

    def _publish(self, robot: str, topic: Topic, body: Mapping[str, Json], retained: bool = False) -> None:
        payload = json.dumps({**self._header(robot, topic), **body})
        self.broker.publish(robot, self.topic(robot, topic), payload, retained)

    def _header(self, robot: str, topic: Topic) -> dict[str, Json]:
        count = self._counts[robot, topic] = self._counts.get((robot, topic), -1) + 1
        when = datetime.fromtimestamp(self.now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {"headerId": count, "timestamp": when, "version": VERSION, "manufacturer": self.manufacturer,
                "serialNumber": robot}  # fmt: skip

    def _journey(self, robot: str) -> Journey:
        return self.journeys.setdefault(robot, Journey(robot))

    def _next(self, robot: str) -> None:
        """Sends the next stage, if none is under way."""
        waiting, journey = self._queues.get(robot), self._journey(robot)
        if not waiting or robot in self._active or robot in self._unkept:
            return
        task, stage = waiting[0]
        inputs = {"drive": stage["drive"] or {}, "actions": stage["actions"]}
        try:
            self.desk.send(self.tree, inputs, id=task, to=robot)
            held = self.desk.show(task)
        except Exception as error:  # sent again at the next tick
            _LOG.info("%s: the stage %s is not sent: %r", robot, task, error)
            if not any(each["errorType"] == SILENT for each in journey.errors):
                journey.error(SILENT, _silent(error))
                self.state(robot)
            return
        journey.errors = [each for each in journey.errors if each["errorType"] != SILENT]
        self._active[robot] = waiting.popleft()
        self.changed(held)  # of a bridge that was started again it may have begun, or ended, before


def _silent(error: Exception) -> str:
    why = error.message if isinstance(error, BtError) else str(error) or type(error).__name__
    return f"the fleet does not answer: {why}"


def serve(bridge: Bridge, news: queue.Queue[tuple[Any, ...]], over: Callable[[], bool]) -> None:
    """Gives the bridge what happens, until it is over. Nothing that arrives ends it."""
    takes: dict[str, Callable[..., None]] = {
        "mqtt": bridge.message, "record": bridge.changed, "alive": bridge.alive, "linked": bridge.linked,
    }  # fmt: skip
    while not over():
        try:
            what, *body = news.get(timeout=0.5)
        except queue.Empty:
            what, body = "", []
        try:
            if what in takes:
                takes[what](*body)
            bridge.tick()
        except Exception:  # the fleet's server does not answer, or this is a fault of ours: the next one is taken
            _LOG.exception("the bridge could not take %s", what or "a tick")
