"""Values of a state as they are kept: immutable, put back as equal new ones, compared by what they hold.

A list is kept as a tuple of its parts, an object whose class declares `STATE` as the object and what it declares. Nodes
and scopes are kept as they are: they are places. Objects of other classes are kept as they are, too, and what a running
skill has of them is a loss: nobody knows what to put back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from functools import cache
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.skills.activity import Activity
from bt_runtime.skills.resources import Hold
from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.budget import Spending
from bt_runtime.tree.node import path_of
from bt_runtime.tree.request import Request
from bt_runtime.tree.services import Services

ATOMS = frozenset({type(None), bool, int, float, str, bytes, complex, Status})
_PLACES = (Behaviour, Scope, type, FunctionType, MethodType)  # kept as they are, and no loss


class Missing:
    """The value of an attribute that an object has not got."""


MISSING = Missing


class Losses:
    """What cannot be put back, in words; `at` is the node that is being taken."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.at: Behaviour | None = None
        self.running = False  # inside a running skill

    def add(self, what: str) -> None:
        where = f"{path_of(self.at)}: " if self.at is not None else ""
        if (text := f"{where}{what}") not in self.found:
            self.found.append(text)


_DECLARED: dict[type, tuple[str, ...]] = {
    Hold: ("activity", "names", "sentence"),
    Request: ("how", "path", "name", "index", "text", "applied", "refused"),
    Services: ("world", "memory", "spent", "scene", "parts"),
    Spending: ("started", "steps", "decisions", "tokens", "nodes", "seeds"),
}  # STATE of core classes that do not declare it


@cache
def declared(cls: type, what: str) -> tuple[str, ...]:
    """Returns the names that a class and the classes above it declare, each once."""
    found: dict[str, None] = dict.fromkeys(_DECLARED.get(cls, ()) if what == "STATE" else ())
    for base in reversed(cls.__mro__):
        found.update(dict.fromkeys(vars(base).get(what) or ()))
    return tuple(found)


class FrozenList(tuple[Any, ...]):
    """A list, set or deque; the class comes first."""


class FrozenTuple(tuple[Any, ...]):
    """A tuple with mutable parts; the class comes first."""


class FrozenDict(tuple[Any, ...]):
    """A mapping as pairs; the class comes first."""


class Declared(tuple[Any, ...]):
    """An object and what its class declares of it."""


class Restored(tuple[Any, ...]):
    """An object with `snapshot` and `restore` of its own, and its snapshot."""


_FROZEN = frozenset({FrozenList, FrozenTuple, FrozenDict, Declared, Restored})


# Taking ----------------------------------------------------------------------------------------


def freeze(value: Any, losses: Losses) -> Any:
    cls = value.__class__
    return value if cls in ATOMS else _way(cls)(value, losses)


@cache
def _way(cls: type) -> Callable[[Any, Losses], Any]:
    """Returns how values of this class are kept."""
    if issubclass(cls, _PLACES):
        return _kept
    if getattr(cls, "STATE", ()) is None:
        return _lost
    if declared(cls, "STATE"):  # type: ignore[arg-type]
        return _of_object
    if issubclass(cls, GeneratorType):
        return _lost
    for base, way in ((tuple, _of_tuple), (Mapping, _of_dict), (list | deque | Set, _of_list)):
        if issubclass(cls, base):
            return way
    if callable(getattr(cls, "snapshot", None)) and callable(getattr(cls, "restore", None)):
        return _of_restorable
    return _foreign


def _kept(value: Any, losses: Losses) -> Any:
    return value


def _foreign(value: Any, losses: Losses) -> Any:
    if losses.running:
        losses.add(f"a running skill holds a {type(value).__name__}, whose class declares no STATE")
    return value


def _lost(value: Any, losses: Losses) -> Any:
    what = "a life in progress" if isinstance(value, GeneratorType) else f"a running {type(value).__name__.strip('_')}"
    losses.add(f"{what} cannot be taken up again")
    return value


def _of_object(value: Any, losses: Losses) -> Declared:
    outer, losses.running = losses.running, losses.running or isinstance(value, Activity)
    row = tuple([freeze(each, losses) for each in values_of(value, declared(value.__class__, "STATE"))])
    losses.running = outer
    return Declared((value, row))


def values_of(value: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Returns these attributes; one that an object has not got yet is MISSING."""
    return tuple([getattr(value, name, MISSING) for name in names])


def _of_tuple(value: Any, losses: Losses) -> Any:
    parts = [freeze(each, losses) for each in value]
    if all(part is each for part, each in zip(parts, value, strict=True)):
        return value
    return FrozenTuple((value.__class__, *parts))


def _of_list(value: Any, losses: Losses) -> FrozenList:
    return FrozenList((value.__class__, *[freeze(each, losses) for each in value]))


def _of_dict(value: Any, losses: Losses) -> FrozenDict:
    return FrozenDict((value.__class__, *[(name, freeze(each, losses)) for name, each in value.items()]))


def _of_restorable(value: Any, losses: Losses) -> Restored:
    return Restored((value, freeze(value.snapshot(), losses)))


# Putting back ----------------------------------------------------------------------------------


def thawed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    if _FROZEN.isdisjoint(map(type, row)):
        return row
    return tuple([value if value.__class__ not in _FROZEN else thaw(value) for value in row])


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


def _object(value: Declared) -> Any:
    found, row = value
    for name, each in zip(declared(found.__class__, "STATE"), row, strict=True):
        if each is not MISSING:
            setattr(found, name, thaw(each))
        elif name in vars(found):
            delattr(found, name)
    return found


def put_apart(found: object, properties: tuple[str, ...]) -> None:
    """Sets properties by their setters, and removes attributes that the object had not got."""
    own = vars(found)
    for name in properties:
        setattr(found, name, own.pop(name))
    for name in [name for name, value in own.items() if value is MISSING]:
        del own[name]


def _restorable(value: Restored) -> Any:
    found, state = value
    found.restore(thaw(state))
    return found


_THAW: dict[type, Callable[[Any], Any]] = {
    FrozenList: _list, FrozenTuple: _tuple, FrozenDict: _dict, Declared: _object, Restored: _restorable,
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
    return None if cls in ATOMS or cls.__hash__ is not None else lambda value, numbers: id(value)


def _all_of(values: Iterable[Any], numbers: Numbers) -> tuple[Hashable, ...]:
    return tuple([key_of(each, numbers) for each in values])


def _list_key(value: FrozenList, numbers: Numbers) -> Hashable:
    parts = _all_of(value[1:], numbers)
    return value[0], frozenset(parts) if issubclass(value[0], Set) else parts


_COMPARISONS: tuple[tuple[Any, Callable[[Any, Numbers], Hashable]], ...] = (
    ((bool, float), lambda value, numbers: (value.__class__, value if value == value else "nan")),
    (Behaviour, lambda value, numbers: ("node", numbers.get(value, -1))),
    (Scope, lambda value, numbers: ("scope", value.path)),
    (Declared, lambda value, numbers: (value[0].__class__, _all_of(value[1], numbers))),
    (Restored, lambda value, numbers: (value[0].__class__, key_of(value[1], numbers))),
    (FrozenDict, lambda value, numbers: (value[0], frozenset([_all_of(pair, numbers) for pair in value[1:]]))),
    (FrozenList, _list_key),
    (tuple, lambda value, numbers: (value.__class__, _all_of(value, numbers))),
    (BaseException, lambda value, numbers: (value.__class__, str(value))),
)
