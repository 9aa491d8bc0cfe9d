"""A client of Groot2's protocol that is written from its description alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest

zmq = pytest.importorskip("zmq")


class Client:
    def __init__(self, port: int) -> None:
        self.context = zmq.Context()
        self.context.setsockopt(zmq.LINGER, 0)
        self.socket: Any = None
        self.heard: list[Any] = []  # kept until they are closed
        self.port = port
        self.connect()

    def connect(self) -> None:
        self.socket = self.context.socket(zmq.REQ)
        self.socket.setsockopt(zmq.RCVTIMEO, 60_000)
        self.socket.connect(f"tcp://127.0.0.1:{self.port}")

    def ask(self, what: str, body: bytes | None = None) -> list[bytes]:
        self.socket.send_multipart([struct.pack("<BBI", 2, ord(what), 7), *([] if body is None else [body])])
        found: list[bytes] = self.socket.recv_multipart()
        return found

    def statuses(self) -> dict[int, int]:
        data = self.ask("S")[1]
        return dict(struct.unpack_from("<HB", data, at) for at in range(0, len(data), 3))

    def news(self) -> Any:
        socket = self.context.socket(zmq.SUB)
        socket.setsockopt(zmq.RCVTIMEO, 60_000)
        socket.setsockopt(zmq.SUBSCRIBE, b"")
        socket.connect(f"tcp://127.0.0.1:{self.port + 1}")
        self.heard.append(socket)
        return socket

    def close(self) -> None:
        self.context.destroy(linger=0)


@pytest.fixture
def client() -> Iterator[Any]:
    made: list[Client] = []

    def connect(port: int) -> Client:
        made.append(Client(port))
        return made[-1]

    yield connect
    for each in made:
        each.close()
