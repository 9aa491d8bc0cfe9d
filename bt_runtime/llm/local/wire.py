"""Messages between the tick process and its worker: two lengths, then JSON, then raw numbers. Received bytes are data:
nothing in them can name code, and both parts are bounded."""

from __future__ import annotations

import json
import socket
import struct
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_SIZES = struct.Struct("=II")
MOST_TEXT = 64 << 20  # bytes of JSON that a worker takes: a prompt with many options has some thousands
MOST_SAID = 4 << 20  # … that is taken of a worker
MOST_NUMBERS = 256 << 20  # bytes of numbers: the vectors of many texts


class Malformed(ValueError):
    """Raised for bytes that are no message."""


class Message(NamedTuple):
    """`kind` and what belongs to it, as JSON has it. `numbers`: those that are many."""

    kind: str
    rest: Sequence[Any]
    numbers: Sequence[float] = ()


def frame(kind: str, *rest: Any, numbers: array[float] | None = None) -> bytes:
    text = json.dumps([kind, *rest], separators=(",", ":")).encode()
    raw = numbers.tobytes() if numbers is not None else b""
    if len(text) > MOST_TEXT or len(raw) > MOST_NUMBERS:
        raise Malformed(f"a message of {len(text) + len(raw):,} bytes is too large")
    return b"".join((_SIZES.pack(len(text), len(raw)), text, raw))


class WireInbox:
    """Collects received bytes, and yields each message once it is complete. Raises Malformed."""

    def __init__(self, most: int = MOST_TEXT) -> None:
        self.most = most  # bytes of JSON
        self._data = bytearray()

    def add(self, data: bytes) -> Iterator[Message]:
        self._data += data
        while len(self._data) >= _SIZES.size:
            text, raw = _SIZES.unpack_from(self._data)
            if text > self.most or raw > MOST_NUMBERS or raw % 8:
                raise Malformed(f"a message says that it has {text:,} and {raw:,} bytes")
            middle = _SIZES.size + text
            if len(self._data) < middle + raw:
                return
            message = _read(bytes(self._data[_SIZES.size : middle]), bytes(self._data[middle : middle + raw]))
            del self._data[: middle + raw]
            yield message


def _read(text: bytes, raw: bytes) -> Message:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"a message is no JSON: {error}") from error
    if not isinstance(found, list) or not found or not isinstance(found[0], str):
        raise Malformed("a message is no list that begins with its kind")
    numbers = array("d")
    numbers.frombytes(raw)
    return Message(found[0], found[1:], numbers)


def messages(sock: socket.socket) -> Iterator[Message]:
    """Yields every message until the other end closes. Blocks: use a thread of its own."""
    inbox = WireInbox()
    while data := sock.recv(1 << 16):
        yield from inbox.add(data)
