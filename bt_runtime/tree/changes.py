"""The nodes of a run as they stand, and the changes of their shape: asked for at any time (`request.py`), made between
two ticks, each wholly or not at all.

Read from the top: which change was asked for, how its nodes are made, how they come to life and leave.
`splice.py` puts them into a parent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from py_trees.behaviour import Behaviour

from bt_runtime.events import Applied, Grown, Halt
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.tree.adopt import adopt
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import TRANSPARENT, Node, halt, path_of, record_crash, segment_of
from bt_runtime.tree.nodes.parent import Parent
from bt_runtime.tree.request import Refused, Request

if TYPE_CHECKING:
    from bt_runtime.tree.describe.census import Census


class Shape:
    """The tree's shape. Only the engine changes it, between two ticks."""

    def __init__(self, root: Behaviour, context: Context, max_depth: int, max_nodes: int) -> None:
        self.root = root
        self.context = context
        self.max_depth, self.max_nodes = max_depth, max_nodes
        self.nodes = 0
        self.census: Census | None = None  # the count of nodes; made when the first listener needs it
        self.kwargs: Mapping[str, object] | None = None  # arguments of `setup`; None: not set up yet
        self._attach(root)

    def set_up(self, kwargs: Mapping[str, object]) -> None:
        """Sets every node up; grafts are set up with the same arguments."""
        set_up(self.root, self.context, dict(kwargs))
        self.kwargs = kwargs

    def counted(self) -> Census:
        """Returns the nodes by number, and counts them from now on."""
        if self.census is None:
            from bt_runtime.tree.describe.census import Census

            self.census = Census()
        return self.census

    def find(self, path: str) -> Behaviour:
        """Returns the node at this path (of a guarded node its guard); raises Refused when there is none."""
        segments = [s for s in path.split("/") if s]
        node = self.root
        if not segments or segments[0] != segment_of(node):
            raise Refused(f"there is no node {path}", f"paths begin with /{segment_of(node)}")
        for segment in segments[1:]:
            node = unguarded(node)
            found = next((c for c in node.children if segment_of(c) == segment), None)
            if found is None:
                known = [segment_of(c) for c in node.children]
                raise Refused(f"there is no node {path}", did_you_mean(segment, known, f"here: {', '.join(known)}"))
            node = found
        return node

    def apply(self) -> list[Applied]:
        """Makes the changes that were asked for, in order. One that cannot be made leaves the tree as it was."""
        done: list[Applied] = []
        requests = self.context.requests
        for _ in range(len(requests)):  # requests that these make wait until the next tick
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
        make = {"insert": self._insert, "replace": self._replace, "remove": self._remove, "grow": self._grow}
        make[change.how](change)

    def _insert(self, change: Request) -> None:
        parent = unguarded(self.find(change.path))
        from bt_runtime.tree import splice

        index = splice.may_insert(parent, change.index)
        new = self._made(change, parent, splice.free_segment(parent))
        splice.insert(parent, index, new)
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
            from bt_runtime.tree import splice

            splice.replace(parent, old, new)
            if change.name:
                vars(new)["segment"] = change.name  # also for a node that had no name: it may be put back
        self._detach(old, why)
        self._attach(new)

    def _remove(self, change: Request) -> None:
        old = self.find(change.path)
        if old.parent is None:
            raise Refused("the root cannot be removed", "replace it, or halt the run")
        from bt_runtime.tree import splice

        splice.may_remove(old.parent, old)
        why = Halt("graft", f"{change.path} was removed")
        halt(old, self.context, why, everywhere=True)
        splice.remove(old.parent, old)
        self._detach(old, why)

    def _grow(self, change: Request) -> None:
        """Adds the first child of a node: an expansion, or a tree that contains itself."""
        parent = unguarded(self.find(change.path))
        if parent.children or not isinstance(parent, Parent):
            raise Refused(f"{change.path} has grown already")
        new = self._made(change, parent, str(parent.born))
        parent.take(new, 0, segment_of(new))
        self._attach(new)
        parent.attached()  # scopes and locks that it opened for its child hold from now on

    def _made(
        self, change: Request, parent: Behaviour | None, segment: str, instead_of: Behaviour | None = None
    ) -> Behaviour:
        """Builds and sets up the new nodes, within the limits; when that fails, nothing of them remains."""
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
                set_up(new, self.context, dict(self.kwargs), above)
        except BaseException:
            discard(new)
            raise
        vars(new)["segment"] = segment
        return new

    def _within_caps(self, new: Behaviour, parent: Behaviour | None) -> None:
        depth, nodes = _height(new), self.nodes + len(below(new))
        while parent is not None:
            depth, parent = depth + 1, parent.parent
        if depth > self.max_depth:
            raise Refused(f"the tree would be {depth} nodes deep; at most {self.max_depth} are allowed")
        if nodes > self.max_nodes:
            raise Refused(f"the tree would have {nodes:,} nodes; at most {self.max_nodes:,} are allowed")

    def _attach(self, new: Behaviour) -> None:
        if self.census is not None:
            self.census.stale = True
        for node in below(new):
            self.nodes += 1
            if isinstance(node, Node):
                node.attached()
        if self.context.stream.wanted(Grown):
            self.context.emit(Grown(new))

    def _detach(self, old: Behaviour, why: Halt) -> None:
        if self.census is not None:
            self.census.stale = True
        self.nodes -= len(below(old))
        retire(old, self.context, why)


def unguarded(node: Behaviour) -> Behaviour:
    """Returns the node inside its guard."""
    while node.children and segment_of(node.children[0]) == TRANSPARENT:
        node = node.children[0]
    return node


def _height(root: Behaviour) -> int:
    height, level = 0, [root]
    while level:
        height += 1
        level = [c for node in level for c in node.children]
    return height


# Life -----------------------------------------------------------------------------------------


def below(root: Behaviour) -> list[Behaviour]:
    """Returns all nodes, children before parents, without recursion."""
    order: list[Behaviour] = []
    todo = [root]
    while todo:
        node = todo.pop()
        order.append(node)
        todo += node.children
    order.reverse()
    return order


def set_up(root: Behaviour, context: Context, kwargs: dict[str, object], above: str = "") -> None:
    """Sets all new nodes up; when one cannot be, those that were are shut down again."""
    done: list[Behaviour] = []
    for node in below(root):
        try:
            node.setup(**kwargs)
        except Exception as error:
            for earlier in done:
                _shut_down(earlier, context)
            what, hint = (error.message, error.hint) if isinstance(error, BtError) else (repr(error), "")
            raise Refused(f"{above}{path_of(node)} could not be set up: {what}", hint) from error
        done.append(node)


def retire(root: Behaviour, context: Context, why: Halt) -> None:
    """Halts, shuts down and unregisters a subtree that leaves the tree; one that breaks does not keep the others."""
    halt(root, context, why, everywhere=True)
    for node in below(root):
        _shut_down(node, context)
    discard(root)


def _shut_down(node: Behaviour, context: Context) -> None:
    try:
        node.shutdown()
    except Exception as error:
        record_crash(node, context, error, strict=False)


def discard(root: Behaviour) -> None:
    """Removes the registrations of nodes that are not, or no longer, in the tree."""
    for node in below(root):
        discard_one(node)


def discard_one(node: Behaviour) -> None:
    if isinstance(node, Node):
        node.release()
    for client in node.blackboards:
        client.unregister()
    node.blackboards.clear()
