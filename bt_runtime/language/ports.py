"""Typed ports: checks whether a value fits, and describes why not."""

from __future__ import annotations

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.data import EXACT as EXACT
from bt_runtime.language.kinds.data import PLAIN as PLAIN
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.kinds.data import an as an
from bt_runtime.language.kinds.data import fits as fits
from bt_runtime.language.kinds.data import flows as flows
from bt_runtime.language.kinds.data import type_name as type_name
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.spec import Port
from bt_runtime.types import Json

MOST_LISTED = 64  # values of an integer with bounds that are all tried
PORT_TYPES = ("any", "string", "integer", "number", "boolean", "list", "object")


class PortFault(BtError):
    """Raised when a value does not fit its port."""


def check(port: Port | Field, value: Json) -> None:
    """Raises when the value may not be given to the port."""
    if not fits(value, port.type):
        raise PortFault(f"`{port.name}` takes {an(port.type)}, not {an(type_name(value))}: {value!r:.80}")
    if port.choices and value not in port.choices and value is not UNKNOWN:
        raise PortFault(f"`{port.name}` takes one of {', '.join(map(repr, port.choices))}, not {value!r:.80}")
    if isinstance(port, Port) and (port.minimum is not None or port.maximum is not None):
        check_range(port, value)


def exact(port: Port | Field) -> frozenset[type]:
    """Returns the classes whose values fit the port without a look at the value itself."""
    free = not port.choices and port.minimum is None and port.maximum is None
    return EXACT.get(port.type, frozenset()) if free else frozenset()


def check_number(name: str, value: Json) -> None:
    """Raises for what is no number at all: compared with the time, it would wait for ever."""
    if value.__class__ is float and value != value:
        raise PortFault(f"`{name}` takes a number, and this is none: .nan")


def check_range(field: Port | Field, value: Json) -> None:
    """Raises when a number is not one that the field takes."""
    if not within(field, value):
        raise PortFault(f"`{field.name}` takes {range_of(field)}, not {value}")


def within(field: Port | Field, value: Json) -> bool:
    """Returns True when the value is within the bounds, or not a number."""
    if not isinstance(value, int | float) or value in field.extra:
        return True
    low, high = field.minimum, field.maximum
    return (low is None or value >= low) and (high is None or value <= high)


def unfit(port: Port, value: object) -> str:
    """Returns why a literal does not fit a port; "" when it does."""
    if not fits(value, port.type):
        return f"`{port.name}` takes {an(port.type)}, not {an(type_name(value))}"
    if port.choices and value not in port.choices:
        return f"`{port.name}` is one of {', '.join(f'`{c}`' for c in port.choices)}, not `{value}`"
    if not within(port, value):
        return f"`{port.name}` takes {range_of(port)}, not {value}"
    return ""


def all_values(port: Port | Field) -> list[Json] | None:
    """Returns all values of a declaration; None when they cannot be listed."""
    if port.choices:
        return list(port.choices)
    if port.type == "boolean":
        return [False, True]
    low, high = port.minimum, port.maximum
    if port.type == "integer" and low is not None and high is not None and high - low < MOST_LISTED:
        return list(range(int(low), int(high) + 1))
    return None


def range_of(field: Port | Field) -> str:
    low, high = field.minimum, field.maximum
    said = (
        f"{low:g} to {high:g}"
        if low is not None and high is not None
        else f"{low:g} or more"
        if low is not None
        else f"at most {high:g}"
    )
    return said + "".join(f", or {e}" for e in field.extra)
