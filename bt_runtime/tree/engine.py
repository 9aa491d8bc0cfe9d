"""The tick and the graft. This is the centre: it reads top to bottom.

A tick steps the root once. Between two ticks, and only there, requests change the tree's shape.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.diagnose import BtError, nearest
from bt_runtime.tree import graft
from bt_runtime.tree.blackboard import Blackboard
from bt_runtime.tree.context import Context, Crash, Halt
from bt_runtime.tree.graft import Applied, Refused, Request
from bt_runtime.tree.node import RUNNING, TRANSPARENT, adopt, halt


class Tick(NamedTuple):
    """What one tick did. The lists are filled only for trees that have observers."""

    number: int  # counts ticks from 1
    status: Status
    due: float  # when the tree wants its next tick; minus infinity: at once
    changes: Sequence[tuple[Behaviour, Status]] = ()
    halts: Sequence[tuple[Behaviour, Halt]] = ()
    crashes: Sequence[Crash] = ()
    grafts: Sequence[Applied] = ()

    @property
    def running(self) -> bool:
        return self.status is RUNNING


Observer = Callable[[Tick], None]


def tick_once(root: Behaviour) -> Status:
    """One tick of everything below `root`.

    Sequences and fallbacks that are running only hand on to their running child, so a tick goes down that path in a
    loop, steps the node at its end, and hands the result up again: deep trees cost no deep stack.
    """
    path: list[Any] = []
    node: Any = root
    while node.status is RUNNING and getattr(node, "resumes", False) and node.at < len(node.children):
        path.append(node)
        node = node.children[node.at]
    status: Status = node.step()
    for parent in reversed(path):
        status = parent.step(status)
    return status


class Engine:
    """Owns a root and what its nodes share. Any thread may ask; one thread at a time ticks."""

    def __init__(self, root: Behaviour, context: Context, max_depth: int = 256, max_nodes: int = 100_000) -> None:
        self.root = root
        self.context = context
        self.max_depth, self.max_nodes = max_depth, max_nodes
        self.count = 0
        self.nodes = sum(1 for _ in graft.below(root))
        self.observers: list[Observer] = []
        self.setup_kwargs: Mapping[str, Any] | None = None  # None: not set up yet
        self._lock = threading.RLock()
        self._ticking = False
        self._halt: Halt | None = None  # asked for by a node inside its tick
        self._crashes_seen = 0
        adopt(root, context)

    @property
    def blackboard(self) -> Blackboard:
        return self.context.blackboard

    # Life ------------------------------------------------------------------------------------

    def setup(self, **kwargs: Any) -> None:
        """Once, before the first tick; grafts are set up with the same arguments."""
        with self._lock:
            graft.set_up(self.root, kwargs)
            self.setup_kwargs = kwargs

    def tick(self) -> Tick:
        with self._lock:
            if self.setup_kwargs is None:
                self.setup()
            context = self.context
            self._record(bool(self.observers))
            applied = self._apply()
            context.due = float("inf")
            context.blackboard.begin_tick()
            self._ticking = True
            try:
                status = tick_once(self.root)
            except BaseException as error:
                halt(self.root, context, Halt("engine", f"the tick broke: {error}"))
                raise
            finally:
                self._ticking = False
                context.blackboard.end_tick()
            applied += self._apply()
            if self._halt is not None:
                halt(self.root, context, self._halt)
                status, self._halt = self.root.status, None
            self.count += 1
            tick = self._recorded(status, applied)
        for observer in tuple(self.observers):
            observer(tick)
        return tick

    def halt(self, reason: str, by: str = "operator") -> int:
        """Tells everything that runs to stop, and returns when it was told; inside a tick, at that tick's end."""
        with self._lock:
            why = Halt(by, reason)
            if self._ticking:
                self._halt = why
                return 0
            return halt(self.root, self.context, why)

    def shutdown(self) -> None:
        with self._lock:
            graft.retire(self.root, self.context, Halt("engine", "shut down"))

    # Shape -----------------------------------------------------------------------------------

    def request(self, change: Request) -> Request:
        """Queues a change; it is made between two ticks."""
        self.context.requests.append(change)
        self.context.wake()
        return change

    def find(self, path: str) -> Behaviour:
        """The node at this path (a guarded node's guard); raises Refused when there is none."""
        segments = [s for s in path.split("/") if s]
        node = self.root
        if not segments or segments[0] != _segment(node):
            raise Refused(f"there is no node {path}", f"paths begin with /{_segment(node)}")
        for segment in segments[1:]:
            node = _through(node)
            found = next((c for c in node.children if _segment(c) == segment), None)
            if found is None:
                known = [_segment(c) for c in node.children]
                close = nearest(segment, known)
                raise Refused(
                    f"there is no node {path}", f"did you mean `{close}`?" if close else f"here: {', '.join(known)}"
                )
            node = found
        return node

    def _apply(self) -> list[Applied]:
        """Makes the changes that were asked for, in order. One that cannot be made leaves the tree as it was."""
        done: list[Applied] = []
        requests = self.context.requests
        while requests:
            change: Request = requests.popleft()
            self.context.again()  # whoever asked wants to know
            if change.refused is not None:
                continue
            try:
                getattr(self, f"_{change.how}")(change)
            except BtError as error:
                change.refused = error
            except Exception as error:
                change.refused = Refused(f"{change.how} at {change.path}: {type(error).__name__}: {error}")
            else:
                change.applied = Applied(change.how, change.path, change.text)
                done.append(change.applied)
        return done

    def _insert(self, change: Request) -> None:
        parent = _through(self.find(change.path))
        new = self._made(change, change.path, parent)
        try:
            index = len(parent.children) if change.index is None else change.index
            graft.insert(parent, index if index >= 0 else len(parent.children) + 1 + index, new)
        except Refused:
            self._discard(new)
            raise
        self.nodes += sum(1 for _ in graft.below(new))

    def _replace(self, change: Request) -> None:
        old = self.find(change.path)
        parent = old.parent
        new = self._made(change, change.path.rpartition("/")[0], parent)
        why = Halt("graft", f"{change.path} was replaced")
        halt(old, self.context, why)
        if parent is None:
            self._rename(new, _segment(old))
            self.root = adopt(new, self.context)
        else:
            graft.replace(parent, old, new)
        self.nodes += sum(1 for _ in graft.below(new)) - sum(1 for _ in graft.below(old))
        graft.retire(old, self.context, why)

    def _remove(self, change: Request) -> None:
        old = self.find(change.path)
        if old.parent is None:
            raise Refused("the root cannot be removed", "replace it, or halt the run")
        graft.remove(old.parent, old)
        self.nodes -= sum(1 for _ in graft.below(old))
        graft.retire(old, self.context, Halt("graft", f"{change.path} was removed"))

    def _grow(self, change: Request) -> None:
        """The first child of a node that had none: an expansion, or a tree that contains itself."""
        parent = _through(self.find(change.path))
        if parent.children:
            raise Refused(f"{change.path} has grown already")
        new = self._made(change, change.path, parent)
        grown: Any = parent
        grown.take(new, 0, getattr(new, "segment", ""))
        self.nodes += sum(1 for _ in graft.below(new))

    def _made(self, change: Request, above: str, parent: Behaviour | None) -> Behaviour:
        """The new nodes, built and set up, within the caps."""
        assert change.make is not None
        new = change.make(above)
        depth = _height(new) + above.count("/")
        total = self.nodes + sum(1 for _ in graft.below(new))
        if depth > self.max_depth:
            raise Refused(f"the tree would be {depth} nodes deep; at most {self.max_depth} are allowed")
        if total > self.max_nodes:
            raise Refused(f"the tree would have {total:,} nodes; at most {self.max_nodes:,} are allowed")
        if self.setup_kwargs is not None:
            graft.set_up(new, dict(self.setup_kwargs))
        return new

    def _discard(self, new: Behaviour) -> None:
        for node in graft.below(new):
            graft.retire_one(node)

    def _rename(self, node: Behaviour, segment: str) -> None:
        named: Any = node
        named.segment = segment

    # Record ----------------------------------------------------------------------------------

    def _record(self, observed: bool) -> None:
        self.context.changes = [] if observed else None
        self.context.halts = [] if observed else None

    def _recorded(self, status: Status, applied: list[Applied]) -> Tick:
        context = self.context
        crashes = [c for c in context.crashes if c.number > self._crashes_seen]
        self._crashes_seen = context.crash_count
        return Tick(self.count, status, context.due, context.changes or (), context.halts or (), crashes, applied)


def _segment(node: Behaviour) -> str:
    return getattr(node, "segment", "") or node.name


def _through(node: Behaviour) -> Behaviour:
    """The node itself behind its guard."""
    while node.children and _segment(node.children[0]) == TRANSPARENT:
        node = node.children[0]
    return node


def _height(root: Behaviour) -> int:
    height, level = 0, [root]
    while level:
        height += 1
        level = [c for node in level for c in node.children]
    return height
