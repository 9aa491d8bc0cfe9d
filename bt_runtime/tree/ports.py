"""Typed ports: does a value fit, and what is it called when it does not."""

from __future__ import annotations

from bt_runtime.diagnose import BtError
from bt_runtime.schema.data import an as an
from bt_runtime.schema.data import fits as fits
from bt_runtime.schema.data import flows as flows
from bt_runtime.schema.data import type_name as type_name
from bt_runtime.tree.spec import Port
from bt_runtime.types import Json

PORT_TYPES = ("any", "string", "integer", "number", "boolean", "list", "object")


class PortFault(BtError):
    """A value does not fit the port it was given to."""


def check(port: Port, value: Json) -> None:
    """Raises when the value may not be written to the port."""
    if not fits(value, port.type):
        raise PortFault(f"`{port.name}` takes {an(port.type)}, not {an(type_name(value))}: {value!r:.80}")
    if port.choices and value not in port.choices:
        raise PortFault(f"`{port.name}` takes one of {', '.join(map(repr, port.choices))}, not {value!r:.80}")
