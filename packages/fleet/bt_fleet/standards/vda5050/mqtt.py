"""A vehicle's connection to an MQTT broker, with a last will. It comes and goes; the vehicle works on."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project.address import is_loopback

PATIENCE = 2.0  # seconds that the last message may take
AGAIN = (1, 30)  # seconds between two tries to connect: the first, and at most


class Door(NamedTuple):
    """Where the broker is, and by what vehicle and broker know each other."""

    host: str
    port: int
    user: str = ""
    password: str = ""
    ca: Path | None = None  # who may have signed the broker's certificate; None: no TLS
    cert: Path | None = None  # the vehicle's own certificate, and its key
    key: Path | None = None

    def checked(self) -> Door:
        """Returns itself, if what is sent there can be neither read nor forged on the way."""
        if not is_loopback(self.host):
            if self.ca is None:
                hint = "--mqtt-ca FILE: who signed its certificate"
                raise BtError(f"{self.host} is another machine: orders go there by TLS only", hint)
            if not (self.password or self.cert):
                hint = "--key FILE, or --mqtt-cert FILE with --mqtt-key FILE"
                raise BtError(f"{self.host} is another machine: the vehicle has to prove who it is", hint)
        if self.cert is not None and self.ca is None:
            raise BtError("--mqtt-cert is a certificate for TLS", "name who signed the broker's: --mqtt-ca FILE")
        return self


def library() -> Any:
    """Returns paho's client."""
    with Extra("fleet", "MQTT"):
        from paho.mqtt import client as paho
    return paho


class Mqtt:
    """One connection, that is opened anew whenever it breaks."""

    def __init__(
        self, door: Door, will: tuple[str, str], topics: Sequence[str], trouble: Callable[[str], None]
    ) -> None:
        paho = library()
        self._topics, self._trouble = list(topics), trouble
        self._told: Callable[[str, Any], None] = lambda what, payload: None
        self._last: Any = None
        self.client = client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv311)
        if door.user:
            client.username_pw_set(door.user, door.password)
        if door.ca is not None:
            try:
                context = ssl.create_default_context(cafile=door.ca)
                if door.cert is not None:
                    context.load_cert_chain(door.cert, door.key)
            except (OSError, ssl.SSLError) as error:
                raise BtError(f"no TLS with these files: {error}", "they are PEM files") from error
            client.tls_set_context(context)
        client.will_set(*will, qos=1, retain=True)
        client.reconnect_delay_set(*AGAIN)
        client.on_connect = self._connected
        client.on_subscribe = self._subscribed
        client.on_connect_fail = lambda *_: trouble("no broker answers; the vehicle works on, and tries again")
        client.on_message = lambda _client, _data, m: self._told(m.topic.rpartition("/")[2], m.payload)
        client.connect_async(door.host, door.port)

    def start(self, told: Callable[[str, Any], None]) -> None:
        """Connects. Calls `told` in its own thread: `linked` when the connection is there, else the last word of a
        message's topic, and its content."""
        self._told = told
        self.client.loop_start()

    def _connected(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            self._trouble(f"the broker refuses the vehicle: {reason}")
            return
        client.subscribe([(topic, 1) for topic in self._topics])

    def _subscribed(self, client: Any, data: Any, number: Any, reasons: Any, properties: Any) -> None:
        if any(each.is_failure for each in reasons):
            self._trouble("the broker refuses the vehicle's topics")
            return
        self._told("linked", None)  # only now: an order that is sent after ONLINE is heard

    def publish(self, topic: str, payload: str, retained: bool) -> None:
        self._last = self.client.publish(topic, payload, qos=1 if retained else 0, retain=retained)

    def close(self) -> None:
        """Ends the connection in order, so that no last will is published; what was published before is sent first."""
        if self._last is not None:
            with suppress(ValueError, RuntimeError):  # the broker is not there
                self._last.wait_for_publish(PATIENCE)
        self.client.disconnect()
        self.client.loop_stop()
