"""Groot2's protocol, version 2: requests and replies as bytes.

A request is a header of six bytes (version, what, number), and for some a second part. An answer repeats the header,
adds the sixteen bytes that name the tree, and has at most one part more. A refusal is `error` and why.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError

VERSION = 2
PORT = 1667  # requests; what is told unasked comes at the next one
MOST_UIDS = 0xFFFF  # nodes: their numbers have two bytes
STALE = 10  # added to the last status of a node that is idle now
HEADER = struct.Struct("<BBI")
_RECORD = struct.Struct("<HB")


class Ask(IntEnum):
    TREE = ord("T")
    STATUS = ord("S")
    BLACKBOARD = ord("B")
    HOOK_INSERT = ord("I")
    HOOK_REMOVE = ord("R")
    REACHED = ord("N")  # told, not asked
    UNLOCK = ord("U")
    HOOKS = ord("D")
    REMOVE_ALL = ord("A")
    DISABLE_ALL = ord("X")
    RECORD = ord("r")
    TRANSITIONS = ord("t")


class Code(IntEnum):
    IDLE = 0
    RUNNING = 1
    SUCCESS = 2
    FAILURE = 3


LETTERS = {"R": Code.RUNNING, "S": Code.SUCCESS, "F": Code.FAILURE, "I": Code.IDLE, "i": Code.IDLE}


class Refusal(BtError):
    """Raised for a request that is refused, with the reason."""


def asked(frames: Sequence[bytes]) -> tuple[Ask, int, bytes | None]:
    """Parses a request: its type, its number, and the second part."""
    if not frames or len(frames[0]) != HEADER.size:
        raise Refusal("wrong request header")
    _, what, number = HEADER.unpack(frames[0])
    try:
        return Ask(what), number, frames[1] if len(frames) == 2 else None
    except ValueError:
        raise Refusal("Request not recognized") from None


def header(what: Ask, number: int, tree: bytes = b"") -> bytes:
    return HEADER.pack(VERSION, what, number) + tree


def status(uid: int, code: int) -> bytes:
    return _RECORD.pack(uid, code)


def transition(micros: int, uid: int, code: int) -> bytes:
    """Encodes a status change in nine bytes, as in a `.btlog`."""
    return struct.pack("<Q", max(0, micros))[:6] + _RECORD.pack(uid, code)


def msgpack(value: Any, most: int, depth: int = 0) -> bytes:
    """Encodes a value as MessagePack of about `most` bytes; a value without an encoding is sent as its type's name."""
    if value is None or isinstance(value, bool):
        return b"\xc0" if value is None else b"\xc3" if value else b"\xc2"
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return b"\xd3" + struct.pack(">q", value) if value < 2**63 else b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, dict | list | tuple) and depth < _DEEPEST:
        return _parts(value, most, depth)
    return _text(value if isinstance(value, str) else type(value).__name__, most)


_DEEPEST = 16


def _text(text: str, most: int) -> bytes:
    data = text.encode("utf-8", "replace")
    if len(data) > most:
        data = data[: max(0, most)].decode("utf-8", "ignore").encode() + "…".encode()
    return b"\xdb" + struct.pack(">I", len(data)) + data


def _parts(value: dict[Any, Any] | list[Any] | tuple[Any, ...], most: int, depth: int) -> bytes:
    out, count, left = [], 0, most
    pairs = list(value.items()) if isinstance(value, dict) else [(None, each) for each in value]
    for key, each in pairs:
        if left <= 0:
            break
        part = (_text(str(key), 200) if isinstance(value, dict) else b"") + msgpack(each, left, depth + 1)
        out.append(part)
        count, left = count + 1, left - len(part)
    return (b"\xdf" if isinstance(value, dict) else b"\xdd") + struct.pack(">I", count) + b"".join(out)
