"""ROS 2 over zenoh, in the format of rmw_zenoh, without a ROS installation: `Zenoh("tcp/localhost:7447")`. zenoh
calls back in its own threads; the messages are stored, and the tick reads them."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from bt_robots.ros import wire
from bt_robots.ros.goals import Actions
from bt_robots.ros.messages import MessageFault, Messages
from bt_robots.ros.transport import USUAL, Answer, Message, Qos
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra

ROUTER = "tcp/localhost:7447"  # where rmw_zenohd listens
OPENING = 5.0  # seconds for a first connection
Heard = Callable[[dict[str, Any]], object]


class Zenoh(Closing):
    """`connect` and `listen`: addresses; `client`: all messages go through a router, else directly to peers."""

    def __init__(
        self,
        *connect: str,
        listen: Sequence[str] = (),
        client: bool = False,
        domain: int | None = None,
        node: str = "bt_runtime",
        interfaces: Sequence[Path | str] = (),
        opening: float = OPENING,
    ) -> None:
        self.closed = False
        self.zenoh = _zenoh()
        self.messages = Messages(*interfaces)
        self.domain = _domain() if domain is None else domain
        self.session = _opened(self.zenoh, connect or (() if listen else (ROUTER,)), listen, client, opening)
        self.node = wire.Node(self.domain, str(self.session.zid()), node)
        self._numbers = itertools.count(1)
        self._made: dict[tuple[Any, ...], Any] = {}
        self._lock = threading.RLock()
        self._tokens = [self.session.liveliness().declare_token(self.node.token)]

    def action(self, name: str, type: str) -> Actions:
        made: Actions = self._once(("action", name, type), lambda: Actions(self, name, self.messages.need(type)))
        return made

    def service(self, name: str, type: str) -> ZenohService:
        made: ZenohService = self._once(("service", name, type), lambda: ZenohService(self, name, self.need(type)))
        return made

    def publisher(self, topic: str, type: str, qos: Qos = USUAL) -> Callable[[Message], object]:
        made = self._once(("publisher", topic, type), lambda: Publisher(self, topic, self.need(type), qos))
        return cast(Publisher, made).send

    def subscribe(self, topic: str, type: str, told: Heard, qos: Qos = USUAL) -> Callable[[], object]:
        return Subscription(self, topic, self.need(type), told, qos).close

    def _once(self, which: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        with self._lock:
            if which not in self._made:
                self._made[which] = make()
            return self._made[which]

    def need(self, type: str) -> str:
        """Registers a type. The types of an action's own services come with the action."""
        return type if type in self.messages.store.fielddefs else self.messages.need(type)

    def endpoint(self, sort: str, name: str, type: str, qos: str = wire.QOS) -> tuple[Any, bytes]:
        """Announces an endpoint; returns its token and its identifier's bytes."""
        token = self.node.endpoint(next(self._numbers), sort, name, type, self.messages.hash(type), qos)
        return self.session.liveliness().declare_token(token), wire.gid(token)

    def key(self, name: str, type: str, version: str = "") -> str:
        return wire.key(self.domain, name, type, version or self.messages.hash(type))

    def close(self) -> None:
        self.closed = True
        self.session.close()


class ZenohService:
    """A client of one service, which tracks the service's present servers."""

    def __init__(self, to: Zenoh, name: str, type: str) -> None:
        self.to, self.name, self.type = to, name, type
        self.version = to.messages.hash(type)
        to.messages.warm(f"{type}_Request", f"{type}_Response")
        self.servers: dict[str, str] = {}  # token → version
        self.changed: set[Callable[[], object]] = set()  # told when servers come or go
        self._sent = itertools.count(1)
        self._token, self._gid = to.endpoint("SC", name, type)
        self._watch = to.session.liveliness().declare_subscriber(
            wire.servers(to.domain, name, type), self._seen, history=True
        )

    def _seen(self, sample: Any) -> None:
        token = str(sample.key_expr)
        if sample.kind == self.to.zenoh.SampleKind.PUT:
            self.servers[token] = wire.version_of(token)
        else:
            self.servers.pop(token, None)
        for told in [*self.changed]:
            told()

    def spoken(self) -> str:
        """Returns the type version of a present server; "" when there is none."""
        versions = [*self.servers.values()]
        return next((v for v in (self.version, wire.UNVERSIONED) if v in versions), "")

    def ready(self) -> bool:
        return bool(self.spoken())

    def outage(self) -> str:
        if not self.servers or self.ready():
            return ""
        return f"the server of {self.name} has another version of {self.type}: give its definition (--ros-interfaces)"

    def call(self, request: Message, told: Callable[[Answer], object], seconds: float) -> Callable[[], object]:
        payload = self.to.messages.pack(f"{self.type}_Request", request)
        call = _Call(self, told)
        about = wire.Attached(next(self._sent), time.time_ns(), self._gid)
        self.to.session.get(
            self.to.key(self.name, self.type, self.spoken()),
            self.to.zenoh.handlers.Callback(call.reply, call.over),
            target=self.to.zenoh.QueryTarget.ALL_COMPLETE,
            consolidation=self.to.zenoh.ConsolidationMode.NONE,
            timeout=seconds,
            payload=payload,
            attachment=about.packed(),
        )
        return call.forget


class _Call:
    """One service call. Only the first answer counts; an error counts as an answer."""

    def __init__(self, service: ZenohService, told: Callable[[Answer], object]) -> None:
        self.service, self.told = service, told
        self.reason = "there was no answer"
        self.done = threading.Lock()

    def forget(self) -> None:
        self.done.acquire(blocking=False)

    def say(self, answer: Answer) -> None:
        if self.done.acquire(blocking=False):
            self.told(answer)

    def reply(self, reply: Any) -> None:
        if reply.ok is None:
            self.reason = reply.err.payload.to_bytes().decode("utf-8", "replace")[:200] or self.reason
            return
        try:
            value = self.service.to.messages.unpack(f"{self.service.type}_Response", reply.ok.payload.to_bytes())
        except MessageFault as fault:
            self.reason = fault.message
            return
        self.say(Answer(value))

    def over(self) -> None:
        self.say(Answer(None, self.reason))


class Publisher:
    def __init__(self, to: Zenoh, topic: str, type: str, qos: Qos) -> None:
        self.to, self.type = to, type
        to.messages.warm(type)
        self._token, self._gid = to.endpoint("MP", topic, type, wire.qos(*qos))
        self._sent = itertools.count(1)
        key = to.key(topic, type)
        if qos.latched:
            ext = to.zenoh.ext
            self._put = ext.declare_advanced_publisher(
                to.session, key, cache=ext.CacheConfig(max_samples=1), publisher_detection=True
            )
        else:
            self._put = to.session.declare_publisher(key, congestion_control=to.zenoh.CongestionControl.DROP)

    def send(self, message: Message) -> None:
        about = wire.Attached(next(self._sent), time.time_ns(), self._gid)
        self._put.put(self.to.messages.pack(self.type, message), attachment=about.packed())


class Subscription:
    """A subscription to any version of the type; messages of another version are reported once and dropped."""

    def __init__(self, to: Zenoh, topic: str, type: str, told: Heard, qos: Qos) -> None:
        self.to, self.type, self.told = to, type, told
        to.messages.warm(type)
        self.versions = (to.messages.hash(type), wire.UNVERSIONED)
        self._token, _ = to.endpoint("MS", topic, type, wire.qos(*qos))
        key = to.key(topic, type, "*")
        if qos.latched:
            ext = to.zenoh.ext
            self._heard = ext.declare_advanced_subscriber(
                to.session, key, self.heard, history=ext.HistoryConfig(detect_late_publishers=True, max_samples=1)
            )
        else:
            self._heard = to.session.declare_subscriber(key, self.heard)

    def heard(self, sample: Any) -> None:
        if str(sample.key_expr).rpartition("/")[2] not in self.versions:
            return
        try:
            message = self.to.messages.unpack(self.type, sample.payload.to_bytes())
        except MessageFault:
            return
        self.told(message)

    def close(self) -> None:
        if not self.to.closed:
            self._heard.undeclare()
            self._token.undeclare()


def _zenoh() -> Any:
    with Extra("ros", "ROS over zenoh"):
        import zenoh
        import zenoh.ext
    return zenoh


def _domain() -> int:
    said = os.environ.get("ROS_DOMAIN_ID", "").strip()
    if said and not said.isdigit():
        raise BtError(f"ROS_DOMAIN_ID is `{said}`", "a whole number, or nothing")
    return int(said or 0)


def _opened(zenoh: Any, connect: Sequence[str], listen: Sequence[str], client: bool, opening: float) -> Any:
    """Opens a session without discovery: it connects to the addresses, and reconnects when they return."""
    config = zenoh.Config()
    patience = int(opening * 1000)
    said: dict[str, Any] = {
        "mode": "client" if client else "peer",
        "scouting/multicast/enabled": False,
        "connect/endpoints": [*connect],
        "connect/timeout_ms": patience,
        "connect/exit_on_failure": True,
        "connect/retry": {"period_init_ms": 100, "period_max_ms": 200, "period_increase_factor": 2},
        "listen/endpoints": [*listen],
        "timestamping/enabled": True,
    }
    for name, value in said.items():
        config.insert_json5(name, json.dumps(value))
    try:
        return zenoh.open(config)
    except Exception as error:
        where = ", ".join((*connect, *listen))
        hint = "is its router there (`ros2 run rmw_zenoh_cpp rmw_zenohd`), and the address right?"
        said_by_zenoh = str(error).partition(" at /")[0]  # behind it, a place in its own sources
        raise BtError(f"no zenoh at {where}: {said_by_zenoh[:200]}", hint) from error
