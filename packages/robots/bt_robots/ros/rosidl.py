"""Messages of rclpy as plain mappings and back, by what the generated classes say of their fields. Works wherever rclpy
does: it needs no other package of a ROS installation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from bt_robots.ros.messages import MOST_ITEMS, MessageFault
from bt_robots.ros.transport import Message
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

HINT = "source the ROS workspace that has it: `source install/setup.bash`"
_FLOATS = ("float", "double", "long double")
_WHOLE = {f"{sign}int{bits}": (-(2 ** (bits - 1)) if not sign else 0, 2 ** (bits - (not sign)) - 1)
          for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"char": (0, 255), "byte": (0, 255)}  # fmt: skip
_LISTED = re.compile(r"sequence<(?P<of>[^,<>]+(?:<\d+>)?)(?:, \d+)?>|(?P<each>.+)\[\d+\]")


def type_of(sort: str, name: str) -> Any:
    """Returns the class of `nav_msgs/msg/Odometry`; `sort` is message, service or action."""
    package, _, last = name.rpartition("/")
    try:
        import_module("rclpy")
    except ImportError as error:
        raise BtError("rclpy is not here", "source a ROS 2 installation, or run without one: `--ros zenoh`") from error
    try:
        return getattr(import_module(package.replace("/", ".")), last)
    except (ImportError, AttributeError, ValueError) as error:
        raise MessageFault(f"the ROS {sort} type `{name}` is not known: {error}", HINT) from error


def plain(message: Any) -> dict[str, Json]:
    """Converts a message to nested mappings; long arrays are told by their number of items."""
    return {name: _plain(getattr(message, name)) for name in message.get_fields_and_field_types()}


def _plain(value: Any) -> Any:
    if hasattr(value, "get_fields_and_field_types"):
        return plain(value)
    if isinstance(value, bytes):  # an octet
        return value[0] if value else 0
    if hasattr(value, "tolist"):  # numpy's arrays and the standard library's
        return value.tolist() if len(value) <= MOST_ITEMS else {"items": len(value)}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value] if len(value) <= MOST_ITEMS else {"items": len(value)}
    return value


def made(type: Any, value: Message) -> Any:
    """Makes a message of this class with these fields; the others are 0, empty or false."""
    message = type()
    try:
        _fill(message, value)
    except (AttributeError, TypeError, ValueError, AssertionError) as error:
        raise MessageFault(f"this is no `{type.__name__}`: {error}", "its fields: `ros2 interface show`") from error
    return message


def _fill(message: Any, values: Message) -> None:
    types = message.get_fields_and_field_types()
    for name, value in values.items():
        if name not in types:
            raise AttributeError(f"it has no field `{name}`; it has {', '.join(types)}")
        if isinstance(value, Mapping):
            _fill(getattr(message, name), value)
        else:
            setattr(message, name, _fitted(types[name], value))


def _fitted(type: str, value: Any) -> Any:
    """Returns a value as the setter of a field of this type takes it."""
    found = _LISTED.fullmatch(type)
    if found is not None:
        if not isinstance(value, list | tuple):
            raise TypeError(f"`{type}` takes a list, not {value!r:.40}")
        return [_fitted(found["of"] or found["each"], each) for each in value]
    if isinstance(value, Mapping):
        package, _, name = type.partition("/")
        message = getattr(import_module(f"{package}.msg"), name)()
        _fill(message, value)
        return message
    return _checked(type, value)


def _checked(type: str, value: Any) -> Any:
    """Returns a plain value in the form of its field. The generated classes check none unless a variable says so."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if type in _FLOATS and number:
        return float(value)
    if type == "octet" and number and value in range(256):
        return bytes([int(value)])
    if type in _WHOLE and isinstance(value, int) and not isinstance(value, bool):
        least, most = _WHOLE[type]
        if least <= value <= most:
            return value
        raise ValueError(f"{value} is not from {least} to {most}")
    wanted = bool if type == "boolean" else str if type.startswith(("string", "wstring")) else ()
    if isinstance(value, wanted):
        return value
    raise TypeError(f"a field of type {type} cannot be {value!r:.40}")
