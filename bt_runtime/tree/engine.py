"""The tick, and when a change of shape is made. This is the centre: it reads top to bottom.

A tick steps the root once. Between two ticks, and only there, requests change the tree's shape.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import get_ident
from time import monotonic
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import Applied, Crash, Ended, Halt, Slow, Started, Tick
from bt_runtime.language.faults.diagnostic import BtError, text_of
from bt_runtime.language.loader import Loader
from bt_runtime.language.spec import DEFAULT_CAPS
from bt_runtime.tree.adopt import adopt
from bt_runtime.tree.changes import Shape, retire
from bt_runtime.tree.context import Context
from bt_runtime.tree.growth import Growth
from bt_runtime.tree.node import INVALID, RUNNING, halt, record_crash, segment_of
from bt_runtime.tree.request import Inbox, Request
from bt_runtime.tree.watchdog import Watchdog


def tick_once(root: Behaviour) -> Status:
    """Ticks everything below `root` once.

    Running sequences and fallbacks pass the tick to their running child. A loop follows that path, steps the last
    node and returns its result upwards: deep trees need no deep stack."""
    path: list[Any] = []
    node: Any = root
    try:
        while node.status is RUNNING and node.resumes:
            child = node.children[node.at]
            path.append(node)
            node = child
    except IndexError:
        pass  # the child whose turn it was is gone
    status: Status = node.step()
    for parent in reversed(path):
        if status is not RUNNING or parent.status is not RUNNING:  # else the parent goes on waiting for this child
            status = parent.step(status)
    return status


class Engine:
    """Owns a root and its nodes' shared state. Any thread may send requests; only one thread at a time ticks.

    `loader` reads what grows from text; it knows the project and the skills of the tree.
    """

    def __init__(
        self, root: Behaviour, context: Context, max_depth: int = DEFAULT_CAPS.depth,
        max_nodes: int = DEFAULT_CAPS.nodes, loader: Callable[[], Loader] = Loader,
    ) -> None:  # fmt: skip
        self.shape = Shape(adopt(root, context), context, max_depth, max_nodes)
        self.context = context
        self.growth = context.growth = Growth(self.shape, self.request, loader)
        context.stock_tick = self.stock_tick
        self.count = 0
        self.status: Status = INVALID  # the root's in the latest tick
        self.lock = threading.RLock()
        self._closed = False
        self.latest: Halt | None = None  # the halt asked for last; a new one ends `spin`
        self.held: Halt | None = None  # the halt that stopped the tree, until a tick starts it again
        self.over: Halt | None = None  # the halt after which no tick starts the tree
        self.rebuilt_ended = False  # the run had ended when it was resumed: ticks only tell how
        self._busy = False  # inside a tick, from before its first check to after its last
        self.wanted_halt: Halt | None = None  # asked for by a node, or a signal's handler, inside a tick
        self._crashes_seen = 0
        self.setup_with: dict[str, object] = {}  # arguments of each node's `setup`, if the caller gives none
        self.watchdog: Watchdog | None = None
        self.ticking_in = 0  # the thread, while it ticks
        self.began = 0.0  # start of the latest tick, by the machine's clock
        self._heard: object = None  # the stream's routes when it was last seen who listens
        self._untold: deque[Tick] = deque()
        self._telling = threading.Lock()
        self._slow: deque[Slow] = deque(maxlen=64)
        self.inbox = Inbox(context.requests)

    @property
    def root(self) -> Behaviour:
        return self.shape.root

    @property
    def nodes(self) -> int:
        """Returns the present number of nodes."""
        return self.shape.nodes

    def watch(self, seconds: float, tell: Callable[[Slow], None]) -> None:
        """Reports, from a separate thread, each node that holds a tick for `seconds`, once per node."""

        def told(slow: Slow, first: bool) -> None:
            self._slow.append(slow)
            if first:
                tell(slow)

        self.watchdog = Watchdog(self, seconds, told)
        if self.count:
            self.watchdog.start()

    # Life ------------------------------------------------------------------------------------

    def setup(self, **kwargs: object) -> None:
        """Sets the nodes up once before the first tick; grafts get equal arguments later."""
        with self.lock:
            self.shape.set_up({**self.setup_with, **kwargs})

    def tick(self) -> Tick:
        tick = self.tick_unless(None, always=True)
        assert tick is not None
        return tick

    def tick_unless(self, seen: Halt | None, always: bool = False) -> Tick | None:
        """Ticks once, unless a halt other than `seen` was requested; then returns None."""
        with self.lock:
            self._ready()
            if self.rebuilt_ended:
                return Tick(self.count, self.status, math.inf)
            tick, broke, gates = None, None, self.context.gates
            until = gates.held() if gates.ticks else None
            if until is not None and self.over is None and (always or self.latest is seen):
                return Tick(self.count, RUNNING, until, deadline=until)
            self._busy = True  # a signal's handler may halt at any moment: from here on it only asks
            try:
                if self.over is None and (always or self.latest is seen):
                    tick, broke = self._tick()
            finally:
                self._busy = False
            if self.wanted_halt is not None:
                tick = self._stopped(tick)
            if tick is not None:
                self.status = tick.status
                if self.context.stream.routes[Tick]:
                    self._untold.append(tick)
        if self._untold:
            self._tell()
        if broke is not None:
            raise broke
        if gates.ticks and tick is not None:
            return gates.ticked(tick)
        return Tick(self.count, INVALID, math.inf) if tick is None and self.over is not None else tick

    def _tick(self) -> tuple[Tick, BaseException | None]:
        context, shape = self.context, self.shape
        blackboard = context.blackboard
        if not self.count:
            self._starts()
        self.inbox.begin()
        self.count += 1  # events from here on belong to this tick
        self.held = None
        if self.watchdog is not None:
            self.began, self.ticking_in = monotonic(), get_ident()
        applied = shape.apply() if context.requests else []
        context.due, context.deadline, context.polled = math.inf, math.inf, False
        blackboard.begin_tick()
        context.ticking = True
        broke: BaseException | None = None
        try:
            status = tick_once(shape.root)
        except BaseException as error:
            broke, status = error, INVALID
            halt(shape.root, context, Halt("engine", f"the tick broke: {text_of(error)}"), everywhere=True)
        finally:
            context.ticking = False
            self.ticking_in = 0
            blackboard.end_tick()
            self.inbox.end()
        if context.requests:
            applied += shape.apply()
        if self.wanted_halt is not None:
            halt(shape.root, context, self.wanted_halt, everywhere=True)
            status, self.wanted_halt = shape.root.status, None
        if applied or blackboard.stirred:
            context.tick_soon()  # nodes ticked before the change may see it only now
        return self._recorded(status, applied), broke

    def _starts(self) -> None:
        self.context.emit(Started(segment_of(self.root)))
        if self.watchdog is not None:
            self.watchdog.start()

    def _stopped(self, tick: Tick | None) -> Tick | None:
        """Returns the tick of a halt that was requested after the tick had been recorded, or without a tick."""
        why, self.wanted_halt = self.wanted_halt, None
        assert why is not None
        self._listen()
        count = halt(self.root, self.context, why, everywhere=True)
        more = self._recorded(self.root.status, [])
        if tick is None:
            return more if count else None
        return tick._replace(
            status=more.status,
            changes=[*tick.changes, *more.changes],
            halts=[*tick.halts, *more.halts],
            said=[*tick.said, *more.said],
            shape=more.shape or tick.shape,
        )

    def halt(self, reason: str, by: str = "operator", for_good: bool = False) -> int:
        """Halts everything that runs, and returns when all nodes were told; inside a tick, at its end.

        `for_good`: no later tick starts the tree anew.
        """
        self.latest = why = Halt(text_of(by), text_of(reason))  # whatever it is given: a halt is never refused
        if for_good:
            self.over = why
        self.context.wake()
        with self.lock:
            if self._busy:
                self.wanted_halt = self.held = why
                return 0
            self._listen()
            running = self.status is RUNNING
            count = halt(self.root, self.context, why, everywhere=True)
            if running:
                self.status = self.root.status
            if count or running:
                self.held = why
            tick = self._recorded(self.root.status, [])
            if count or tick.changes or tick.said or tick.shape is not None:
                self._untold.append(tick)
        self._tell()
        return count

    def _tell(self) -> None:
        """Emits events in order, outside the lock, because listeners may be slow."""
        while self._untold and self._telling.acquire(blocking=False):
            try:
                while self._untold:
                    self.context.stream.emit(self._untold.popleft())
            finally:
                self._telling.release()

    def shutdown(self) -> None:
        """Halts and retires every node; later ticks raise."""
        with self.lock:
            if self._closed:
                return
            self._closed = True
            if self.watchdog is not None:
                self.watchdog.close()
            retire(self.root, self.context, Halt("engine", "shut down"))
            for change in self.context.requests:
                change.cancel("the run was closed")
            self.context.requests.clear()
        self.context.emit(Ended(self.status, self.count))

    def _ready(self) -> None:
        if self._closed:
            raise BtError("the run was closed", "make a new one: Run(tree)")
        if self.context.ticking:
            raise BtError(
                "the tree is being ticked: a node cannot tick it again",
                "return RUNNING, and go on in the next tick",
            )
        if self.shape.kwargs is None:
            self.setup()
        self._listen()

    # Shape -----------------------------------------------------------------------------------

    def request(self, change: Request) -> Request:
        """Queues a change; it is made between two ticks."""
        if self._closed:
            change.cancel("the run was closed")
            return change
        self.inbox.take(change)
        self.context.wake()
        return change

    def settle(self) -> list[Applied]:
        """Makes the changes that were asked for now, rather than at the next tick; never inside one."""
        with self.lock:
            return [] if self.context.ticking else self.shape.apply()

    @contextmanager
    def between(self) -> Iterator[None]:
        """Blocks ticks inside the `with`; raises when called inside a tick."""
        with self.lock:
            if self.context.ticking:
                raise BtError("the tree is being ticked", "ask for it between two ticks, or from another thread")
            if self._closed:
                raise BtError("the run was closed", "make a new one: Run(tree)")
            self._listen()
            yield

    def standing(self) -> Tick:
        """Returns the whole present state as a Tick for a new listener; later ticks report changes only."""
        with self.lock:
            census = self.shape.counted()
            if census.stale and census.nodes and not self.context.stream.wanted(Tick):
                census.take(self.root)  # without listeners the next tick counts
            shape, nodes = census.whole(self.root), list(census.nodes.values())
            changes = [(node, node.status) for node in nodes if node.status is not INVALID]
            said = [(node, node.feedback_message) for node in nodes if node.feedback_message]
            return Tick(self.count, self.status, math.inf, changes, said=said, shape=shape)

    def stock_tick(self) -> AbstractContextManager[None]:
        """Surrounds a tick that py_trees makes instead of the engine."""
        from bt_runtime.tree.stock_tick import stock_tick

        return stock_tick(self)

    def find(self, path: str) -> Behaviour:
        """Returns the node at this path (of a guarded node its guard); raises Refused when there is none."""
        return self.shape.find(path)

    # Record ----------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Starts or stops recording changes when listeners to ticks come or go."""
        context = self.context
        routes = context.stream.routes
        if routes is self._heard:
            return  # no listener was added or removed
        self._heard = routes
        context.refresh_listeners()
        if not routes[Tick]:
            context.changes = context.halts = None
            context.resets.clear()
            context.said.clear()
        elif context.changes is None or context.halts is None:
            context.changes, context.halts = [], []

    def _recorded(self, status: Status, applied: list[Applied]) -> Tick:
        context = self.context
        faults = context.blackboard.faults
        while faults:
            scope, error = faults.popleft()
            record_crash(self._owner(scope), context, error, strict=False)
        crashes: list[Crash] = []
        if context.crash_count != self._crashes_seen:
            crashes = [c for c in context.crashes if c.number > self._crashes_seen]
            self._crashes_seen = context.crash_count
        slow = [self._slow.popleft() for _ in range(len(self._slow))] if self._slow else []
        self._listen()  # listeners that were added during the tick
        due, deadline, changes, halts = context.due, context.deadline, context.changes, context.halts
        if changes is None or halts is None:
            return Tick(self.count, status, due, [], (), crashes, applied, deadline, slow, [], [])
        told = context.said
        resets = [node for node in context.resets if node.status is INVALID] if context.resets else []
        context.changes, context.halts, context.resets, context.said = [], [], [], {}  # the next tick's
        census = self.shape.census
        shape = None
        if census is not None:
            if census.stale and census.nodes:
                shape = census.take(self.root)
            if census.foreign:
                census.silent(changes, resets, told)
        said = list(told.items()) if told else []
        stops = halts or ()
        return Tick(self.count, status, due, changes, stops, crashes, applied, deadline, slow, resets, said, shape)

    def _owner(self, path: str) -> Behaviour:
        try:
            return self.find(path)
        except BtError:
            return self.root
