"""Values as JSON and back. What no JSON can hold is kept as its description, and says so when it is needed again."""

from __future__ import annotations

import base64
import json
import math
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_runtime.memory.notice import Fact, Held, Holding, Looked, Placed, Seen, Thing
from bt_runtime.types import Choice, Json, Observation, Verdict, Writing

TAG = "$"
_TUPLES: dict[str, Any] = {"observation": Observation, "choice": Choice, "writing": Writing, "verdict": Verdict}
_TUPLES |= {each.__name__.lower(): each for each in (Thing, Seen, Placed, Held, Holding, Looked, Fact)}
_NAMES = {type_: name for name, type_ in _TUPLES.items()}
_DEEP = 64


class Opaque(NamedTuple):
    """A value that was not kept, only described."""

    what: str


def plain(value: Any, depth: int = 0) -> Json:
    """JSON that shares nothing with the value: what becomes of the value later does not change it."""
    if value is None or isinstance(value, bool | int | str):
        return value if type(value) in (type(None), bool, int, str) else plain(_builtin(value), depth)
    if depth > _DEEP:
        return {TAG: "opaque", "v": "nested too deep"}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {TAG: "float", "v": str(float(value))}
    if type(value) in _NAMES:
        return {TAG: _NAMES[type(value)], "v": [plain(v, depth + 1) for v in value]}
    if isinstance(value, list | tuple):
        return [plain(v, depth + 1) for v in value]
    if isinstance(value, frozenset):
        return {TAG: "set", "v": [plain(v, depth + 1) for v in sorted(value, key=repr)]}
    if isinstance(value, dict):
        if TAG not in value and all(type(k) is str for k in value):
            return {k: plain(v, depth + 1) for k, v in value.items()}
        return {TAG: "dict", "v": [[plain(k, depth + 1), plain(v, depth + 1)] for k, v in value.items()]}
    if isinstance(value, Status):
        return {TAG: "status", "v": value.name}
    if isinstance(value, bytes):
        return {TAG: "bytes", "v": base64.b64encode(value).decode("ascii")}
    return {TAG: "opaque", "v": f"{type(value).__module__}.{type(value).__qualname__}"}


def bounded(kept: Json, most: int) -> Json:
    """A value that `plain` gave, or how long it is."""
    size = len(str(kept))
    return kept if size <= most else {TAG: "opaque", "v": f"{size:,} characters"}


def _builtin(value: Any) -> Any:
    """A str, int or bool behind a subclass (an enumeration, a numpy-like scalar)."""
    return next(kind(value) for kind in (bool, int, str) if isinstance(value, kind))


def full(value: Json) -> Any:
    """The value that `plain` was given."""
    if isinstance(value, list):
        return [full(v) for v in value]
    if not isinstance(value, dict):
        return value
    tag = value.get(TAG)
    if tag is None:
        return {k: full(v) for k, v in value.items()}
    found = value["v"]
    if tag in _TUPLES:
        return _TUPLES[tag](*(full(v) for v in found))
    if tag == "set":
        return frozenset(_key(full(v)) for v in found)
    if tag == "dict":
        return {_key(full(k)): full(v) for k, v in found}
    if tag == "float":
        return float(found)
    if tag == "status":
        return Status[found]
    if tag == "bytes":
        return base64.b64decode(found)
    return Opaque(str(found))


def _key(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True)  # `dumps` would make one each time


def text(value: Json) -> str:
    """One line, the same for the same value. A lone surrogate is escaped, so that any text can be written."""
    return _ENCODER.encode(value)
