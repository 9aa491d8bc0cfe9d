"""Connections to an MQTT broker: one that hears orders, and one for each robot, with a last will of its own."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import Any
from uuid import uuid4

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra

PATIENCE = 2.0  # seconds that the last messages may take


class Mqtt:
    """What arrives goes into one queue; the bridge's thread takes it from there."""

    def __init__(
        self, host: str, port: int, news: queue.Queue[tuple[Any, ...]], user: str = "", password: str = ""
    ) -> None:
        with Extra("fleet", "MQTT"):
            from paho.mqtt import client as paho
            from paho.mqtt.enums import CallbackAPIVersion

        def made(name: str) -> paho.Client:
            client = paho.Client(CallbackAPIVersion.VERSION2, f"btr-{name}-{uuid4().hex[:8]}", protocol=paho.MQTTv311)
            if user:
                client.username_pw_set(user, password)
            return client

        self.at, self.news, self._made = (host, port), news, made
        self.topics: list[str] = []
        self.ready = threading.Event()
        self.robots: dict[str, Any] = {}  # the connection of each robot
        self._last: dict[Any, Any] = {}  # the latest message of each connection
        self.client = made("orders")
        self.client.on_connect = self._connected
        self.client.on_subscribe = lambda *_: self.ready.set()
        self.client.on_message = lambda _client, _data, m: news.put(("mqtt", m.topic, m.payload))
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

    def enter(self, robot: str, topic: str, will: str) -> None:
        """Opens a robot's own connection. When it breaks, the broker publishes the last will there."""
        client = self._made(robot)
        client.will_set(topic, will, qos=1, retain=True)
        client.on_connect = lambda *_: self.news.put(("linked", robot))  # the will may have been published meanwhile
        client.connect_async(*self.at)
        client.loop_start()
        self.robots[robot] = client

    def publish(self, robot: str, topic: str, payload: str, retained: bool) -> None:
        client = self.robots.get(robot, self.client)
        self._last[client] = client.publish(topic, payload, qos=1, retain=retained)

    def close(self) -> None:
        """Ends the connections in order, so that no last will is published; what was published before is sent first."""
        for message in self._last.values():
            with suppress(ValueError, RuntimeError):  # the broker is not there
                message.wait_for_publish(PATIENCE)
        for client in (*self.robots.values(), self.client):
            client.disconnect()
            client.loop_stop()
