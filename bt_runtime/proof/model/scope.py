"""Entries of a model by name: the slots of names in trees and subtrees, and expressions over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bt_runtime.language import ports
from bt_runtime.language.checks.references import entry_named
from bt_runtime.language.expression import Expression, Template
from bt_runtime.language.kinds.kind import DATA_TYPES
from bt_runtime.language.spec import NodeSpec, Port, TreeSpec
from bt_runtime.language.values import Nested
from bt_runtime.proof.model.tick import UNKNOWN, UNKNOWN_VALUE, UNSET, Entries, Tick
from bt_runtime.types import Json


def names_in(value: Json) -> Iterable[str]:
    """Returns the names of entries in a value, also those that `exists` tests."""
    if isinstance(value, Expression):
        return (*value.names, *value.asked)
    if isinstance(value, Template):
        return [name for hole in value.holes for name in (*hole.expression.names, *hole.expression.asked)]
    if isinstance(value, Nested):
        return names_in(value.shape)
    if isinstance(value, Mapping):
        return [name for each in value.values() for name in names_in(each)]
    if isinstance(value, list | tuple):
        return [name for each in value for name in names_in(each)]
    return ()


class ModelScope:
    """The entries visible to one tree, by the rules of `tree/blackboard.py`."""

    def __init__(self, model: Entries, tree: TreeSpec, path: str = "", parent: ModelScope | None = None) -> None:
        self.model, self.tree, self.path, self.parent = model, tree, path, parent
        self.shared: dict[str, str] = {}
        self.open = False
        self.top: ModelScope = parent.top if parent is not None else self
        self.own: Mapping[str, Port] = tree.ports
        self.found: dict[str, int] = {}

    def slot(self, name: str) -> int:
        """Returns the slot of the entry that this name means here."""
        at = self.found.get(name)
        if at is None:
            if name in self.shared and self.parent is not None:
                at = self.parent.slot(self.shared[name])
            elif self.parent is not None and name in self.tree.entries and self.tree.entries[name].shared is not None:
                at = self.top.slot(name)  # one entry for all robots of a fleet
            elif self.parent is not None and self.open and name not in self.own:
                at = self.parent.slot(name)
            else:
                at = self.model.entry(self.path, name)
            self.found[name] = at
        return at

    def ports(self, name: str) -> Iterable[Port]:
        """Returns the declarations that a value written under this name must satisfy."""
        if name in self.own:
            yield self.own[name]
        if self.parent is not None and name in self.shared:
            yield from self.parent.ports(self.shared[name])
        elif self.parent is not None and self.open and name not in self.own:
            yield from self.parent.ports(name)

    # Reading and writing ---------------------------------------------------------------------

    def evaluate(self, t: Tick, value: Json) -> Any:
        """Returns a literal, or the present value of an expression."""
        if not hasattr(value, "evaluate"):
            return value
        scope = _Sight(self, t)
        unknown = False
        for name in value.names:
            unknown = t.read(self.slot(name)) == UNKNOWN or unknown
        if unknown:
            return UNKNOWN_VALUE
        return value.evaluate(scope)

    def value(self, t: Tick, spec: NodeSpec, field: str) -> Any:
        found = spec.values[field]
        if not hasattr(found, "evaluate"):
            return found
        value, declared = self.evaluate(t, found), spec.kind.field(field)
        if declared is not None and declared.type in DATA_TYPES and value is not UNKNOWN_VALUE:
            ports.check(declared, value)
            ports.check_number(field, value)
        return value

    def assign(self, t: Tick, values: Mapping[str, Json]) -> None:
        """Computes all values before it writes the first."""
        ready = [(name, self.evaluate(t, value)) for name, value in values.items()]
        for name, value in ready:
            self.write(t, name, value)

    def write(self, t: Tick, name: str, value: Any) -> None:
        number = UNKNOWN
        if value is not UNKNOWN_VALUE:
            for port in self.ports(name):
                ports.check(port, value)
            number = t.model.number(value)
        t.write(self.slot(name), number)

    def clear(self, t: Tick, keep: Iterable[str]) -> None:
        """Forgets the entries of this scope's own, but for those to keep. Nobody wants a tick for that."""
        before = t.urgent
        for slot in self.model.slots_of(self.path, frozenset(keep)):
            t.write(slot, UNSET)
        t.urgent = before

    def shared_entries(self, given: Mapping[str, Json]) -> None:
        for name, value in given.items():
            entry = entry_named(value)
            if entry is not None:
                self.shared[name] = entry


class _Sight(Mapping[str, Any]):
    """The entries in the form that an expression reads."""

    __slots__ = ("scope", "t")

    def __init__(self, scope: ModelScope, t: Tick) -> None:
        self.scope, self.t = scope, t

    def __getitem__(self, name: str) -> Any:
        number = self.t.read(self.scope.slot(name))
        if number == UNSET:
            raise KeyError(name)
        return self.t.model.values[number]

    def __contains__(self, name: object) -> bool:
        return self.t.read(self.scope.slot(str(name))) != UNSET

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0
