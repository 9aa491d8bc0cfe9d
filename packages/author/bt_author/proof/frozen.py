"""Values of a proof's states as they are kept: immutable, put back as equal new ones, compared by what they hold.

A list is kept as a tuple of its parts, an object whose class declares `STATE` as the object and what it declares. All
else is kept as it is: nodes and scopes are places."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from functools import cache
from types import FunctionType, MethodType
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.state import MISSING, declared, values_of

_ATOMS = frozenset({type(None), bool, int, float, str, bytes, complex, Status})
_PLACES = (Behaviour, Scope, type, FunctionType, MethodType)


class FrozenList(tuple[Any, ...]):
    """A list, set or deque; the class comes first."""


class FrozenTuple(tuple[Any, ...]):
    """A tuple with mutable parts; the class comes first."""


class FrozenDict(tuple[Any, ...]):
    """A mapping as pairs; the class comes first."""


class FrozenObject(tuple[Any, ...]):
    """An object and what its class declares of it."""


_FROZEN = frozenset({FrozenList, FrozenTuple, FrozenDict, FrozenObject})


# Taking ----------------------------------------------------------------------------------------


def freeze(value: Any) -> Any:
    cls = value.__class__
    return value if cls in _ATOMS else _way(cls)(value)


@cache
def _way(cls: type) -> Callable[[Any], Any]:
    """Returns how values of this class are kept."""
    if issubclass(cls, _PLACES):
        return _as_it_is
    if declared(cls, "STATE"):  # type: ignore[arg-type]
        return _of_object
    for base, way in ((tuple, _of_tuple), (Mapping, _of_dict), (list | deque | Set, _of_list)):
        if issubclass(cls, base):
            return way
    return _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _of_object(value: Any) -> FrozenObject:
    return FrozenObject((value, tuple([freeze(each) for each in values_of(value, declared(value.__class__, "STATE"))])))


def _of_tuple(value: Any) -> Any:
    parts = [freeze(each) for each in value]
    if all(part is each for part, each in zip(parts, value, strict=True)):
        return value
    return FrozenTuple((value.__class__, *parts))


def _of_list(value: Any) -> FrozenList:
    return FrozenList((value.__class__, *[freeze(each) for each in value]))


def _of_dict(value: Any) -> FrozenDict:
    return FrozenDict((value.__class__, *[(name, freeze(each)) for name, each in value.items()]))


# Putting back ----------------------------------------------------------------------------------


def thawed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    if _FROZEN.isdisjoint(map(type, row)):
        return row
    return tuple([thaw(value) for value in row])


def thaw(value: Any) -> Any:
    way = _THAW.get(value.__class__)
    return value if way is None else way(value)


def _list(value: FrozenList) -> Any:
    return value[0]([thaw(each) for each in value[1:]])


def _tuple(value: FrozenTuple) -> Any:
    cls, parts = value[0], [thaw(each) for each in value[1:]]
    return cls._make(parts) if hasattr(cls, "_make") else cls(parts)


def _dict(value: FrozenDict) -> Any:
    return value[0]({name: thaw(each) for name, each in value[1:]})


def _object(value: FrozenObject) -> Any:
    found, row = value
    for name, each in zip(declared(found.__class__, "STATE"), row, strict=True):
        if each is not MISSING:
            setattr(found, name, thaw(each))
        elif name in vars(found):
            delattr(found, name)
    return found


_THAW: dict[type, Callable[[Any], Any]] = {
    FrozenList: _list, FrozenTuple: _tuple, FrozenDict: _dict, FrozenObject: _object,
}  # fmt: skip


# Comparing -------------------------------------------------------------------------------------


Numbers = Mapping[Behaviour, int]


def key_of(value: Any, numbers: Numbers) -> Hashable:
    """Returns what a kept value is compared by: nodes by their number, scopes by path, 1 and True apart."""
    way = _comparison(value.__class__)
    return value if way is None else way(value, numbers)


@cache
def _comparison(cls: type) -> Callable[[Any, Numbers], Hashable] | None:
    for bases, way in _COMPARISONS:
        if issubclass(cls, bases):
            return way
    return None if cls in _ATOMS or cls.__hash__ is not None else lambda value, numbers: id(value)


def _all_of(values: Iterable[Any], numbers: Numbers) -> tuple[Hashable, ...]:
    return tuple([key_of(each, numbers) for each in values])


def _list_key(value: FrozenList, numbers: Numbers) -> Hashable:
    parts = _all_of(value[1:], numbers)
    return value[0], frozenset(parts) if issubclass(value[0], Set) else parts


_COMPARISONS: tuple[tuple[Any, Callable[[Any, Numbers], Hashable]], ...] = (
    ((bool, float), lambda value, numbers: (value.__class__, value if value == value else "nan")),
    (Behaviour, lambda value, numbers: ("node", numbers.get(value, -1))),
    (Scope, lambda value, numbers: ("scope", value.path)),
    (FrozenObject, lambda value, numbers: (value[0].__class__, _all_of(value[1], numbers))),
    (FrozenDict, lambda value, numbers: (value[0], frozenset([_all_of(pair, numbers) for pair in value[1:]]))),
    (FrozenList, _list_key),
    (tuple, lambda value, numbers: (value.__class__, _all_of(value, numbers))),
    (BaseException, lambda value, numbers: (value.__class__, str(value))),
)
