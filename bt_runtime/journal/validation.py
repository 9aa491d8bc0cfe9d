"""Checks each row and entry of a journal once, when it is read, so that no other code has to."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from bt_runtime.faults.diagnostic import BtError, text_of
from bt_runtime.journal import codec, sources
from bt_runtime.journal.layout import LONGEST, Event, NodeRow, TickRow
from bt_runtime.types import Json

LAST_TICK = 10**9  # a hundred days at 100 Hz
LAST_TIME = 253_402_300_799.0  # the end of the year 9999
LAST_NODE = 10**7
NAME = 4096  # characters of a path or a name
DEEP = 200  # values within values
STATUSES = ("INVALID", "RUNNING", "SUCCESS", "FAILURE")
_CHANGE = r'[1-9][0-9]{0,6}(?:[IRSFi]|="(?:[^"\\ ]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*")'
_CHANGES = re.compile(rf"{_CHANGE}(?: {_CHANGE})*")
_NUMBER = (int, float)
_JOB = {"job": int}

# What those who read an entry rely on. Others may say what they like.
ENTRIES: dict[str, dict[str, Any]] = {
    "clock": {"value": _NUMBER}, "world": {"call": str, "args": list},
    "ask": {**_JOB, "what": str, "model": str, "path": str, "prompt": str}, "answer": _JOB,
    "begin": {**_JOB, "sentence": str, "wakes": bool}, "done": _JOB, "late": {"sentence": str},
    "seek": _JOB, "found": _JOB, "question": {**_JOB, "question": str}, "reply": _JOB, "open": _JOB, "opened": _JOB,
    "write": {"scope": str, "name": str, "value": object, "order": int},
    "blackboard": {"scope": str, "name": str},
    "change": {"how": str, "path": str, "text": (str, type(None)), "index": (int, type(None))},
    "debug": {"do": str}, "halt": {"by": str, "reason": str}, "halted": {"by": str, "reason": str, "nodes": list},
    "graft": {"how": str, "path": str, "yaml": object}, "crash": {"path": str, "message": str},
    "log": {"path": str, "level": str, "text": str}, "verdict": {"met": int, "total": int},
    "resumed": {"tick": int}, "act": {"path": str, "sentence": str}, "end": {"path": str, "why": str},
    "unset": {"scope": str, "names": list}, "facts": {"file": str, "text": object, "nodes": list},
    "shape": {"add": list, "gone": list, "order": dict}, "goal": {"path": str, "goal": str}, "prompt": {"path": str},
}  # fmt: skip
_TEXTS = {kind: tuple(name for name, of in shape.items() if of is str) for kind, shape in ENTRIES.items()}
_ANSWERS = frozenset({"world", "answer", "done", "found", "reply", "opened"})
_HEAD: dict[str, Any] = {
    "name": str, "tree": str, "file": str, "text": str, "root": str, "folder": str, "files": list, "digest": str,
    "kinds": list, "seed": object, "budget": (list, type(None)), "recall": bool, "strict": bool,
    "hz": (int, float, type(None)), "versions": dict, "started": _NUMBER, "world": (dict, type(None)),
    "task": (dict, type(None)), "models": dict,
}  # fmt: skip
_WORLD = {"class": str, "suite": str, "has": list, "instant": bool, "lasting": bool, "start": object}
_TASK = {"id": str, "kind": str, "goal": str, "data": dict}
_FILE = {"origin": str, "place": str, "text": str}


class InvalidEntry(ValueError):
    """This was not written by a recorder."""


def _refused(text: str) -> Any:
    raise InvalidEntry(f"{text} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refused(text[:20])


_DECODER = json.JSONDecoder(parse_constant=_refused, parse_float=_finite)


def decoded(text: str) -> Any:
    """Strict JSON: no NaN, no infinity."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise InvalidEntry("nested too deeply") from None


def written(kind: str, found: dict[str, Any]) -> dict[str, Any]:
    """The content of an entry before it is encoded: a text wherever a reader relies on one.

    A program can give any object where a text belongs; without its text the whole journal would read as damaged.
    """
    odd = [name for name in _TEXTS.get(kind, ()) if name in found and not isinstance(found[name], str)]
    return {**found, **{name: text_of(found[name]) for name in odd}} if odd else found


def body(event: Event) -> dict[str, Any]:
    """An event's content, when the event can be one. Raises InvalidEntry."""
    _, tick, at, kind, text = event
    _row(event, (int, int, float, str, str))
    need(0 <= tick <= LAST_TICK and 0 <= at <= LAST_TIME and len(kind) <= NAME and len(text) <= LONGEST)
    found: dict[str, Any] = decoded(text)
    need(isinstance(found, dict) and (text.count("[") + text.count("{") <= DEEP or _shallow(found)))
    values = found if '"$":' not in text else {k: _value(v) for k, v in found.items()}
    _shaped(values, ENTRIES.get(kind, {}))
    if kind == "clock":
        need(abs(found["value"]) <= LAST_TIME)
    elif kind == "result":
        need(found.get("status") in STATUSES)
    elif kind in _ANSWERS:
        _answer(kind, found)
    elif kind == "halted":
        need(all(type(n) is int for n in found["nodes"]))
    elif kind == "blackboard":
        need("value" in found or isinstance(found.get("patch"), dict))
    elif kind == "shape":
        _shape(found)
    elif kind == "unset":
        need(all(type(name) is str for name in found["names"]))
    elif kind == "facts":
        _facts(found["nodes"])
    return found


def _answer(kind: str, found: Mapping[str, Any]) -> None:
    if "error" in found:
        _shaped(found, {"error": str, "hint": str})
    elif "lines" not in found:
        need("value" in found)
        if kind == "done":
            value = found["value"]
            need(isinstance(value, list) and len(value) == 3 and value[0] in STATUSES and isinstance(value[2], str))


def _shape(found: Mapping[str, Any]) -> None:
    """Rows as `Placed` has them; numbers that are known are the reader's to see to."""
    for row in found["add"]:
        need(isinstance(row, list) and tuple(map(type, row)) == (int, int, str, str, str, str, str))
        need(all(len(text) <= NAME for text in row[2:]))
    need(all(type(number) is int for number in found["gone"]))
    for parent, below in found["order"].items():
        need(parent.isascii() and parent.isdigit() and len(parent) < 9 and isinstance(below, list))
        need(all(type(number) is int for number in below))


def _facts(rows: list[Json]) -> None:
    """Rows as `tree/describe/facts.py` makes them."""
    for row in rows:
        need(isinstance(row, dict) and type(row.get("id")) is int and isinstance(row.get("place", ""), str))
        at, names = row.get("at"), [*row.get("names", {}).values(), *row.get("writes", {}).values()]
        need(isinstance(at, list) and len(at) == 2 and all(type(n) is int for n in at))
        need(all(isinstance(way, list) and all(_texts(step, 2) for step in way) for way in names))
        need(all(isinstance(f, list) and _texts(f[:2], 2) and _texts(f[2]) for f in row.get("fields", ())))
        need(all(_texts(port, 4) for port in row.get("ports", ())) and _texts(row.get("asks", [])))


def _texts(found: Json, count: int | None = None) -> bool:
    return (
        isinstance(found, list) and all(type(text) is str for text in found) and (count is None or len(found) == count)
    )


def _value(value: Json) -> Json:
    """Checks that the value can be decoded. A reference to a stored text counts as a text."""
    if reference(value) is not None:
        return ""
    try:
        codec.full(value)
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise InvalidEntry(f"no value of a run: {type(error).__name__}") from error
    return value


def reference(value: Json) -> int | None:
    """The number of the text that stands for this value."""
    if not isinstance(value, dict) or value.get(codec.TAG) != "text":
        return None
    number = value.get("v")
    if type(number) is not int:
        raise InvalidEntry("a text without a number")
    return number


def _shallow(value: Json) -> bool:
    level = [value]
    for _ in range(DEEP):
        level = [v for each in level if isinstance(each, list | dict) for v in _within(each)]
        if not level:
            return True
    return False


def _within(value: list[Json] | dict[str, Json]) -> Iterable[Json]:
    return value.values() if isinstance(value, dict) else value


def status(body: str) -> str:
    """How a run ended, as its result says."""
    found = decoded(body)
    need(isinstance(found, dict) and found.get("status") in STATUSES)
    return str(found["status"])


def node(row: NodeRow) -> None:
    _row(row, (int, str, str, str, int, int))
    number, path, kind, name, tick, place = row
    need(len(path) <= NAME and len(kind) <= NAME and len(name) <= NAME and path.startswith("/"))
    need(0 <= tick <= LAST_TICK and 0 <= place <= LAST_NODE and number <= LAST_NODE)


def tick(row: TickRow) -> None:
    _row(row, (int, float, str, int))
    need(0 <= row.tick <= LAST_TICK and 0 <= row.at <= LAST_TIME)
    need(row.changes == "" or _CHANGES.fullmatch(row.changes) is not None)


def head(found: Mapping[str, Any]) -> None:
    """Checks a journal's head. Its file names must not lead out of the folder that they are written to."""
    _shaped(found, _HEAD)
    need(0 < len(found["name"]) <= NAME and 0 <= found["started"] <= LAST_TIME)
    for file in found["files"]:
        need(isinstance(file, dict))
        _shaped(file, _FILE)
        place = PurePosixPath(file["place"])
        need(place.parts != () and not place.is_absolute() and ".." not in place.parts and place.name.isprintable())
        need(len(file["place"]) <= NAME and all(len(p.encode("utf-8", "replace")) <= 255 for p in place.parts))
    if found["world"] is not None:
        _shaped(found["world"], _WORLD)
        need(all(isinstance(name, str) for name in found["world"]["has"]))
    if found["task"] is not None:
        _shaped(found["task"], _TASK)
    for model in found["models"].values():
        need(isinstance(model, dict) and "template" in model and isinstance(model["template"], str | dict | None))
    try:
        need(isinstance(codec.full(found["inputs"]), dict))
        need(found["budget"] is None or all(isinstance(v, int | float) for v in codec.full(found["budget"])))
        sources.kinds_of(found["kinds"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError, BtError) as error:
        raise InvalidEntry(f"no value of a run: {error}") from error


def _row(row: tuple[Any, ...], types: tuple[type, ...]) -> None:
    if tuple(map(type, row)) != types:
        raise InvalidEntry("a value of another type")


def _shaped(found: Mapping[str, Any], shape: Mapping[str, Any]) -> None:
    for name, type_ in shape.items():
        if name not in found or not isinstance(found[name], type_):
            raise InvalidEntry(f"`{name}` is missing, or not what it should be")


def need(so: bool) -> None:
    if not so:
        raise InvalidEntry("a value that no run has")
