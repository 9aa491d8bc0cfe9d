"""Between an MQTT broker and the fleet: a stage of an order is a task for its robot, a change is a state message.

The stages of an order are sent one after another, each when the one before has succeeded. Their ids are made of the
order's, so that a bridge that is started again repeats nothing."""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.faults.extra import Extra
from bt_runtime.fleet import record
from bt_runtime.fleet.record import DONE, STARTED, Record
from bt_runtime.fleet.vda5050.factsheet import factsheet
from bt_runtime.fleet.vda5050.journey import Journey
from bt_runtime.fleet.vda5050.messages import MAJOR, VERSION, Topic, faults
from bt_runtime.types import Json

TREE = "vda5050"
OFTEN = 30.0  # seconds between two state messages of a robot, at most
LOST = 6.0  # seconds without a heartbeat after which a robot's connection counts as broken
Publish = Callable[[str, str, bool], None]  # topic, payload, retained


class Desk(Protocol):
    """What the bridge needs of a fleet; `Fleet` has it."""

    def send(
        self, tree: str, inputs: Mapping[str, Json] | None = None, *, id: str | None = None, **more: Any
    ) -> Any: ...
    def cancel(self, task: str, reason: str = "") -> Record: ...
    def halt(self, reason: str, robot: str | None = None) -> list[str]: ...
    def release(self, robot: str | None = None) -> list[str]: ...


class Bridge:
    """Takes messages of the broker and changes of records, one after another, from one thread."""

    def __init__(
        self, desk: Desk, publish: Publish, manufacturer: str, tree: str = TREE, now: Callable[[], float] = time.time,
        maker: Mapping[str, Json] | None = None,
    ) -> None:  # fmt: skip
        """`maker`: what a file says of the robots' type, for the factsheet; None: there is none."""
        self.maker = maker
        self.desk, self.publish, self.manufacturer, self.tree, self.now = desk, publish, manufacturer, tree, now
        self.journeys: dict[str, Journey] = {}
        self.heard: dict[str, float] = {}  # robot → its last heartbeat
        self._queues: dict[str, deque[tuple[str, dict[str, Any]]]] = {}
        self._active: dict[str, tuple[str, dict[str, Any]]] = {}  # robot → the stage that is sent, with its task's id
        self._counts: dict[tuple[str, Topic], int] = {}
        self._stated: dict[str, float] = {}
        self._online: dict[str, str] = {}
        self._batteries: dict[str, float] = {}

    def topic(self, robot: str, topic: Topic) -> str:
        return f"uagv/v{MAJOR}/{self.manufacturer}/{robot}/{topic}"

    @property
    def subscriptions(self) -> list[str]:
        return [self.topic("+", "order"), self.topic("+", "instantActions")]

    # From the broker ---------------------------------------------------------------------------

    def message(self, topic: str, payload: bytes) -> None:
        *_, robot, what = topic.split("/")
        try:
            given = json.loads(payload)
        except ValueError as error:
            self._journey(robot).error("validationError", f"{what} is not JSON: {error}")
        else:
            if what == "order":
                self._order(robot, given)
            else:
                self._instant(robot, given)
        self.state(robot)

    def _order(self, robot: str, order: Json) -> None:
        part = self._journey(robot).accept(order)
        if part is not None:
            name = hashlib.sha256(part.id.encode()).hexdigest()[:16]
            waiting = self._queues.setdefault(robot, deque())
            waiting.extend((f"vda-{name}-{number}", stage) for number, stage in enumerate(part.stages))
            self._next(robot)

    def _instant(self, robot: str, message: Json) -> None:
        journey, wrong = self._journey(robot), faults("instantActions", message)
        if wrong:
            journey.error("validationError", wrong[0])
            return
        assert isinstance(message, dict)
        for action in message["actions"]:
            why = self._act(robot, action["actionType"])
            reference = [{"referenceKey": "actionId", "referenceValue": action["actionId"]}]
            if why:
                journey.error(
                    "noOrderToCancel" if action["actionType"] == "cancelOrder" else "actionError", why, reference
                )
            journey.actions[action["actionId"]] = {
                "actionId": action["actionId"], "actionType": action["actionType"],
                "actionStatus": "FAILED" if why else "FINISHED", "resultDescription": why,
            }  # fmt: skip

    def _act(self, robot: str, kind: str) -> str:
        """Does an instant action at once; returns why not."""
        journey = self._journey(robot)
        if kind == "cancelOrder":
            if not journey.active:
                return "there is no order"
            self._queues.pop(robot, None)
            if (active := self._active.pop(robot, None)) is not None:
                self.desk.cancel(active[0], "cancelled by the master control")
            journey.dropped("cancelled by the master control", failed=False)
        elif kind == "startPause":
            self.desk.halt("paused by the master control", robot)
            journey.paused = True
        elif kind == "stopPause":
            self.desk.release(robot)
            journey.paused = False
        elif kind == "factsheetRequest":
            if self.maker is None:
                return "there is no factsheet: btr fleet vda5050 --factsheet FILE"
            self._factsheet(robot)
        elif kind != "stateRequest":
            return f"`{kind}` is no instant action of this robot"
        return ""

    # From the fleet ----------------------------------------------------------------------------

    def changed(self, held: Record) -> None:
        """Takes a change of a task's record."""
        robot = held.task.to or ""
        active = self._active.get(robot)
        if active is None or active[0] != held.task.id:
            return
        journey, stage = self._journey(robot), active[1]
        parts = [part for part in (stage["drive"], *stage["actions"]) if part is not None]
        if held.state == STARTED:
            for part in parts:
                journey.begun(part)
        elif held.state == DONE:
            good = held.verdict == record.SUCCESS
            for part in parts:
                journey.ended(part, good, "" if good else held.reason)
            del self._active[robot]
            if good:
                self._next(robot)
            else:
                self._queues.pop(robot, None)
                journey.dropped(held.reason or str(held.verdict), failed=True)
        else:
            return
        self.state(robot)

    def alive(self, robot: str, beat: Mapping[str, Any]) -> None:
        self.heard[robot] = self.now()
        journey = self._journey(robot)
        if isinstance(charge := (beat.get("facts") or {}).get("battery"), int | float):
            self._batteries[robot] = charge / 100
        if self._online.get(robot) is None and self.maker is not None:
            self._factsheet(robot)
        self._connection(robot, "ONLINE")
        if journey.at is not None:
            self._publish(robot, "visualization", {"agvPosition": journey.at})

    def tick(self) -> None:
        """What time does: state messages now and then, and robots that are not heard any more."""
        now = self.now()
        for robot in [*self.journeys]:
            if robot in self.heard and now - self.heard[robot] > LOST:
                self._connection(robot, "CONNECTIONBROKEN")
            if now - self._stated.get(robot, 0.0) > OFTEN:
                self.state(robot)

    # To the broker -----------------------------------------------------------------------------

    def state(self, robot: str) -> None:
        self._stated[robot] = self.now()
        self._publish(robot, "state", self._journey(robot).state(self._batteries.get(robot)))

    def _connection(self, robot: str, word: str) -> None:
        if self._online.get(robot) != word:
            self._online[robot] = word
            self._publish(robot, "connection", {"connectionState": word}, retained=True)

    def _factsheet(self, robot: str) -> None:
        assert self.maker is not None
        self._publish(robot, "factsheet", factsheet(self.maker, OFTEN), retained=True)

    def _publish(self, robot: str, topic: Topic, body: Mapping[str, Json], retained: bool = False) -> None:
        count = self._counts[robot, topic] = self._counts.get((robot, topic), -1) + 1
        when = datetime.fromtimestamp(self.now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        header = {"headerId": count, "timestamp": when, "version": VERSION, "manufacturer": self.manufacturer,
                  "serialNumber": robot}  # fmt: skip
        self.publish(self.topic(robot, topic), json.dumps({**header, **body}), retained)

    def _journey(self, robot: str) -> Journey:
        return self.journeys.setdefault(robot, Journey(robot))

    def _next(self, robot: str) -> None:
        """Sends the next stage, if none is under way."""
        waiting = self._queues.get(robot)
        if waiting and robot not in self._active:
            task, stage = self._active[robot] = waiting.popleft()
            inputs = {"drive": stage["drive"] or {}, "actions": stage["actions"]}
            try:
                self.desk.send(self.tree, inputs, id=task, to=robot)
            except BtError as error:
                self._active.pop(robot)
                waiting.clear()
                self._journey(robot).dropped(error.message, failed=True)


class Mqtt:
    """A connection to a broker that hands what arrives to one queue; the bridge's thread takes it from there."""

    def __init__(
        self, host: str, port: int, news: queue.Queue[tuple[str, Any]], user: str = "", password: str = ""
    ) -> None:
        with Extra("fleet", "MQTT"):
            from paho.mqtt import client as paho
            from paho.mqtt.enums import CallbackAPIVersion
        self.topics: list[str] = []
        self.ready = threading.Event()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv311)
        if user:
            self.client.username_pw_set(user, password)
        self.client.on_connect = self._connected
        self.client.on_subscribe = lambda *_: self.ready.set()
        self.client.on_message = lambda _client, _data, m: news.put(("mqtt", (m.topic, m.payload)))
        try:
            self.client.connect(host, port)
        except OSError as error:
            raise BtError(
                f"no MQTT broker answers at {host}:{port}: {error}", "btr fleet up --mqtt HOST:PORT"
            ) from error

    def _connected(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        for topic in self.topics:
            client.subscribe(topic, qos=1)

    def start(self, topics: list[str]) -> None:
        self.topics = topics
        self.client.loop_start()

    def publish(self, topic: str, payload: str, retained: bool) -> None:
        self.client.publish(topic, payload, qos=1, retain=retained)

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def serve(bridge: Bridge, news: queue.Queue[tuple[str, Any]], over: Callable[[], bool]) -> None:
    """Gives the bridge what happens, until it is over."""
    while not over():
        try:
            what, body = news.get(timeout=0.5)
        except queue.Empty:
            bridge.tick()
            continue
        if what == "mqtt":
            bridge.message(*body)
        elif what == "record":
            bridge.changed(body)
        elif what == "alive":
            bridge.alive(*body)
        bridge.tick()
