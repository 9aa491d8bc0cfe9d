"""What a node, a scope or another object holds between two ticks, as a number: equal states have equal numbers, and are
put back by them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from py_trees.behaviour import Behaviour

from bt_author.proof.board import Stamp
from bt_author.proof.declared import Names, names_of
from bt_author.proof.frozen import freeze, key_of, thaw, thawed
from bt_author.proof.times import Time
from bt_author.proof.values import AnyCount
from bt_runtime.tree.node import INVALID, RUNNING
from bt_runtime.tree.state import declared

Move = Callable[[Time], Any]  # a time of this tick → the same as the next tick will call it


class Slot:
    """An object whose class declares `STATE`. `nodes`: the numbers of the nodes."""

    def __init__(self, held: Any, nodes: Mapping[Behaviour, int]) -> None:
        self.held, self.nodes = held, nodes
        self.numbers: dict[Hashable, int] = {}
        self.values: list[tuple[Any, ...]] = []

    def read(self) -> tuple[Any, ...]:
        return (freeze(self.held),)

    def put(self, number: int) -> None:
        thaw(self.values[number][0])

    def number_of(self, values: tuple[Any, ...]) -> int:
        key = tuple([key_of(each, self.nodes) for each in values])
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.values)
            self.values.append(values)
        return found


class ScopeSlot(Slot):
    """The entries of a scope."""

    def read(self) -> tuple[Any, ...]:
        return (freeze(self.held.entries),)

    def put(self, number: int) -> None:
        entries = self.held.entries
        entries.clear()
        entries.update(thaw(self.values[number][0]))


class NodeSlot(Slot):
    """`shown`: whether anybody asks for the status of the node, or for one below: otherwise it stores only whether it
    is running."""

    def __init__(self, node: Any, nodes: Mapping[Behaviour, int]) -> None:
        super().__init__(node, nodes)
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
        names = (*self.lasting, *self.round) if values[0] is RUNNING else self.lasting
        for name, value in zip(names, thawed(values[1:]), strict=True):
            setattr(node, name, value)
        if values[0] is not RUNNING:
            for name in self.round:
                vars(node).pop(name, None) if hasattr(type(node), name) else None


def times_in(value: Any) -> bool:
    cls = value.__class__
    return cls is Time or cls is Stamp or (isinstance(value, tuple) and any(map(times_in, value)))


def moved(value: Any, move: Move, written: Mapping[Any, int]) -> Any:
    """Returns a value in the terms of the next tick: times by its clocks, numbers of writes settled."""
    cls = value.__class__
    if cls is Time:
        return move(value)
    if cls is Stamp:
        return value.settled(written)
    if isinstance(value, tuple):
        return tuple.__new__(cls, [moved(each, move, written) for each in value])
    return value
