"""The nodes of a run as they stand, and the changes of their shape: asked for at any time (`request.py`), made between
two ticks, each wholly or not at all.

Read from the top: which change was asked for, how its nodes are made, how they come to life and leave, how they are
spliced into a parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from py_trees import composites
from py_trees.behaviour import Behaviour

from bt_runtime.events import Applied, Grown, Halt
from bt_runtime.faults.diagnostic import BtError, nearest
from bt_runtime.tree.adopt import adopt
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import RUNNING, TRANSPARENT, Node, halt, path_of, record_crash, segment_of
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
        self.census: Census | None = None  # of those who look on; nobody has counted before they do
        self.kwargs: Mapping[str, object] | None = None  # of `setup`; None: not set up yet
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
        parent = unguarded(self.find(change.path))
        index = may_insert(parent, change.index)
        new = self._made(change, parent, free_segment(parent))
        _splice_in(parent, index, new)
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
            _splice_over(parent, old, new)
            if change.name:
                vars(new)["segment"] = change.name  # also that of a node which had none of its own: it is put back
        self._detach(old, why)
        self._attach(new)

    def _remove(self, change: Request) -> None:
        old = self.find(change.path)
        if old.parent is None:
            raise Refused("the root cannot be removed", "replace it, or halt the run")
        may_remove(old.parent, old)
        why = Halt("graft", f"{change.path} was removed")
        halt(old, self.context, why, everywhere=True)
        _splice_out(old.parent, old)
        self._detach(old, why)

    def _grow(self, change: Request) -> None:
        """Adds the first child of a node: an expansion, or a tree that contains itself."""
        parent = unguarded(self.find(change.path))
        if parent.children or not isinstance(parent, Parent):
            raise Refused(f"{change.path} has grown already")
        new = self._made(change, parent, str(parent.born))
        parent.take(new, 0, segment_of(new))
        self._attach(new)
        parent.attached()  # what it has opened for its child takes part from now on

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
        depth, nodes = _height(new), self.nodes + sum(1 for _ in below(new))
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
        self.nodes -= sum(1 for _ in below(old))
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


def below(root: Behaviour) -> Iterator[Behaviour]:
    """Returns all nodes, children before parents, without recursion."""
    order: list[Behaviour] = []
    todo = [root]
    while todo:
        node = todo.pop()
        order.append(node)
        todo.extend(node.children)
    return reversed(order)


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


# Splicing: our parents keep their own place, foreign ones are helped to keep theirs ----------------------


def may_insert(parent: Behaviour, index: int | None) -> int:
    """Returns the insert position; raises when the parent takes no child there."""
    if isinstance(parent, Parent) and parent.fixed:
        raise Refused(f"`{parent.name}` takes a fixed set of children", "replace a child, or insert above it")
    if not isinstance(parent, composites.Composite):
        raise Refused(f"`{parent.name}` has no children", "insert into a control node")
    count = len(parent.children)
    place = count if index is None else index if index >= 0 else count + 1 + index
    if not 0 <= place <= count:
        raise Refused(f"there is no place {index} among {count} children", f"0 to {count}, or -1 for the end")
    return place


def free_segment(parent: Behaviour) -> str:
    """Returns the path segment for a child without a name: the number of children before it."""
    if isinstance(parent, Parent):
        return str(parent.born)
    taken = {segment_of(c) for c in parent.children}
    return next(s for n in range(len(taken), 2 * len(taken) + 1) if (s := str(n)) not in taken)


def _splice_in(parent: Behaviour, index: int, child: Behaviour) -> None:
    if isinstance(parent, Parent):
        parent.take(child, index, segment_of(child))
        parent.inserted(index)
    else:
        foreign: Any = parent
        foreign.insert_child(child, index)


def _splice_over(parent: Behaviour, old: Behaviour, new: Behaviour) -> None:
    if isinstance(parent, Parent):
        parent.replace_child(old, new)
    elif isinstance(parent, composites.Composite):
        current = parent.current_child is old
        parent.replace_child(old, new)
        if current:
            parent.current_child = new  # else a memory sequence would begin again, and a selector would break
    else:
        foreign: Any = parent  # a decorator
        foreign.children[0] = foreign.decorated = new
        new.parent, old.parent = parent, None


def may_remove(parent: Behaviour, old: Behaviour) -> None:
    if isinstance(parent, Parent):
        if parent.fixed and not _optional(parent, old):
            raise Refused(f"`{parent.name}` needs this child", "remove the parent, or replace the child")
    elif not isinstance(parent, composites.Composite):
        raise Refused(f"`{parent.name}` needs its child", "remove the decorator, or replace the child")
    elif _resumes_at(parent, old) and old is parent.children[-1] and len(parent.children) > 1:
        raise Refused(
            f"`{parent.name}` is running its last child, and py_trees would begin again without it",
            "replace the child, for instance by `succeed`",
        )


def _splice_out(parent: Behaviour, old: Behaviour) -> None:
    if isinstance(parent, Parent):
        parent.drop(old)
    else:
        foreign: Any = parent
        resumes = _resumes_at(parent, old)
        index = foreign.remove_child(old)
        if resumes and parent.children:
            foreign.current_child = parent.children[index]


def _resumes_at(parent: Behaviour, child: Behaviour) -> bool:
    """True for the child at which a sequence or selector of py_trees would resume."""
    return parent.status is RUNNING and getattr(parent, "current_child", None) is child and not _together(parent)


def _together(parent: Behaviour) -> bool:
    return isinstance(parent, composites.Parallel) or not getattr(parent, "memory", True)


def _optional(parent: Parent, child: Behaviour) -> bool:
    places = getattr(parent, "places", None)
    if places is None:
        return False
    place = places[next(i for i, c in enumerate(parent.children) if c is child)].partition(":")[0]
    field = parent.spec.kind.field(place)
    return field is not None and not field.required
