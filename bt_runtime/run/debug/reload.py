"""Reloads an edited tree into a running one: replaces what differs, and leaves the rest running."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bt_runtime.language.difference import Item, item
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import shown_path
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.run.debug.debugger import debugger_of
from bt_runtime.run.debug.source import text_of
from bt_runtime.run.run import Run, Tree
from bt_runtime.tree.node import Node, path_of

ANEW = "start the run anew for that"


class ChangedPart(NamedTuple):
    """A node that has changed, with all below it."""

    old: NodeSpec
    new: NodeSpec
    tree: TreeSpec  # the tree that the new node belongs to
    text: str


class Reload:
    """Reloads one run: maps its nodes to the parts of the files as last read."""

    def __init__(self, run: Run) -> None:
        self.run, self.tree = run, run.parts.tree
        self.stands: dict[NodeSpec, NodeSpec] = {}  # a part of the files → what stands in the run for it

    def take(self, new: Tree) -> list[str]:
        """Replaces all changed parts, or none, between two ticks; returns the replaced paths."""
        found = list(_trees(self.tree.spec, new.spec, set()))
        parts = [each for each in found if each.text]
        self._read_again(new)
        with self.run.parts.engine.between():
            places = [(path, part) for part in parts for path in self._paths(part.old)]
            for path, part in places:
                debugger_of(self.run).check(path, part.text)
            made = [self._put(path, part) for path, part in places]
        for each in found:
            if not each.text:
                self.stands[each.new] = self.stands.pop(each.old, each.old)
        self.tree = new
        return made

    def _put(self, path: str, part: ChangedPart) -> str:
        debugger = debugger_of(self.run)
        made = debugger.replace(path, part.text, by=part.tree.file)
        node = self.run.parts.engine.find(made)
        while isinstance(node, Node) and node.spec.kind.transparent:
            node = node.children[0]
        if isinstance(node, Node):
            for one, other in zip(part.new.walk(), node.spec.walk(), strict=True):
                self.stands[one] = other
        return made

    def _paths(self, old: NodeSpec) -> list[str]:
        standing = self.stands.get(old, old)
        return [path_of(node) for node in self.run.nodes() if isinstance(node, Node) and node.spec is standing]

    def _read_again(self, new: Tree) -> None:
        """Raises when the edit brings a new file or changes a manifest, which a journal could not replay."""
        for path, text in new.first.files.items():
            before = self.tree.first.files.get(path)
            manifest = path not in new.first.loaded
            if before is None or (manifest and before != text):
                what = "a file that the run does not know" if before is None else "the skills of the run"
                raise BtError(f"{shown_path(path)}: this changes {what}", ANEW)


def _trees(old: TreeSpec, new: TreeSpec, seen: set[tuple[int, int]]) -> Iterator[ChangedPart]:
    if (id(old), id(new)) in seen:
        return
    seen.add((id(old), id(new)))
    order = [([*tree.inputs], [*tree.outputs]) for tree in (old, new)]
    if old.name != new.name or dict(old.ports) != dict(new.ports) or order[0] != order[1]:
        raise BtError(f"{new.file}: its name, inputs, outputs or blackboard are others now", ANEW)
    one, other = item(old.root, f"/{old.name}"), item(new.root, f"/{new.name}")
    recursive = any(node.again is not None for node in new.root.walk())
    if recursive and one.mark != other.mark:
        raise BtError(f"{new.file}: a tree that contains itself was changed", ANEW)
    found = list(_parts(one, other, new, seen))
    parts = [each for each in found if each is not None]
    yield from parts if len(parts) == len(found) else _whole(one, other, new)


def _parts(old: Item, new: Item, tree: TreeSpec, seen: set[tuple[int, int]]) -> Iterator[ChangedPart | None]:
    """Returns the smallest parts that differ, and unchanged nodes without a text; None when only a larger part can be
    replaced."""
    if not _alike(old, new):
        text = text_of(new.spec, tree)
        yield ChangedPart(old.spec, new.spec, tree, text) if text else None
        return
    inner: list[ChangedPart | None] = []
    for (_, one), (_, other) in zip(old.below, new.below, strict=True):
        inner += _parts(one, other, tree, seen)
    if None in inner or (_copies(new.spec) and any(part is not None and part.text for part in inner)):
        text = text_of(new.spec, tree)
        yield ChangedPart(old.spec, new.spec, tree, text) if text else None
        return
    yield ChangedPart(old.spec, new.spec, tree, "")
    yield from inner
    if old.spec.subtree is not None and new.spec.subtree is not None:
        yield from _trees(old.spec.subtree, new.spec.subtree, seen)


def _whole(old: Item, new: Item, tree: TreeSpec) -> Iterator[ChangedPart]:
    """Returns the replacement of the whole tree: the text after `root:`, which may be on the same line."""
    at = new.spec.span
    lines = tree.text.splitlines()[at.line - 1 :]
    yield ChangedPart(old.spec, new.spec, tree, "\n".join([lines[0][at.column - 1 :], *lines[1:]]) + "\n")


def _alike(old: Item, new: Item) -> bool:
    """Returns True for nodes of equal kind, name and fields whose children have equal names."""
    below = [[(place, each.name) for place, each in one.below] for one in (old, new)]
    same = (old.spec.kind, old.name, old.fields) == (new.spec.kind, new.name, new.fields)
    return same and below[0] == below[1]


def _copies(spec: NodeSpec) -> bool:
    """True for a node that builds its children from its specification repeatedly while it runs."""
    return spec.kind.name == "for_all" or spec.again is not None
