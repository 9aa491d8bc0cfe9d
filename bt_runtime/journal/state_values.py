"""Values of a kept state as plain data and back: what refers to nodes and scopes, exact classes, and nothing else.

A journal's other values (codec.py) are described where they have no form; a state is not kept then."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.skills.answer import EndedAnswer, News
from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.state import MISSING
from bt_runtime.types import Json, Observation

TAG = "~"
_TUPLES: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple, "set": set, "frozenset": frozenset, "deque": deque, "counter": lambda pairs: Counter(dict(pairs)),
    "answer": lambda of: EndedAnswer(*of), "news": lambda of: News(*of), "observation": lambda of: Observation(*of),
}  # fmt: skip
_NAMES: dict[type, str] = {
    tuple: "tuple", set: "set", frozenset: "frozenset", deque: "deque", EndedAnswer: "answer", News: "news",
    Observation: "observation",
}  # fmt: skip
_PLAIN = frozenset({type(None), bool, str})
_LARGEST = 2**63


class Unkeepable(Exception):
    """Raised for a state that has no form in a journal."""


class StatePlaces(NamedTuple):
    """What values may refer to."""

    nodes: list[Behaviour]
    numbers: dict[Behaviour, int]
    scopes: dict[str, Scope]


def kept_form(value: Any, at: StatePlaces) -> Json:
    cls = value.__class__
    if cls in _PLAIN:
        return value
    if cls is int:
        return value if -_LARGEST < value < _LARGEST else {TAG: "int", "v": hex(value)}
    if cls is float:
        return value if math.isfinite(value) else {TAG: "float", "v": str(value)}
    if cls is Status:
        return {TAG: "status", "v": value.name}
    if cls is list:
        return [kept_form(each, at) for each in value]
    if cls is dict:
        if TAG not in value and all(name.__class__ is str for name in value):
            return {name: kept_form(each, at) for name, each in value.items()}
        return {TAG: "dict", "v": [[kept_form(name, at), kept_form(each, at)] for name, each in value.items()]}
    if cls is Counter:
        return {TAG: "counter", "v": [[kept_form(name, at), count] for name, count in value.items()]}
    if (name := _NAMES.get(cls)) is not None:
        return {TAG: name, "v": [kept_form(each, at) for each in value]}
    if value is MISSING:
        return {TAG: "missing"}
    if isinstance(value, Behaviour) and (number := at.numbers.get(value)) is not None:
        return {TAG: "node", "v": number}
    if isinstance(value, Scope) and at.scopes.get(value.path) is value:
        return {TAG: "scope", "v": value.path}
    raise Unkeepable(f"{cls.__module__}.{cls.__qualname__}")


def full_form(value: Json, at: StatePlaces) -> Any:
    if value.__class__ is list:
        return [full_form(each, at) for each in value]
    if value.__class__ is not dict:
        return value
    if (tag := value.get(TAG)) is None:
        return {name: full_form(each, at) for name, each in value.items()}
    if tag in _TUPLES:
        return _TUPLES[tag](full_form(each, at) for each in value["v"])
    if tag == "dict":
        return {full_form(name, at): full_form(each, at) for name, each in value["v"]}
    return _ONE[tag](value.get("v"), at)


_ONE: dict[str, Callable[[Any, StatePlaces], Any]] = {
    "int": lambda v, at: int(v, 16), "float": lambda v, at: float(v), "status": lambda v, at: Status[v],
    "node": lambda v, at: at.nodes[v], "scope": lambda v, at: at.scopes[v], "missing": lambda v, at: MISSING,
}  # fmt: skip
