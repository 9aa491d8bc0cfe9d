"""Counts connected clients by ZeroMQ's monitors. Each client uses a file descriptor, which starting skills need as
well."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any


class Crowd:
    """Counts clients, in the thread that owns the sockets. A monitor becomes readable when a client connects or
    leaves."""

    def __init__(self, zmq: Any, sockets: Iterable[Any]) -> None:
        self._accepted, self._read = zmq.EVENT_ACCEPTED, import_module("zmq.utils.monitor").recv_monitor_message
        events = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED
        self._connected: dict[Any, set[int]] = {socket.get_monitor_socket(events): set() for socket in sockets}

    @property
    def monitors(self) -> list[Any]:
        return [*self._connected]

    def count(self) -> int:
        """The connections now."""
        for monitor, descriptors in self._connected.items():
            while monitor.poll(0):
                event = self._read(monitor)
                (descriptors.add if event["event"] == self._accepted else descriptors.discard)(event["value"])
        return sum(map(len, self._connected.values()))
