"""Typed ports: does a value fit, and what is it called when it does not."""

from __future__ import annotations

from collections.abc import Mapping

from bt_runtime.diagnose import BtError
from bt_runtime.schema.kind import Field
from bt_runtime.tree.spec import Port
from bt_runtime.types import Json

PORT_TYPES = ("any", "string", "integer", "number", "boolean", "list", "object")


class PortFault(BtError):
    """A value does not fit the port it was given to."""


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
    found = type_name(value)
    return type == "any" or found == type or (type == "number" and found == "integer")


def flows(source: str, target: str) -> bool:
    """May an entry of one type be read where another is wanted? Unknown types may."""
    return "any" in (source, target) or source == target or (source == "integer" and target == "number")


def check(port: Port | Field, value: Json) -> None:
    """Raises when the value may not be given to the port."""
    if not fits(value, port.type):
        raise PortFault(f"`{port.name}` takes {an(port.type)}, not {an(type_name(value))}: {value!r:.80}")
    if port.choices and value not in port.choices:
        raise PortFault(f"`{port.name}` takes one of {', '.join(map(repr, port.choices))}, not {value!r:.80}")


def check_range(field: Field, value: Json) -> None:
    """Raises when a number is not one that the field takes."""
    if isinstance(value, int | float) and value not in field.extra:
        low, high = field.minimum, field.maximum
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            raise PortFault(f"`{field.name}` takes {range_of(field)}, not {value}")


def range_of(field: Field) -> str:
    low, high = field.minimum, field.maximum
    said = (
        f"{low:g} to {high:g}"
        if low is not None and high is not None
        else f"{low:g} or more"
        if low is not None
        else f"at most {high:g}"
    )
    return said + "".join(f", or {e}" for e in field.extra)


def an(type: str) -> str:
    return type if type == "null" else f"{'an' if type[0] in 'aeiou' else 'a'} {type}" if type != "any" else "any value"
