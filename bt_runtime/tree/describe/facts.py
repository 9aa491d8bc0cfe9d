"""Describes a node before it runs: its place in the file, its tests, and the names that it reads and writes.

A tick only hands over a list; the listener's or journal's own thread makes rows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour

from bt_runtime.events import Counted
from bt_runtime.language.expression import Expression
from bt_runtime.language.kinds.kind import NODE_TYPES
from bt_runtime.language.spec import label
from bt_runtime.tree.describe.gist import cut, said
from bt_runtime.tree.node import Node
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec, TreeSpec
    from bt_runtime.tree.blackboard import Scope

MOST_TEXT = 400  # characters of a field
MOST_FIELDS = 40  # of one node; the same bound for its ports and the names that it reads
MOST_WAY = 16  # scopes through which a name is looked for
HIDDEN = frozenset({"name"})


def by_source(nodes: Sequence[Counted]) -> dict[tuple[str, str], list[Counted]]:
    """Groups nodes by the file and text that define them; nodes made in Python have none."""
    found: dict[tuple[str, str], list[Counted]] = {}
    for each in nodes:
        if isinstance(each.node, Node):
            spec = each.node.spec
            found.setdefault((spec.file, spec.source), []).append(each)
    return found


def rows(nodes: Sequence[Counted]) -> list[dict[str, Json]]:
    """Describes each node as a row; omits empty fields."""
    places: dict[int, Mapping[int, str]] = {}  # parent → child → the field in which the child stands
    return [{k: v for k, v in _row(each, places).items() if v} for each in nodes]


def _row(counted: Counted, places: dict[int, Mapping[int, str]]) -> dict[str, Json]:
    node: Any = counted.node
    spec: NodeSpec = node.spec
    fields, names = _fields(spec)
    written = _writes(spec)
    return {
        "id": counted.number, "at": [spec.span.line, spec.span.column], "place": _place(spec, counted.parent, places),
        "fields": fields, "names": {name: way(node.scope, name) for name in names},
        "writes": {name: way(node.scope, name, writing=True) for name in written[:MOST_FIELDS]},
        "ports": _ports(spec.subtree or spec.again), "asks": tests_of(spec),
    }  # fmt: skip


def _place(spec: NodeSpec, parent: Behaviour | None, places: dict[int, Mapping[int, str]]) -> str:
    if not isinstance(parent, Node):
        return ""
    above: NodeSpec = parent.spec
    known = places.get(id(above))
    if known is None:
        known = places[id(above)] = dict(zip(map(id, above.children), above.places, strict=True))
    return label(known.get(id(spec), ""))


def _fields(spec: NodeSpec) -> tuple[list[Json], list[str]]:
    """Returns `[name, text, names it reads]` for each given field, and all names together."""
    found: list[Json] = []
    names: dict[str, None] = {}
    for name, value in spec.values.items():
        field = spec.kind.field(name)
        if name in HIDDEN or field is None or field.type in NODE_TYPES or value is None or value == field.default:
            continue
        if field.writes or field.type == "key":
            found.append([name, cut(said(value), MOST_TEXT), []])
            if not field.writes:
                names[str(value)] = None
            continue
        parts = value.items() if field.type in ("assignments", "inputs") else [("", value)]
        for part, inside in parts:
            read = names_of(inside)
            names.update(dict.fromkeys(read))
            text = said(inside) if field.type == "expression" else _written(inside)
            found.append([f"{name}.{part}" if part else name, cut(text, MOST_TEXT), read])
    return found[:MOST_FIELDS], list(names)[:MOST_FIELDS]


def names_of(value: Json) -> list[str]:
    """Returns the entries that a value of a spec reads or tests with `exists`."""
    found = [*getattr(value, "names", ()), *sorted(getattr(value, "asked", ()))]
    if isinstance(getattr(value, "names", None), frozenset):
        found.sort()
    return [name for name in dict.fromkeys(map(str, found)) if name][:MOST_FIELDS]


def _written(value: Json) -> str:
    """Returns a value as an author would write it."""
    value = getattr(value, "shape", value)
    if isinstance(value, Expression):
        return f"{{{value.text}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_written(inside)}' for key, inside in value.items())}}}"
    return "null" if value is None else said(value)


def _writes(spec: NodeSpec) -> list[str]:
    found: list[str] = []
    for field in spec.kind.fields:
        value = spec.values.get(field.name)
        if value is None:
            continue
        if field.type == "assignments" and isinstance(value, Mapping):
            found += map(str, value)
        elif field.writes:
            found.append(said(value).strip())
    return found


def entries_of(*roots: NodeSpec) -> set[str]:
    """Returns the entries that these nodes, and all below them, read or write by name, included trees as well."""
    found: set[str] = set()
    todo, seen = list(roots), set[int]()
    while todo:
        root = todo.pop()
        if id(root) in seen:
            continue
        seen.add(id(root))
        for spec in root.walk():
            for name, value in spec.values.items():
                field = spec.kind.field(name)
                named = field is not None and (field.writes or field.type == "key")
                parts = value.values() if isinstance(value, Mapping) else [value]
                found.update([said(value).strip()] if named else (n for part in parts for n in names_of(part)))
            found.update(_writes(spec))
            todo += [spec.subtree.root] if spec.subtree is not None else []
    return found


def way(scope: Scope, name: str, writing: bool = False) -> list[list[str]]:
    """Lists where an entry may live, as `[scope, name]`; the first written one counts."""
    found: list[list[str]] = []
    at: Scope | None = scope
    while at is not None and len(found) < MOST_WAY:
        if name in at.shared:
            at, name = at.shared[name]
            continue
        found.append([at.path, name])
        inward = writing and at.local
        at = at.parent if at.open and not inward and name not in at.own else None
    return found


def _ports(tree: TreeSpec | None) -> list[Json]:
    """Lists `[name, type, "in", "out" or "kept", description]` for each port and entry."""
    if tree is None:
        return []
    groups = (("in", tree.inputs), ("out", tree.outputs), ("kept", tree.entries))
    found: list[Json] = [
        [p.name, p.type, way, cut(p.about, MOST_TEXT)] for way, ports in groups for p in ports.values()
    ]
    return found[:MOST_FIELDS]


def tests_of(spec: NodeSpec) -> list[str]:
    """Lists the fields that are tests, asked before or while the node runs."""
    return [f.name for f in spec.kind.fields if f.name in spec.values and (f.asks or f.type == "expression")]
