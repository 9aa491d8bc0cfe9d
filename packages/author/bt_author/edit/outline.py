"""The nodes of a tree in its text, even when the text has faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from bt_runtime.language.kinds.kind import COMMON, COMMON_NAMES, Field, Kind, Registry
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap

Step: TypeAlias = str | int
Path: TypeAlias = tuple[int, ...]  # a node's place among its siblings, and those of the nodes above it
_COMMON = {f.name: f for f in COMMON}


class Seat(NamedTuple):
    """The place of a node: in a list (`number`), or as the value of a key."""

    holder: YamlList | YamlMap
    number: int  # among the items, or among the pairs
    field: str  # field of the node above: "children", "child", "cases:kitchen", "when"; "root" for the first

    @property
    def in_list(self) -> bool:
        return isinstance(self.holder, YamlList)


@dataclass(eq=False)
class Item:
    """One node of the text."""

    key: Scalar  # the node's kind as written
    value: Node
    node: YamlMap  # the one pair of both
    seat: Seat
    parent: Item | None
    kind: Kind | None  # None: there is no such kind
    data: tuple[Step, ...]  # the way to `node` in the plain data of the file
    children: list[Item] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return () if self.parent is None else (*self.parent.path, self.parent.children.index(self))

    @property
    def name(self) -> str:
        """Returns the node's name, else its kind."""
        named = self.value.get("name") if isinstance(self.value, YamlMap) else None
        return named.text if isinstance(named, Scalar) and named.text else self.key.text

    def walk(self) -> Iterator[Item]:
        todo = [self]
        while todo:
            item = todo.pop()
            yield item
            todo.extend(reversed(item.children))

    def at(self, path: Sequence[int]) -> Item | None:
        found: Item | None = self
        for step in path:
            if found is None or not 0 <= step < len(found.children):
                return None
            found = found.children[step]
        return found


class FieldSlot(NamedTuple):
    """A field that takes nodes, with the nodes in it."""

    field: Field
    value: Node | None
    bare: bool  # the value stands for the whole node: `sequence: [...]`


def outline(top: Node | None, registry: Registry) -> Item | None:
    """Returns the root node of a tree file, with all below it."""
    if not isinstance(top, YamlMap):
        return None
    for index, (key, value) in enumerate(top.pairs):
        if key.text == "root":
            return _item(value, Seat(top, index, "root"), None, ("root",), registry)
    return None


def _item(node: Node, seat: Seat, parent: Item | None, data: tuple[Step, ...], registry: Registry) -> Item | None:
    first = _one(node, seat, parent, data, registry)
    todo = [first] if first is not None else []
    while todo:
        item = todo.pop()
        for slot in slots(item):
            for place, inner, way in _seats(item, slot):
                child = _one(inner, place, item, way, registry)
                if child is not None:
                    item.children.append(child)
                    todo.append(child)
    return first


def _one(node: Node, seat: Seat, parent: Item | None, data: tuple[Step, ...], registry: Registry) -> Item | None:
    if not isinstance(node, YamlMap) or len(node.pairs) != 1:
        return None
    key, value = node.pairs[0]
    return Item(key, value, node, seat, parent, registry.get(key.text), data)


def slots(item: Item) -> Iterator[FieldSlot]:
    """Returns the node's fields that take nodes; those present in the text come in its order."""
    kind, value = item.kind, item.value
    if kind is None:
        return
    bare = kind.field(kind.bare) if kind.bare else None
    if bare is not None and is_bare(bare, kind, value):
        if bare.type in ("node", "nodes", "cases") or (bare.asks and isinstance(value, YamlMap)):
            yield FieldSlot(bare, value, True)
        return
    seen = set()
    for key, inner in value if isinstance(value, YamlMap) else ():
        known = kind.field(key.text) or _COMMON.get(key.text)
        if known is not None and (known.type in ("node", "nodes", "cases") or known.asks):
            seen.add(known.name)
            yield FieldSlot(known, inner, False)
    for known in kind.node_fields:
        if known.name not in seen:
            yield FieldSlot(known, None, False)


def is_bare(bare: Field, kind: Kind, value: Node) -> bool:
    """True when the value stands for the kind's bare field, as the reader takes it."""
    if not isinstance(value, YamlMap):
        return bare.type != "node" and not (isinstance(value, Scalar) and value.value is None and value.plain)
    if bare.type == "assignments":
        return value.get(bare.name) is None
    if bare.type == "node" and len(value.pairs) == 1:
        name = value.pairs[0][0].text
        return kind.field(name) is None and name not in COMMON_NAMES
    return False


def _seats(item: Item, slot: FieldSlot) -> Iterator[tuple[Seat, Node, tuple[Step, ...]]]:
    """Yields the places of nodes in a field: each node, and the path to it in the data."""
    value = slot.value
    if value is None:
        return
    at: tuple[Step, ...] = (*item.data, item.key.text) if slot.bare else (*item.data, item.key.text, slot.field.name)
    holder, index = (item.node, 0) if slot.bare else _pair(item.value, slot.field.name)
    if slot.field.type == "nodes" and isinstance(value, YamlList):
        for number, node in enumerate(value.items):
            yield Seat(value, number, slot.field.name), node, (*at, number)
    elif slot.field.type == "cases" and isinstance(value, YamlMap):
        for number, (key, node) in enumerate(value.pairs):
            yield Seat(value, number, f"{slot.field.name}:{key.text}"), node, (*at, str(key.value))
    elif slot.field.type == "node" or slot.field.asks:
        yield Seat(holder, index, slot.field.name), value, at


def _pair(value: Node, name: str) -> tuple[YamlMap, int]:
    assert isinstance(value, YamlMap)
    return value, next(i for i, (key, _) in enumerate(value.pairs) if key.text == name)
