"""Checks of grafts against properties. The prover comes as a plugin (an entry point `bt_runtime.provers`); without one
no graft is decided, and each property's own `undecided` says what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bt_runtime.language.project import plugins
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec
from bt_runtime.run.monitoring.automaton import Left
from bt_runtime.run.monitoring.standing import Standing
from bt_runtime.tree.node import Node


class PropertyPast(NamedTuple):
    """What a run has done about a property before."""

    left: frozenset[Left]  # what the property still demands
    begun: bool = False  # whether it has been looked at
    due: float | None = None  # the time at which its clock is late


class GraftAnswer(NamedTuple):
    """`story` is how the property would be broken, "" when it is not; None: it was not decided in its time. `anyway`:
    the tree may break the property without the graft as well. `rough`: the story leaves parts out."""

    property: Property
    story: str | None
    states: int
    anyway: bool = False
    rough: bool = False


class Grafts:
    """The checks of the grafts into one tree of a run. This one is no prover: it decides nothing."""

    hint = "pip install 'bt_runtime[author]': it brings the prover"  # way out for a graft that was not decided

    def __init__(self, standing: Standing, properties: Sequence[Property]) -> None:
        self.standing = standing
        self.properties = list(properties)

    def check(self, node: Node, graft: NodeSpec, past: Mapping[str, PropertyPast]) -> list[GraftAnswer]:
        """The answers for a plan below the node that asks."""
        return [GraftAnswer(each, None if past[each.name].left else "", 0) for each in self.properties]

    def insertion(
        self, parent: Node, index: int | None, graft: NodeSpec, past: Mapping[str, PropertyPast]
    ) -> list[GraftAnswer]:
        """The answers for a node that a person puts below `parent`."""
        return self.check(parent, graft, past)

    def replacement(self, old: Node, graft: NodeSpec, past: Mapping[str, PropertyPast]) -> list[GraftAnswer]:
        """The answers for a node that a person puts in the place of `old`."""
        return self.check(old, graft, past)


def prover() -> type[Grafts]:
    """Returns the installed prover's checks; without one those that decide nothing."""
    entry = next(iter(plugins.entries("provers")), None)
    return Grafts if entry is None else of_entry(entry)


def of_entry(entry: plugins.Entry) -> type[Grafts]:
    def fits(found: object) -> bool:
        return isinstance(found, type) and issubclass(found, Grafts)

    made: type[Grafts] = plugins.load(entry, "a class derived from `Grafts`", fits)
    return made
