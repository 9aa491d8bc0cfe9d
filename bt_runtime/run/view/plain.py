"""Any value as JSON of bounded size, for blackboard entries, events and ports. The bounds hold during the
conversion: for the number of parts, the depth and the total size. So a value that contains itself costs no more than
an ordinary one."""

from __future__ import annotations

import dataclasses
import math
import reprlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from bt_runtime.types import Json

MOST_TEXT = 20_000  # characters of one text
MOST_PARTS = 400  # parts shown of one list or mapping
MOST_WHOLE = 100_000  # characters of one value, with its parts
DEEPEST = 8
_PART = 16  # characters that any part counts as, however short
_MOST_BITS = 4096  # a larger whole number is not written out


class _Room:
    """The remaining budget for one value."""

    def __init__(self, left: int) -> None:
        self.left = left

    def text(self, text: str, most: int = MOST_TEXT) -> str:
        short = clipped(text, max(1, min(most, self.left)))
        self.left -= len(short) + _PART
        return short


def plain(value: Any, most: int = MOST_WHOLE) -> Json:
    return _plain(value, 0, _Room(most))


def _plain(value: Any, depth: int, room: _Room) -> Json:
    if value is None or isinstance(value, bool | int):
        room.left -= _PART
        return value if not isinstance(value, int) or abs(value) < 2**53 else room.text(_digits(value))
    if isinstance(value, float):
        room.left -= _PART
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return room.text(value)
    if hasattr(value, "to_json") and depth < DEEPEST:
        return _plain(value.to_json(), depth + 1, room)
    if depth >= DEEPEST:
        return room.text(_said(value, _DEEP), 200)
    if isinstance(value, Mapping):
        return _entries(value, depth, room)
    if isinstance(value, list | tuple | set | frozenset):
        return _parts(value, depth, room)
    return room.text(_said(value), 2000)


def _parts(value: Iterable[Any], depth: int, room: _Room) -> list[Json]:
    found: list[Json] = []
    for part in islice(value, MOST_PARTS):
        if room.left <= 0:
            break
        found.append(_plain(part, depth + 1, room))
    left = len(value) - len(found)  # type: ignore[arg-type]  # all of these have a length
    return [*found, f"… {left} more"] if left else found


def _entries(value: Mapping[Any, Any], depth: int, room: _Room) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, part in islice(value.items(), MOST_PARTS):
        if room.left <= 0:
            found["…"] = f"{len(value) - len(found)} more"
            break
        name = room.text(key if isinstance(key, str) else _said(key, _DEEP), 200)
        found[name] = _plain(part, depth + 1, room)
    return found


def weight(value: Json) -> int:
    """Returns roughly how many characters a plain value takes."""
    if isinstance(value, str):
        return len(value) + _PART
    if isinstance(value, dict):
        return _PART + sum(weight(key) + weight(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return _PART + sum(map(weight, value))
    return _PART


def clipped(text: str, most: int = MOST_TEXT) -> str:
    """Cuts a text. Unpaired surrogates, which UTF-8 cannot encode, become question marks."""
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    return short if short.isascii() else short.encode("utf-8", "replace").decode("utf-8")


class _Short(reprlib.Repr):
    """A `repr` whose length is limited while it is built, for Python's own types and dataclasses."""

    def __init__(self, levels: int, parts: int) -> None:
        super().__init__()
        self.maxlevel = levels
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = parts
        self.maxdict, self.maxstring, self.maxother = parts, 500, 2000

    def repr_instance(self, x: Any, level: int) -> str:
        if isinstance(x, bytes | bytearray | memoryview):
            return repr(bytes(x[: self.maxstring])) + ("…" if len(x) > self.maxstring else "")
        if isinstance(x, int):
            return _digits(x)
        if dataclasses.is_dataclass(x) and hasattr(type(x).__repr__, "__wrapped__"):  # the one that was generated
            return self._fields(x, level)
        return clipped(repr(x), self.maxother)

    def repr_int(self, x: int, level: int) -> str:
        return _digits(x)

    def _fields(self, x: Any, level: int) -> str:
        if level <= 0:
            return f"{type(x).__qualname__}(...)"
        shown = [f for f in dataclasses.fields(x) if f.repr]
        told = (f"{f.name}={self.repr1(getattr(x, f.name), level - 1)}" for f in shown[: self.maxlist])
        return f"{type(x).__qualname__}({', '.join(told)})"


_SHORT, _DEEP = _Short(2, 12), _Short(1, 3)


def _said(value: Any, short: _Short = _SHORT) -> str:
    try:
        return short.repr(value)
    except Exception as error:
        return f"<{type(value).__name__}, whose repr broke: {type(error).__name__}>"


def _digits(value: int) -> str:
    return str(value) if value.bit_length() <= _MOST_BITS else f"a whole number of {value.bit_length()} bits"
