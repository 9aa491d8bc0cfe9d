"""What a node or a scope holds between two ticks, as a number: equal states have equal numbers, and are put back by
them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_author.proof.board import ProofBoard, ProofScope, Stamp
from bt_author.proof.declared import Names, names_in_object, names_of
from bt_author.proof.times import Time
from bt_author.proof.values import AnyCount
from bt_runtime.tree.node import INVALID, RUNNING
from bt_runtime.tree.state import declared

_ATOMS = frozenset((int, str, type(None), Status))
_LISTS = (list, tuple, deque)
Move = Callable[[Time], Any]  # a time of this tick → the same as the next tick will call it


class Slot:
    """`shown`: whether anybody asks for the status of the node, or for one below: otherwise it stores only whether it
    is running."""

    def __init__(self, node: Any, number: int) -> None:
        self.node, self.number, self.shown = node, number, False
        cls: Any = type(node)
        self.lasting: Names = names_of(cls, "STATE")
        self.round = names_of(cls, "ROUND")
        self.stamps = declared(cls, "STAMPS") if "updated" in node.spec.values else ()
        self.told: str = getattr(node, "only_told", "")
        self.numbers: dict[Any, int] = {}
        self.values: list[tuple[Any, ...]] = []

    def show(self) -> None:
        self.shown = True
        if hasattr(self.node, "reached") and hasattr(self.node, "keeps_place"):
            self.lasting += ("reached",)

    def read(self) -> tuple[Any, ...]:
        """Returns what the node holds: what a later start reads, and while it runs what its round needs."""
        node = self.node
        status = node.status
        found: list[Any] = [status if status is RUNNING or self.shown else INVALID]
        for name in self.lasting:
            value = getattr(node, name)
            if value and name in self.stamps:  # it was the latest write before this tick, or is one of this tick
                value = Stamp(value, node.scope.home(node.spec.values["updated"]))
            found.append(taken(value))
        if status is RUNNING:
            told = self.told if self.told and (node.times.__class__ is AnyCount or node.times < 0) else ""
            found += [0 if name == told else taken(getattr(node, name)) for name in self.round]
        return tuple(found)

    def key(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return values if len(values) == 1 else tuple(map(frozen, values))

    def number_of(self, values: tuple[Any, ...]) -> int:
        key = self.key(values)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.values)
            self.values.append(values)
        return found

    def put(self, number: int) -> None:
        node, values = self.node, self.values[number]
        node.status = values[0]
        at = 1
        for name in self.lasting:
            setattr(node, name, back(values[at]))
            at += 1
        if values[0] is RUNNING:
            for name in self.round:
                setattr(node, name, back(values[at]))
                at += 1
        else:
            for name in self.round:
                vars(node).pop(name, None) if hasattr(type(node), name) else None


class ScopeSlot(Slot):
    """The entries of a scope."""

    def __init__(self, scope: ProofScope, number: int, board: ProofBoard) -> None:
        self.node, self.number, self.shown, self.board = scope, number, False, board
        self.numbers, self.values = {}, []

    def read(self) -> tuple[Any, ...]:
        return tuple(sorted(self.node.entries.items()))

    def key(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        number = self.board.number
        return tuple((name, number(value)) for name, value in values)

    def put(self, number: int) -> None:
        entries = self.node.entries
        entries.clear()
        entries.update(self.values[number])


class HeldSlot(Slot):
    """What an object holds that is no node."""

    def __init__(self, held: Any, number: int) -> None:
        self.node, self.number, self.shown = held, number, True
        self.numbers, self.values = {}, []

    def read(self) -> tuple[Any, ...]:
        return tuple(taken(getattr(self.node, name)) for name in self.node.STATE)

    def key(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(map(frozen, values))

    def put(self, number: int) -> None:
        for name, value in zip(self.node.STATE, self.values[number], strict=True):
            setattr(self.node, name, back(value))


class Kept(NamedTuple):
    """A mutable object that a node holds, with its contents."""

    held: Any
    names: tuple[str, ...]
    values: tuple[Any, ...]


def taken(value: Any) -> Any:
    """Returns a value that no later write changes: a copy of a list or a mapping."""
    cls = value.__class__
    if cls in _ATOMS or cls is bool or cls is float or cls is Time:
        return value
    if cls in _LISTS:
        return cls(map(taken, value))
    if cls is dict:
        return {key: taken(each) for key, each in value.items()}
    names = names_in_object(cls)
    if names is not None:
        return Kept(value, names, tuple(taken(getattr(value, name)) for name in names))
    return value


def back(value: Any) -> Any:
    cls = value.__class__
    if cls is Kept:
        for name, each in zip(value.names, value.values, strict=True):
            setattr(value.held, name, back(each))
        return value.held
    if cls in _LISTS:
        return cls(map(back, value))
    return {key: back(each) for key, each in value.items()} if cls is dict else value


def frozen(value: Any) -> Any:
    """Returns a value that equals another one only if the two states go on alike."""
    cls = value.__class__
    if cls in _ATOMS:
        return value
    if cls is bool or cls is float:
        return (cls, value)
    if cls in _LISTS:
        return (cls, *map(frozen, value))
    if cls is dict:
        return frozenset((key, frozen(each)) for key, each in value.items())
    if cls is Kept:
        return (value.held.__class__, *map(frozen, value.values))
    return value


def times_in(value: Any) -> bool:
    cls = value.__class__
    if cls is Time or cls is Stamp:
        return True
    if cls in _LISTS:
        return any(map(times_in, value))
    if cls is dict:
        return any(map(times_in, value.values()))
    return cls is Kept and any(map(times_in, value.values))


def moved(value: Any, move: Move, written: Mapping[Any, int]) -> Any:
    """Returns a value in the terms of the next tick: times by its clocks, numbers of writes settled."""
    cls = value.__class__
    if cls is Time:
        return move(value)
    if cls is Stamp:
        return value.settled(written)
    if cls in _LISTS:
        return cls(moved(each, move, written) for each in value)
    if cls is dict:
        return {key: moved(each, move, written) for key, each in value.items()}
    if cls is Kept:
        return Kept(value.held, value.names, tuple(moved(each, move, written) for each in value.values))
    return value
