"""The types of values: the type of a value, whether types are compatible, and their names in messages."""

from __future__ import annotations

from collections.abc import Mapping

from bt_runtime.types import Json

EXACT: Mapping[str, frozenset[type]] = {  # the classes whose values always are of a type
    "any": frozenset({str, int, float, bool, type(None), list, dict}), "string": frozenset({str}),
    "integer": frozenset({int}), "number": frozenset({int, float}), "boolean": frozenset({bool}),
    "list": frozenset({list}), "object": frozenset({dict}),
}  # fmt: skip
PLAIN = frozenset({str, int, float, bool, type(None)})  # classes of values that nobody can change
UNKNOWN: Json = type("Unknown", (), {"__repr__": lambda self: "unknown"})()  # in proofs: a value of any type


def type_name(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return (
        "object" if isinstance(value, Mapping) else "list" if isinstance(value, list | tuple) else type(value).__name__
    )


def fits(value: Json, type: str) -> bool:
    if value.__class__ in EXACT.get(type, ()):
        return True
    found = type_name(value)
    return type == "any" or found == type or (type == "number" and found == "integer") or value is UNKNOWN


def flows(source: str, target: str) -> bool:
    """Returns True when an entry of type `source` may be read as `target`. Unknown types may."""
    return "any" in (source, target) or source == target or (source == "integer" and target == "number")


def an(type: str) -> str:
    return type if type == "null" else f"{'an' if type[0] in 'aeiou' else 'a'} {type}" if type != "any" else "any value"
