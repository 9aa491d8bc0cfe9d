"""Which entries a tree writes itself, and which may change from outside: by the specs of all its parts alone.

Proofs, random cases and drafts ask here, so that they agree about what a sensor is.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from bt_runtime.language.checks.references import entry_named
from bt_runtime.language.spec import NodeSpec, Port, TreeSpec

Names = frozenset[str]
_NOTHING: Names = frozenset()


def written_by(spec: NodeSpec) -> Iterator[str]:
    """Returns the entries that the fields of one node write."""
    fields = {f.name: f for f in spec.kind.fields}
    for name, value in spec.values.items():
        field = fields.get(name)
        if name.startswith("on_") or (field is not None and field.type in ("assignments", "outputs")):
            yield from value if isinstance(value, Mapping) else ()
        elif field is not None and field.writes:
            found = entry_named(value) or (value if isinstance(value, str) else None)
            if found:
                yield found
    if spec.kind.name == "for_each" and "from" in spec.values:
        yield str(spec.values["from"])
    for field in spec.kind.fields:
        if field.writes and field.name not in spec.values and isinstance(field.default, str):
            yield field.default


def shared_with(spec: NodeSpec, tree: TreeSpec, names: Iterable[str]) -> Iterator[str]:
    """Returns what the entries of an included tree are called around it, those that are shared: `spec` is the node
    that includes the tree."""
    given = spec.values.get("with") or {}
    for name in names:
        if name in given:
            around = entry_named(given[name])
            if around is not None:
                yield around
        elif spec.values.get("autoremap") and name not in tree.ports:
            yield name


class Writes:
    """The entries that a node writes, with all nodes below it and those of included trees. A name is that of the tree
    around the node."""

    def __init__(self, root: NodeSpec, before: Writes | None = None) -> None:
        """`before`: what is known of other nodes, such as of the tree into which a graft is spliced."""
        self.before: Mapping[NodeSpec, Names] = before.parts if before is not None else {}
        self.again: dict[TreeSpec, Names] = dict(before.again) if before is not None else {}
        while True:  # a tree that contains itself may write whatever its inner one writes
            self.parts: dict[NodeSpec, Names] = {}
            self.met: dict[TreeSpec, None] = {}
            self.names = self.of(root)
            found = {tree: self.of(tree.root) for tree in list(self.met)}
            if all(self.again.get(tree) == names for tree, names in found.items()):
                break
            self.again |= found

    def of(self, spec: NodeSpec) -> Names:
        found = self.before.get(spec, self.parts.get(spec))
        if found is None:
            names = {*written_by(spec), *self.included(spec)}
            for child in spec.children:
                names |= self.of(child)
            found = self.parts[spec] = frozenset(names) if names else _NOTHING
        return found

    def included(self, spec: NodeSpec) -> Iterator[str]:
        tree = spec.subtree or spec.again
        if tree is None:
            return
        if spec.subtree is not None:
            inside = self.of(tree.root)
        else:
            self.met.setdefault(tree)
            inside = self.again.get(tree, _NOTHING)
        seeded = (name for name, port in tree.outputs.items() if not port.required)
        yield from shared_with(spec, tree, {*inside, *seeded})


def entries_of(tree: TreeSpec) -> dict[str, Port]:
    """Returns the entries of the run that are declared under `blackboard`: those of the tree, and what included trees
    share with a fleet."""
    fleet = {name: port for name, port in tree.shared.items() if port is not None}
    return {**fleet, **tree.entries}


def written(tree: TreeSpec) -> Names:
    """Returns the entries of a tree that its nodes write, or those of the trees that it includes."""
    return Writes(tree.root).names


def outside(tree: TreeSpec, own: Names, listed: Container[str] = ()) -> list[Port]:
    """Returns the entries that may change from outside in a run: those under `blackboard` that no node writes, and
    those that are declared `outside: true` or shared by a fleet. `own`: what nodes write. `listed`: entries whose
    values the caller has listed."""
    return [port for port in entries_of(tree).values() if _may_change(port, own, listed)]


def _may_change(port: Port, own: Names, listed: Container[str]) -> bool:
    if port.shared is not None or port.outside is not None:
        return port.shared is not None or bool(port.outside)
    return port.name not in own or port.name in listed


def assumed(tree: TreeSpec, own: Names, listed: Container[str] = ()) -> list[Port]:
    """Returns the entries of which nothing says whether somebody outside writes them as well: nodes write them."""
    return [
        port
        for port in tree.entries.values()
        if port.outside is None and not _may_change(port, own, listed) and port.name in own
    ]
