"""Encodes values as JSON and back. A value without a JSON form is stored as a description and raises when it is
needed again. Working memory grows by a few rows at a time: only those are written, once the whole is known."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable
from json import encoder
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_runtime.types import Choice, Json, JsonValue, Observation, Verdict, Writing

TAG = "$"
_TUPLES: dict[str, type[tuple[object, ...]]] = {}
_NAMES: dict[type, str] = {}
_DEEP = 64
_SHORT = frozenset({bool, float, type(None)})  # never longer than any bound
_LARGE = 10**600  # the fewest digits to which Python's limit can be set are 640


def know(types: Iterable[type[tuple[object, ...]]]) -> None:
    """Named tuples that are written by their names and come back as what they were; of rooms that register a part."""
    for each in types:
        _TUPLES.setdefault(each.__name__.lower(), each)
        _NAMES.setdefault(each, each.__name__.lower())


know((Observation, Choice, Writing, Verdict))


class Opaque(NamedTuple):
    """A value that was described, but not stored."""

    what: str


def plain(value: object, depth: int = 0) -> JsonValue:
    """JSON that shares nothing with the value: what becomes of the value later does not change it."""
    if value is None or isinstance(value, bool | int | str):
        if type(value) is int and not -_LARGE < value < _LARGE:
            return {TAG: "int", "v": hex(value)}  # Python writes no longer ones in digits
        return value if type(value) in (type(None), bool, int, str) else plain(_builtin(value), depth)
    if depth > _DEEP:
        return {TAG: "opaque", "v": "nested too deep"}
    if isinstance(value, float):
        value = float.__float__(value)
        return value if math.isfinite(value) else {TAG: "float", "v": str(value)}
    if type(value) in _NAMES and isinstance(value, tuple):
        kept = value[:-1] if getattr(value, "thought", None) == "" else value  # most have none: it is not written
        return {TAG: _NAMES[type(value)], "v": [plain(v, depth + 1) for v in kept]}
    if isinstance(value, list | tuple):
        return [plain(v, depth + 1) for v in value]
    if isinstance(value, frozenset):
        return {TAG: "set", "v": [plain(v, depth + 1) for v in sorted(value, key=shown)]}
    if isinstance(value, dict):
        if TAG not in value and all(type(k) is str for k in value):
            return {k: plain(v, depth + 1) for k, v in value.items()}
        return {TAG: "dict", "v": [[plain(k, depth + 1), plain(v, depth + 1)] for k, v in value.items()]}
    if isinstance(value, Status):
        return {TAG: "status", "v": value.name}
    if isinstance(value, bytes):
        return {TAG: "bytes", "v": base64.b64encode(value).decode("ascii")}
    return {TAG: "opaque", "v": f"{type(value).__module__}.{type(value).__qualname__}"}


def bounded(kept: Json, most: int) -> JsonValue:
    """A value that `plain` gave, or how long it is."""
    size = 0 if kept.__class__ in _SHORT else len(str(kept))
    return kept if size <= most else {TAG: "opaque", "v": f"{size:,} characters"}


def _builtin(value: int | str | None) -> int | str | None:
    """A str, int or bool behind a subclass (an enumeration, a numpy-like scalar)."""
    return str.__str__(value) if isinstance(value, str) else value if value is None else int.__int__(value)


def shown(value: object) -> str:
    """Its `repr`; its class where that raises."""
    try:
        return repr(value)
    except Exception:
        return type(value).__name__


def full(value: Json) -> Any:
    """Restores the value that `plain` converted."""
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
    return _ONE[tag](found) if tag in _ONE else Opaque(str(found))


_ONE: dict[str, Callable[[Any], Any]] = {
    "float": float, "int": lambda found: int(found, 16), "status": Status.__getitem__, "bytes": base64.b64decode,
}  # fmt: skip


def _key(key: object) -> object:
    return tuple(key) if isinstance(key, list) else key


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True)  # `dumps` would make one each time


def _encode() -> Callable[[Json], str]:
    """Returns the encoder's `encode` without the parts that it makes anew at each call, where they can be had."""
    made: Any = getattr(encoder, "c_make_encoder", None)
    if made is None:
        return _ENCODER.encode
    quick = made(None, _ENCODER.default, encoder.encode_basestring_ascii, None, ":", ",", False, False, True)
    return lambda value: "".join(quick(value, 0))


_encoded = _encode()


def text(value: Json) -> str:
    """Returns one line of JSON, equal for equal values. Lone surrogates are escaped, so that any text can be
    written.

    A value that is not JSON is written as `plain` converts it."""
    try:
        return _encoded(value)
    except (TypeError, ValueError, RecursionError):
        return _encoded(plain(value))


TABLES = ("things", "facts")  # rows whose first two columns say what they are about
WORKING_MEMORY = "working_memory"


class Patches:
    """Writes values with `immutable = True`: the whole value once, then only changes."""

    def __init__(self, most: int) -> None:
        self.most = most  # characters of a whole value
        self.before: dict[tuple[str, str], Json] = {}

    def of(self, scope: str, name: str, value: Any) -> dict[str, Json]:
        now = value.to_json()
        change = patch(self.before.get((scope, name)), now)
        self.before[scope, name] = now
        if change is not None:
            return {"scope": scope, "name": name, "patch": plain(change)}
        kept = bounded(plain(now), self.most)
        if not isinstance(kept, dict) or TAG in kept:
            del self.before[scope, name]  # no patch can be laid over such a value
        return {"scope": scope, "name": name, "value": kept}

    def forget(self, scope: str, name: str) -> None:
        """Drops the base value, so that the next write stores the whole value."""
        self.before.pop((scope, name), None)


def patch(before: Json, now: Json) -> Json | None:
    """Returns the change that turns `before` into `now`; None when no change can express it."""
    if not _known(before) or not _known(now):
        return None
    rest = {k: v for k, v in now.items() if k not in TABLES}
    changed = {}
    for table in TABLES:
        old, new = _keyed(before[table]), _keyed(now[table])
        if list(old) != list(new)[: len(old)]:
            return None  # something was forgotten: begin anew
        changed[table] = [row for key, row in new.items() if old.get(key) != row]
    return {**rest, **changed}


def patched(before: Json, change: Json) -> Json:
    """Returns a new value with the change applied; the old value stays unchanged."""
    tables = {t: list({**_keyed(before[t]), **_keyed(change[t])}.values()) for t in TABLES}
    return {**before, **change, **tables}


def _known(value: Json) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(t), list) and all(isinstance(r, list) and len(r) > 2 for r in value[t]) for t in TABLES
    )


def _keyed(rows: Json) -> dict[str, Json]:
    return {f"{row[0]}\0{row[1]}": row for row in rows}
