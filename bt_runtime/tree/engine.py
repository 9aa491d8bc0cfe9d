"""The tick and the graft. This is the centre: it reads top to bottom.

A tick steps the root once. Between two ticks, and only there, requests change the tree's shape.
"""

from __future__ import annotations

import math
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
from bt_runtime.tree.node import INVALID, RUNNING, TRANSPARENT, Node, adopt, halt, path_of, record_crash, segment_of
from bt_runtime.tree.nodes.parent import Parent


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
        self.nodes = 0
        self.observers: list[Observer] = []
        self.setup_kwargs: Mapping[str, Any] | None = None  # None: not set up yet
        self._lock = threading.RLock()
        self._closed = False
        self._halt: Halt | None = None  # asked for by a node inside its tick
        self._crashes_seen = 0
        adopt(root, context)
        self._attach(root)

    @property
    def blackboard(self) -> Blackboard:
        return self.context.blackboard

    # Life ------------------------------------------------------------------------------------

    def setup(self, **kwargs: Any) -> None:
        """Once, before the first tick; grafts are set up with the same arguments."""
        with self._lock:
            graft.set_up(self.root, self.context, kwargs)
            self.setup_kwargs = kwargs

    def tick(self) -> Tick:
        with self._lock:
            self._ready()
            self.count += 1  # from here on, what happens belongs to this tick
            context, blackboard = self.context, self.blackboard
            applied = self._apply()
            context.due = math.inf
            blackboard.begin_tick()
            context.ticking = True
            broke: BaseException | None = None
            try:
                status = tick_once(self.root)
            except BaseException as error:
                broke, status = error, INVALID
                halt(self.root, context, Halt("engine", f"the tick broke: {error}"), everywhere=True)
            finally:
                context.ticking = False
                blackboard.end_tick()
            applied += self._apply()
            if self._halt is not None:
                halt(self.root, context, self._halt, everywhere=True)
                status, self._halt = self.root.status, None
            if applied or blackboard.stirred:
                context.again()  # what was ticked before the change may see it now
            tick = self._recorded(status, applied)
        self._tell(tick)
        if broke is not None:
            raise broke
        return tick

    def halt(self, reason: str, by: str = "operator") -> int:
        """Tells everything that runs to stop, and returns when it was told; inside a tick, at that tick's end."""
        with self._lock:
            why = Halt(by, reason)
            if self.context.ticking:
                self._halt = why
                return 0
            self._listen()
            count = halt(self.root, self.context, why, everywhere=True)
            tick = self._recorded(self.root.status, [])
        if count:
            self._tell(tick)
        return count

    def shutdown(self) -> None:
        """Halts and retires every node; the tree cannot be ticked any more."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            graft.retire(self.root, self.context, Halt("engine", "shut down"))
            for change in self.context.requests:
                change.cancel("the run was closed")
            self.context.requests.clear()

    def _ready(self) -> None:
        if self._closed:
            raise BtError("the run was closed", "make a new one: Run(tree)")
        if self.context.ticking:
            raise BtError("the tree is being ticked: a node cannot tick it once more")
        if self.setup_kwargs is None:
            self.setup()
        self._listen()

    # Shape -----------------------------------------------------------------------------------

    def request(self, change: Request) -> Request:
        """Queues a change; it is made between two ticks."""
        if self._closed:
            change.cancel("the run was closed")
            return change
        self.context.requests.append(change)
        self.context.wake()
        return change

    def settle(self) -> list[Applied]:
        """Makes the changes that were asked for now, rather than at the next tick; never inside one."""
        with self._lock:
            return [] if self.context.ticking else self._apply()

    def find(self, path: str) -> Behaviour:
        """The node at this path (a guarded node's guard); raises Refused when there is none."""
        segments = [s for s in path.split("/") if s]
        node = self.root
        if not segments or segments[0] != segment_of(node):
            raise Refused(f"there is no node {path}", f"paths begin with /{segment_of(node)}")
        for segment in segments[1:]:
            node = _through(node)
            found = next((c for c in node.children if segment_of(c) == segment), None)
            if found is None:
                known = [segment_of(c) for c in node.children]
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
        for _ in range(len(requests)):  # what these ask for in turn waits until the next tick
            change: Request = requests.popleft()
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
        index = graft.may_insert(parent, change.index)
        new = self._made(change, parent, graft.free_segment(parent))
        graft.insert(parent, index, new)
        self._attach(new)

    def _replace(self, change: Request) -> None:
        old = self.find(change.path)
        parent = old.parent
        new = self._made(change, parent, segment_of(old), old)
        why = Halt("graft", f"{change.path} was replaced")
        halt(old, self.context, why, everywhere=True)
        if parent is None:
            self.root = adopt(new, self.context)
        else:
            graft.replace(parent, old, new)
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
        parent = _through(self.find(change.path))
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
        beside = parent.children if parent is not None else []
        if any(c is not instead_of and segment_of(c) == segment for c in beside):
            raise Refused(f"there is a `{segment}` beside it already", "names are unique among siblings")
        above = path_of(parent) if parent is not None else ""
        new = change.make(f"{above}/{segment}")
        if new.parent is not None or new is self.root:
            raise Refused(f"`{new.name}` is part of a tree already")
        if isinstance(new, Node) and new.context is not self.context:
            raise Refused(f"`{new.name}` was made for another run", "give its YAML")
        try:
            self._within_caps(new, parent)
            if self.setup_kwargs is not None:
                graft.set_up(new, self.context, dict(self.setup_kwargs), above)
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
        for node in graft.below(new):
            self.nodes += 1
            if isinstance(node, Node):
                node.attached()

    def _detach(self, old: Behaviour, why: Halt) -> None:
        self.nodes -= sum(1 for _ in graft.below(old))
        graft.retire(old, self.context, why)

    # Record ----------------------------------------------------------------------------------

    def _listen(self) -> None:
        """From here on, what happens is kept for the observers, if there are any."""
        context = self.context
        if not self.observers:
            context.changes = context.halts = None
        elif context.changes is None or context.halts is None:
            context.changes, context.halts = [], []

    def _recorded(self, status: Status, applied: list[Applied]) -> Tick:
        context, faults = self.context, self.blackboard.faults
        while faults:
            scope, error = faults.popleft()
            record_crash(self._owner(scope), context, error, strict=False)
        crashes = [c for c in context.crashes if c.number > self._crashes_seen]
        self._crashes_seen = context.crash_count
        changes, halts = context.changes or (), context.halts or ()
        context.changes = context.halts = None
        if self.observers:
            self._listen()  # what happens between two ticks belongs to the next one
        return Tick(self.count, status, context.due, changes, halts, crashes, applied)

    def _owner(self, path: str) -> Behaviour:
        try:
            return self.find(path)
        except BtError:
            return self.root

    def _tell(self, tick: Tick) -> None:
        for observer in tuple(self.observers):
            observer(tick)


def _through(node: Behaviour) -> Behaviour:
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
