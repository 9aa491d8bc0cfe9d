"""What a node, a scope or another object holds between two ticks, as a number: equal states have equal numbers, and are
put back by them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any

from py_trees.behaviour import Behaviour

from bt_author.proof.board import Stamp
from bt_author.proof.declared import Names, names_of
from bt_author.proof.times import Time
from bt_author.proof.values import AnyCount
from bt_runtime.skills.resources import Hold
from bt_runtime.tree.node import INVALID, RUNNING
from bt_runtime.tree.state import declared

Move = Callable[[Time], Any]  # a time of this tick → the same as the next tick will call it


class Slot:
    """An object whose class declares `STATE`."""

    def __init__(self, held: Any) -> None:
        self.held = held
        self.numbers: dict[Hashable, int] = {}
        self.values: list[tuple[Any, ...]] = []

    def read(self) -> tuple[Any, ...]:
        return (freeze(self.held),)

    def put(self, number: int) -> None:
        thaw(self.values[number][0])

    def number_of(self, values: tuple[Any, ...]) -> int:
        key = tuple([each if each.__class__ in _ALIKE else key_of(each) for each in values])
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.values)
            self.values.append(values)
        return found


class ScopeSlot(Slot):
    """The entries of a scope."""

    def read(self) -> tuple[Any, ...]:
        return (freeze(dict(self.held.entries)),)

    def put(self, number: int) -> None:
        entries = self.held.entries
        entries.clear()
        entries.update(thaw(self.values[number][0]))


class NodeSlot(Slot):
    """`shown`: whether anybody asks for the status of the node, or for one below: otherwise it stores only whether it
    is running."""

    def __init__(self, node: Any) -> None:
        super().__init__(node)
        self.shown = False
        cls: Any = type(node)
        self.lasting: Names = names_of(cls, "STATE")
        self.round = names_of(cls, "ROUND")
        self.stamps = declared(cls, "STAMPS") if "updated" in node.spec.values else ()
        self.told: str = getattr(node, "only_told", "")

    def show(self) -> None:
        self.shown = True
        if hasattr(self.held, "reached") and hasattr(self.held, "keeps_place"):
            self.lasting += ("reached",)

    def read(self) -> tuple[Any, ...]:
        """Returns what the node holds: what a later start reads, and while it runs what its round needs."""
        node = self.held
        status = node.status
        found: list[Any] = [status if status is RUNNING or self.shown else INVALID]
        for name in self.lasting:
            value = getattr(node, name)
            if value and name in self.stamps:  # it was the latest write before this tick, or is one of this tick
                value = Stamp(value, node.scope.home(node.spec.values["updated"]))
            found.append(freeze(value))
        if status is RUNNING:
            told = self.told if self.told and (node.times.__class__ is AnyCount or node.times < 0) else ""
            found += [0 if name == told else freeze(getattr(node, name)) for name in self.round]
        return tuple(found)

    def put(self, number: int) -> None:
        node, values = self.held, self.values[number]
        node.status = values[0]
        if len(values) > 1:  # what a round needs comes last, and only while the node runs
            for name, value in zip((*self.lasting, *self.round), values[1:], strict=False):
                setattr(node, name, value if value.__class__ is not Frozen else thaw(value))
        if values[0] is not RUNNING:
            for name in self.round:
                vars(node).pop(name, None) if hasattr(type(node), name) else None


class Frozen(tuple[Any, ...]):
    """What a list, a mapping or an object holds. First is the list's class, the mapping's keys, or the object."""


@cache
def names_in_object(cls: Any) -> Names | None:
    """Returns what an object declares that a node holds; None for one that is kept as it is."""
    if cls is Hold:
        return ()
    declares = any(vars(base).get("STATE") is not None for base in cls.__mro__)
    return names_of(cls, "STATE") if declares and not issubclass(cls, Behaviour) else None


_LISTS = frozenset((list, tuple, deque))
_ALIKE = frozenset((int, str, type(None), Time, type(INVALID)))  # equal ones are the same
_ATOMS = _ALIKE | {bool, float}


def freeze(value: Any) -> Any:
    """Returns a value that no later write changes."""
    cls = value.__class__
    if cls in _ATOMS:
        return value
    if cls in _LISTS:
        return Frozen((cls, *map(freeze, value)))
    if cls is dict:
        return Frozen((tuple(value), *map(freeze, value.values())))
    names = names_in_object(cls)
    return value if names is None else Frozen((value, *(freeze(getattr(value, name)) for name in names)))


def thaw(value: Any) -> Any:
    if value.__class__ is not Frozen:
        return value
    held, parts = value[0], map(thaw, value[1:])
    if held in _LISTS:
        return held(parts)
    if held.__class__ is tuple:
        return dict(zip(held, parts, strict=True))
    for name, each in zip(names_in_object(held.__class__) or (), parts, strict=True):
        setattr(held, name, each)
    return held


def key_of(value: Any) -> Hashable:
    """Returns a key. Two values have the same key only if their states go on alike."""
    cls = value.__class__
    if cls is bool or cls is float:
        return (cls, value)
    if cls is not Frozen:
        found: Hashable = value
        return found
    held, parts = value[0], map(key_of, value[1:])
    if held.__class__ is tuple:
        return frozenset(zip(held, parts, strict=True))
    return (held if held in _LISTS else held.__class__, *parts)


def times_in(value: Any) -> bool:
    cls = value.__class__
    return cls is Time or cls is Stamp or ((cls is Frozen or cls is tuple) and any(map(times_in, value)))


def moved(value: Any, move: Move, written: Mapping[Any, int]) -> Any:
    """Returns a value in the terms of the next tick: times by its clocks, numbers of writes settled."""
    cls = value.__class__
    if cls is Time:
        return move(value)
    if cls is Stamp:
        return value.settled(written)
    return Frozen((value[0], *(moved(each, move, written) for each in value[1:]))) if cls is Frozen else value
