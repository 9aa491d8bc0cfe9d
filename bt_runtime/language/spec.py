"""A checked plan as data: the loader makes it of text, the builder makes nodes of it. Nothing here can run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language.kinds.kind import FieldType, Kind, Registry
from bt_runtime.language.source import Node
from bt_runtime.types import Json, Span


class Absent:
    """Marks a port without a default (None is a valid default)."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


class Port(NamedTuple):
    """A typed entry of a tree: an input, an output, or an entry that somebody outside writes."""

    name: str
    type: FieldType
    default: Json = ABSENT
    about: str = ""
    choices: tuple[Json, ...] = ()
    span: Span | None = None
    minimum: float | None = None
    maximum: float | None = None
    shared: Any = None  # how a fleet shares the entry: language/shared.py
    outside: bool | None = None  # does somebody outside write the entry; None: unless a node writes it
    extra: tuple[Json, ...] = ()  # a port has no values beside its bounds, unlike some fields of nodes

    @property
    def required(self) -> bool:
        return self.default is ABSENT


_NONE: frozenset[str] = frozenset()


class NodeSpec:
    """One checked node: its kind, its values (literals or compiled expressions), its children in order."""

    __slots__ = ("again", "children", "file", "given", "kind", "name", "places", "source", "span", "subtree", "values")

    def __init__(self, kind: Kind, span: Span, file: str) -> None:
        self.kind = kind
        self.span = span
        self.file = file
        self.source = ""  # the text of the file, once the tree is sound
        self.name: str | None = None
        self.values: dict[str, Json] = {}
        self.given: dict[str, Node] = {}  # field → its YAML, for the checks; let go of once they are done
        self.children: list[NodeSpec] = []
        self.places: list[str] = []  # beside children: the field each came from, "cases:kitchen" for a case
        self.subtree: TreeSpec | None = None  # the included tree of a `tree` node
        self.again: TreeSpec | None = None  # … of one that contains itself: what it grows when it is reached

    def add(self, child: NodeSpec, place: str) -> None:
        self.children.append(child)
        self.places.append(place)

    @property
    def asks(self) -> frozenset[str]:
        """The places where nodes are used as tests."""
        if not self.places or len(self.children) == self.places.count("children"):
            return _NONE
        return frozenset(p for p in self.places if (f := self.kind.field(p)) is not None and f.asks)

    def walk(self) -> list[NodeSpec]:
        """Returns this node and all below, parents first, without entering subtrees."""
        found, todo = [], [self]
        while todo:
            node = todo.pop()
            found.append(node)
            if node.children:
                todo.extend(reversed(node.children))
        return found

    def at(self, place: str) -> NodeSpec | None:
        return next((c for c, p in zip(self.children, self.places, strict=True) if p == place), None)


def label(place: str) -> str:
    """Returns the label of a child's place: the branch of an `if`, the case of a `switch`; "" elsewhere."""
    return place.partition(":")[2] or ("" if place in ("children", "child") else place)


class Caps(NamedTuple):
    """A tree's size limits, subtrees included."""

    depth: int = 256
    nodes: int = 100_000


DEFAULT_CAPS = Caps()


class TreeSpec:
    """A checked tree: ports and a root."""

    __slots__ = (
        "about", "entries", "file", "folder", "inputs", "moves", "name", "outputs", "policies", "properties",
        "registry", "root", "shared", "text", "watched",
    )  # fmt: skip

    def __init__(self, name: str, file: str, text: str, folder: Path, registry: Registry) -> None:
        self.name = name
        self.file = file
        self.text = text
        self.folder = folder
        self.registry = registry  # the kinds this tree may use: a graft into it may use the same
        self.about = ""
        self.moves = False  # another robot of a fleet may go on with its run
        self.inputs: Mapping[str, Port] = {}
        self.outputs: Mapping[str, Port] = {}
        self.entries: Mapping[str, Port] = {}  # declared under `blackboard:`
        self.properties: tuple[Any, ...] = ()  # properties of the tree, its manifests and the project
        self.policies: tuple[Any, ...] = ()  # likewise
        self.shared: dict[str, Port | None] = {}  # entries and locks (`fleet:NAME`) that a fleet shares
        self.watched = False  # whether it, or a tree that it includes, has properties
        self.root: NodeSpec

    @property
    def ports(self) -> dict[str, Port]:
        return {**self.entries, **self.outputs, **self.inputs}


class IncludeStep(NamedTuple):
    """A step from a tree into an included one; `node` is the node that includes the next tree."""

    path: Path | None
    tree: TreeSpec
    node: NodeSpec
