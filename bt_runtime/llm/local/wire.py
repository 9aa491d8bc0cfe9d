"""Messages between the tick process and its worker: a length, then a pickle. Both ends of the socket are ours."""

from __future__ import annotations

import pickle
import socket
import struct
from collections.abc import Iterator
from typing import Any

_SIZE = struct.Struct("<I")


def frame(message: Any) -> bytes:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _SIZE.pack(len(data)) + data


class Inbox:
    """Collects received bytes, and yields each message once it is complete."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> Iterator[Any]:
        self._data += data
        while len(self._data) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._data)
            end = _SIZE.size + size
            if len(self._data) < end:
                return
            message = bytes(self._data[_SIZE.size : end])
            del self._data[:end]
            yield pickle.loads(message)


def messages(sock: socket.socket) -> Iterator[Any]:
    """Yields every message until the other end closes. Blocks: use a thread of its own."""
    inbox = Inbox()
    while data := sock.recv(1 << 16):
        yield from inbox.add(data)
