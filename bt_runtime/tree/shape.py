"""The nodes of a run as they stand, and the changes of their shape. Each is made wholly or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_trees.behaviour import Behaviour

from bt_runtime.events import Applied, Halt
from bt_runtime.faults.diagnostic import BtError, nearest
from bt_runtime.tree import graft
from bt_runtime.tree.census import Census
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import TRANSPARENT, Node, adopt, halt, path_of, segment_of
from bt_runtime.tree.nodes.parent import Parent
from bt_runtime.tree.request import Refused, Request


class Shape:
    """Only the engine changes it, between two ticks."""

    def __init__(self, root: Behaviour, context: Context, max_depth: int, max_nodes: int) -> None:
        self.root = root
        self.context = context
        self.max_depth, self.max_nodes = max_depth, max_nodes
        self.nodes = 0
        self.census = Census()
        self.kwargs: Mapping[str, Any] | None = None  # of `setup`; None: not set up yet
        self._attach(root)

    def set_up(self, kwargs: Mapping[str, Any]) -> None:
        """Sets every node up; grafts are set up with the same arguments."""
        graft.set_up(self.root, self.context, dict(kwargs))
        self.kwargs = kwargs

    def find(self, path: str) -> Behaviour:
        """The node at this path (a guarded node's guard); raises Refused when there is none."""
        segments = [s for s in path.split("/") if s]
        node = self.root
        if not segments or segments[0] != segment_of(node):
            raise Refused(f"there is no node {path}", f"paths begin with /{segment_of(node)}")
        for segment in segments[1:]:
            node = through(node)
            found = next((c for c in node.children if segment_of(c) == segment), None)
            if found is None:
                known = [segment_of(c) for c in node.children]
                close = nearest(segment, known)
                raise Refused(
                    f"there is no node {path}", f"did you mean `{close}`?" if close else f"here: {', '.join(known)}"
                )
            node = found
        return node

    def apply(self) -> list[Applied]:
        """Makes the changes that were asked for, in order. One that cannot be made leaves the tree as it was."""
        done: list[Applied] = []
        requests = self.context.requests
        for _ in range(len(requests)):  # what these ask for in turn waits until the next tick
            change: Request = requests.popleft()
            if change.refused is not None:
                continue
            try:
                self._make(change)
            except BtError as error:
                change.refused = error
            except Exception as error:
                change.refused = Refused(f"{change.how} at {change.path}: {type(error).__name__}: {error}")
            else:
                change.applied = Applied(change.how, change.path, change.text)
                done.append(change.applied)
        return done

    def _make(self, change: Request) -> None:
        match change.how:
            case "insert":
                self._insert(change)
            case "replace":
                self._replace(change)
            case "remove":
                self._remove(change)
            case "grow":
                self._grow(change)

    def _insert(self, change: Request) -> None:
        parent = through(self.find(change.path))
        index = graft.may_insert(parent, change.index)
        new = self._made(change, parent, graft.free_segment(parent))
        graft.insert(parent, index, new)
        self._attach(new)

    def _replace(self, change: Request) -> None:
        old = self.find(change.path)
        parent = old.parent
        new = self._made(change, parent, segment_of(old), old)
        why = change.why or Halt("graft", f"{change.path} was replaced")
        halt(old, self.context, why, everywhere=True)
        if parent is None:
            self.root = adopt(new, self.context)
        else:
            graft.replace(parent, old, new)
            if change.name:
                named: Any = new
                named.segment = change.name  # also that of a node which had none of its own: it is put back
        self._detach(old, why)
        self._attach(new)

    def _remove(self, change: Request) -> None:
        old = self.find(change.path)
        if old.parent is None:
            raise Refused("the root cannot be removed", "replace it, or halt the run")
        graft.may_remove(old.parent, old)
        why = Halt("graft", f"{change.path} was removed")
        halt(old, self.context, why, everywhere=True)
        graft.remove(old.parent, old)
        self._detach(old, why)

    def _grow(self, change: Request) -> None:
        """The first child of a node that had none: an expansion, or a tree that contains itself."""
        parent = through(self.find(change.path))
        if parent.children or not isinstance(parent, Parent):
            raise Refused(f"{change.path} has grown already")
        new = self._made(change, parent, str(parent.born))
        parent.take(new, 0, segment_of(new))
        self._attach(new)
        parent.attached()  # what it has opened for its child takes part from now on

    def _made(
        self, change: Request, parent: Behaviour | None, segment: str, instead_of: Behaviour | None = None
    ) -> Behaviour:
        """The new nodes, built and set up, within the caps; when they cannot be, nothing of them is left."""
        assert change.make is not None
        segment = change.name or segment
        beside = parent.children if parent is not None and change.name else []  # numbers never meet
        if any(c is not instead_of and segment_of(c) == segment for c in beside):
            raise Refused(f"there is a `{segment}` beside it already", "names are unique among siblings")
        above = path_of(parent) if parent is not None else ""
        new = change.make(f"{above}/{segment}")
        if new.parent is not None or new is self.root:
            raise Refused(f"`{new.name}` is part of a tree already")
        if isinstance(new, Node) and new.context.whole is not self.context:
            raise Refused(f"`{new.name}` was made for another run", "give its YAML")
        try:
            self._within_caps(new, parent)
            if self.kwargs is not None:
                graft.set_up(new, self.context, dict(self.kwargs), above)
        except BaseException:
            graft.discard(new)
            raise
        named: Any = new
        named.segment = segment
        return new

    def _within_caps(self, new: Behaviour, parent: Behaviour | None) -> None:
        depth, nodes = _height(new), self.nodes + sum(1 for _ in graft.below(new))
        while parent is not None:
            depth, parent = depth + 1, parent.parent
        if depth > self.max_depth:
            raise Refused(f"the tree would be {depth} nodes deep; at most {self.max_depth} are allowed")
        if nodes > self.max_nodes:
            raise Refused(f"the tree would have {nodes:,} nodes; at most {self.max_nodes:,} are allowed")

    def _attach(self, new: Behaviour) -> None:
        self.census.stale = True
        for node in graft.below(new):
            self.nodes += 1
            if isinstance(node, Node):
                node.attached()
        if self.context.grown is not None:
            self.context.grown(new)

    def _detach(self, old: Behaviour, why: Halt) -> None:
        self.census.stale = True
        self.nodes -= sum(1 for _ in graft.below(old))
        graft.retire(old, self.context, why)


def through(node: Behaviour) -> Behaviour:
    """The node itself behind its guard."""
    while node.children and segment_of(node.children[0]) == TRANSPARENT:
        node = node.children[0]
    return node


def _height(root: Behaviour) -> int:
    height, level = 0, [root]
    while level:
        height += 1
        level = [c for node in level for c in node.children]
    return height
