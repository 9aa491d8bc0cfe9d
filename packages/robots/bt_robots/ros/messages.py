"""ROS messages as plain mappings, and their bytes: types from `.msg`, `.srv` and `.action` files, CDR by `rosbags`.

A mapping may leave fields out: they are 0, empty or false, as in ROS. A field that a message does not have is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import disk
from bt_runtime.types import Json

OURS = Path(__file__).parent / "interfaces"  # what rosbags does not bring and nearly everybody needs
MOST_ITEMS = 10_000  # of an array that is told item by item; of a longer one (an image) only how long it is
HOLLOW = "structure_needs_at_least_one_member"  # placeholder field of an empty message
BASE, NAME, ARRAY, SEQUENCE = 1, 2, 3, 4  # field types, as rosbags numbers them
_UUID, _TIME, _INFO = (
    "unique_identifier_msgs/msg/UUID", "builtin_interfaces/msg/Time", "service_msgs/msg/ServiceEventInfo",
)  # fmt: skip


class MessageFault(BtError):
    """Raised for an unknown type, or a value that does not fit its type."""


class Messages:
    """All known message types. `folders`: folders of packages, such as `nav2_msgs/action/Spin.action`; they win over
    the built-in types."""

    def __init__(self, *folders: Path | str) -> None:
        with Extra("ros", "ROS without ROS"):
            import numpy  # noqa: F401  # what reads and writes messages needs it: not first in a tick
            from rosbags.typesys import Stores, get_typestore
        self.folders = [*map(Path, folders), OURS]
        self.store = get_typestore(Stores.ROS2_JAZZY)
        self.store.fielddefs.update(
            {name: (constants, _hashed(fields)) for name, (constants, fields) in self.store.fielddefs.items()}
        )
        for folder in folders:
            if not Path(folder).is_dir():
                raise MessageFault(
                    f"there is no folder {folder}",
                    "name a folder with ROS packages in it, such as nav2_msgs/action/Spin.action",
                )
        self.hash = cache(self._hash)
        self._known = set[str]()

    # Types -----------------------------------------------------------------------------------

    def need(self, type: str) -> str:
        """Registers a type and all types it is made of; returns its full name."""
        parts = type.split("/")
        name = type if len(parts) == 3 else "/".join((*parts[:-1], "msg", parts[-1]))
        if name not in self._known:
            self._known.add(name)
            theirs = any(_file(folder, name) for folder in self.folders[:-1])
            if theirs or name not in self.store.fielddefs:
                self._define(name)
        return name

    def _define(self, name: str) -> None:
        sort = name.split("/")[1] if name.count("/") == 2 else ""
        file = next((found for folder in self.folders if (found := _file(folder, name))), None)
        if file is None:
            hint = did_you_mean(
                name, [*self.store.fielddefs], "give a folder with its package: --ros-interfaces FOLDER"
            )
            raise MessageFault(f"the ROS type `{name}` is not known", hint)
        parts = _parted(disk.read_text(file))
        if sort == "msg" and len(parts) == 1:
            self._add({name: self._fields(parts[0], name)})
        elif sort == "srv" and len(parts) == 2:
            self._add({f"{name}_{end}": self._fields(text, name) for end, text in zip(_SERVICE, parts, strict=True)})
            self._service(name)
        elif sort == "action" and len(parts) == 3:
            self._add({f"{name}_{end}": self._fields(text, name) for end, text in zip(_ACTION, parts, strict=True)})
            self._action(name)
        else:
            raise MessageFault(f"{file} has {len(parts)} parts", "a .msg has one, a .srv two, an .action three: `---`")

    def _fields(self, text: str, name: str) -> list[Any]:
        from rosbags.typesys import get_types_from_msg

        package = name.split("/")[0]
        try:
            ((_, fields),) = get_types_from_msg(text, f"{package}/msg/Part").values()
        except Exception as error:
            raise MessageFault(
                f"the definition of `{name}` cannot be read: {error}", "is it a ROS interface?"
            ) from error
        for _, description in fields:
            for inner in _named(description):
                self.need(inner)
        return _hashed(fields)

    def _add(self, made: Mapping[str, list[Any]]) -> None:
        hollow = [(HOLLOW, (BASE, ("uint8", 0)))]
        for name in made:
            self.store.fielddefs.pop(name, None)
            self.store.cache.pop(name, None)
        self.store.register({name: ([], fields or hollow) for name, fields in made.items()})

    def _service(self, name: str) -> None:
        """Returns a service as a type, from which its hash is computed."""
        self.need(_INFO)
        request, response = f"{name}_Request", f"{name}_Response"
        self._add({f"{name}_Event": [
            ("info", (NAME, _INFO)), ("request", (SEQUENCE, ((NAME, request), 1))),
            ("response", (SEQUENCE, ((NAME, response), 1))),
        ]})  # fmt: skip
        self._add({name: [
            ("request_message", (NAME, request)), ("response_message", (NAME, response)),
            ("event_message", (NAME, f"{name}_Event")),
        ]})  # fmt: skip

    def _action(self, name: str) -> None:
        """Adds the two services and the topic of an action."""
        one: Any = ("goal_id", (NAME, _UUID))
        self._add({
            f"{name}_SendGoal_Request": [one, ("goal", (NAME, f"{name}_Goal"))],
            f"{name}_SendGoal_Response": [("accepted", (BASE, ("bool", 0))), ("stamp", (NAME, _TIME))],
            f"{name}_GetResult_Request": [one],
            f"{name}_GetResult_Response": [("status", (BASE, ("int8", 0))), ("result", (NAME, f"{name}_Result"))],
            f"{name}_FeedbackMessage": [one, ("feedback", (NAME, f"{name}_Feedback"))],
        })  # fmt: skip
        self._service(f"{name}_SendGoal")
        self._service(f"{name}_GetResult")

    def warm(self, *names: str) -> None:
        """Makes what reads and writes these: some tens of milliseconds for a large one, so when a skill is set up."""
        for name in names:
            self.store.get_msgdef(name)

    def _hash(self, name: str) -> str:
        """Returns a type's version by ROS's rules: its RIHS01 hash."""
        return str(self.store.hash_rihs01(name))

    # Values ----------------------------------------------------------------------------------

    def pack(self, name: str, value: Mapping[str, Json]) -> bytes:
        return bytes(self.store.serialize_cdr(self.made(name, value), name))

    def unpack(self, name: str, data: bytes) -> dict[str, Json]:
        try:
            return dict(plain(self.store.deserialize_cdr(data, name)))
        except Exception as error:  # whoever sent it
            raise MessageFault(f"this is no `{name}`: {error}", "its sender has another version of the type") from error

    def made(self, name: str, value: Json, at: str = "") -> Any:
        """Builds the message that a mapping describes."""
        if not isinstance(value, Mapping):
            raise MessageFault(f"`{at or name}` is a mapping of fields, not {value!r:.40}", f"its type is `{name}`")
        fields = dict(self.store.fielddefs[name][1])
        for key in value:
            if key not in fields or key == HOLLOW:
                has = ", ".join(each for each in fields if each != HOLLOW) or "none"
                raise MessageFault(
                    f"`{name}` has no field `{key}`", did_you_mean(str(key), [*fields], f"it has: {has}")
                )
        inside = f"{at}." if at else ""
        made = {_python(field): self._value(of, value.get(field), inside + field) for field, of in fields.items()}
        return self.store.types[name](**made)

    def _value(self, of: Any, value: Json, at: str) -> Any:
        sort, inner = of
        if sort == NAME:
            return self.made(inner, {} if value is None else value, at)
        if sort == BASE:
            return _base(inner[0], value, at)
        each, size = inner
        items = [] if value is None else value
        if isinstance(items, str | Mapping) or not hasattr(items, "__len__"):
            raise MessageFault(f"`{at}` is a list, not {items!r:.40}", "write it as a list")
        if sort == ARRAY and len(items) != size and value is not None:
            raise MessageFault(f"`{at}` has {size} items, not {len(items)}", f"write all {size} of them")
        if sort == SEQUENCE and size and len(items) > size:
            raise MessageFault(f"`{at}` has at most {size} items, not {len(items)}", "leave some out")
        listed = [*items] if value is not None or sort == SEQUENCE else [None] * size
        made = [self._value(each, item, f"{at}[{i}]") for i, item in enumerate(listed)]
        return made if each[0] == NAME or each[1][0] == "string" else _numbers(each[1][0], made)


_SERVICE, _ACTION = ("Request", "Response"), ("Goal", "Result", "Feedback")
_BOUNDS = {f"{sign}int{bits}": (-(2 ** (bits - 1)) if not sign else 0, 2 ** (bits - (not sign)) - 1)
           for sign in ("", "u") for bits in (8, 16, 32, 64)}  # fmt: skip
_BOUNDS |= {"byte": (0, 255), "char": (0, 255), "octet": (0, 255)}


def _base(type: str, value: Json, at: str) -> Any:
    if type in ("string", "wstring"):
        if value is not None and not isinstance(value, str):
            raise MessageFault(f"`{at}` is a text, not {value!r:.40}", "put it in quotes")
        return value or ""
    if type == "bool":
        if value is not None and not isinstance(value, bool):
            raise MessageFault(f"`{at}` is true or false, not {value!r:.40}", "write one of them")
        return bool(value)
    whole = type in _BOUNDS
    if value is None:
        return 0 if whole else 0.0
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise MessageFault(f"`{at}` is a {'whole ' if whole else ''}number, not {value!r:.40}", f"its type is {type}")
    if whole and not _BOUNDS[type][0] <= value <= _BOUNDS[type][1]:
        raise MessageFault(f"`{at}` cannot be {value}", f"{type}: {_BOUNDS[type][0]} to {_BOUNDS[type][1]}")
    return value if whole else float(value)


def _numbers(type: str, items: list[Any]) -> Any:
    import numpy

    kinds = {"byte": "uint8", "char": "uint8", "octet": "uint8", "bool": "bool_"}
    return numpy.array(items, dtype=kinds.get(type, type))


def plain(message: Any) -> Any:
    """Converts a message to nested mappings of plain values."""
    fields = getattr(message, "__dataclass_fields__", None)
    if fields is not None:
        return {_ros(name): plain(getattr(message, name)) for name in fields if name not in ("__msgtype__", HOLLOW)}
    if hasattr(message, "tolist"):
        return message.tolist() if message.size <= MOST_ITEMS else {"items": int(message.size)}
    if isinstance(message, list):
        return [plain(each) for each in message] if len(message) <= MOST_ITEMS else {"items": len(message)}
    return message


def _python(field: str) -> str:
    from keyword import iskeyword

    return f"{field}_" if iskeyword(field) else field


def _ros(name: str) -> str:
    from keyword import iskeyword

    return name[:-1] if name.endswith("_") and iskeyword(name[:-1]) else name


def _file(folder: Path, name: str) -> Path | None:
    package, sort, base = name.split("/") if name.count("/") == 2 else ("", "", "")
    places = (folder / package / sort / f"{base}.{sort}", folder / sort / f"{base}.{sort}")
    return next((each for each in places[: 1 if folder.name != package else 2] if base and each.is_file()), None)


def _parted(text: str) -> list[str]:
    parts, lines = [], list[str]()
    for line in text.splitlines():
        bare = line.partition("#")[0].strip()
        if bare == "---":
            parts.append("\n".join(lines))
            lines = []
        elif bare:
            lines.append(bare)
    return [*parts, "\n".join(lines)]


def _hashed(fields: list[Any]) -> list[Any]:
    """Returns a type's fields for its hash, where `char` of a .msg counts as a number."""

    def idl(of: Any) -> Any:
        sort, inner = of
        if sort == BASE:
            return (sort, ("uint8", inner[1])) if inner[0] == "char" else of
        return of if sort == NAME else (sort, (idl(inner[0]), inner[1]))

    return [(name, idl(of)) for name, of in fields]


def _named(description: Any) -> Iterator[str]:
    sort, inner = description
    if sort == NAME:
        yield inner
    elif sort in (ARRAY, SEQUENCE):
        yield from _named(inner[0])
