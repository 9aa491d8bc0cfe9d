"""The state that a tree's nodes share with the engine."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_runtime.events import Crash, Event, Halt, SkillEnded, Woken
from bt_runtime.skills.loop import Loop
from bt_runtime.skills.resources import ResourceLocks
from bt_runtime.tree.blackboard import Blackboard
from bt_runtime.tree.clock import Monotonic, RunClock, steady
from bt_runtime.tree.gates import Gates
from bt_runtime.tree.request import Grower, Request
from bt_runtime.tree.services import Services
from bt_runtime.tree.stream import Stream

if TYPE_CHECKING:
    from py_trees.behaviour import Behaviour

    from bt_runtime.language.spec import TreeSpec
    from bt_runtime.tree.budget import Spending
    from bt_runtime.tree.services import Actor
    from bt_runtime.types import World


POLL = 0.02  # seconds between two looks at something that cannot say when it has finished
_WOKEN, _NEWS = Woken(), Woken(job=False)


class Context:
    """The state shared by a tree's nodes. The tick writes its results here; the engine reads them between ticks."""

    growth: Grower  # how the tree grows while it runs; of its engine
    stock_tick: Callable[[], AbstractContextManager[None]]  # surrounds a tick of py_trees; of its engine

    def __init__(self, clock: RunClock | None = None, strict: bool = False) -> None:
        self.clock: RunClock = steady(clock or Monotonic())
        self.strict = strict
        self.stream = Stream()  # the run's events
        self.tree: TreeSpec | None = None  # the tree that the nodes were built from
        self.blackboard = Blackboard(self.stream)
        self.services = Services()
        self.changes: list[tuple[Behaviour, Status]] | None = None  # filled when somebody listens
        self.resets: list[Behaviour] = []  # … and with it
        self.said: dict[Behaviour, str] = {}  # … what nodes now say of themselves
        self.visits: list[Behaviour] | None = None  # filled when somebody visits
        self.halts: list[tuple[Behaviour, Halt]] | None = None
        self.crashes: deque[Crash] = deque(maxlen=256)  # the latest
        self.crash_count = 0
        self.gates = Gates(self.stream.changed)  # before ticks, and before the starts of actions
        self.loop = Loop()  # the event loop of async skills
        self.resources = ResourceLocks()  # locks of what skills use, held until they have stopped
        self.leaving = ExitStack()  # closes with the run what nodes opened for all of it
        self.halting = Halt("", "")  # reason, while nodes are being halted
        self.halted, self.halting_in = 0, 0  # how often a part of the tree was halted or reset; in which thread
        self.requests: deque[Request] = deque()  # changes of shape, applied between ticks
        self.ticking = False
        self.restless: Behaviour | None = None  # the node that last asked for a tick at once
        self.foreign = self.polled = False  # a node is not ours; one was polled that cannot say when it ends
        self.due = self.deadline = math.inf  # when a node wants a tick; when it must have one, whatever the rate

    @property
    def whole(self) -> Context:
        """Returns the whole tree's context."""
        return self

    observed = True  # may a gate or a listener wait for starts of actions

    def refresh_listeners(self) -> None:
        """Notes, before a tick, whether actions are gated or listened to."""
        self.observed = bool(self.gates.starts) or self.stream.wanted(SkillEnded)

    def emit(self, event: Event) -> None:
        """Sends an event to its listeners. Callable from any thread."""
        self.stream.emit(event)

    def wake(self) -> None:
        """Wakes a sleeping runner to tick. Callable from any thread."""
        self.stream.emit(_WOKEN)

    def news(self) -> None:
        """Reports news other than a job's end; at a fixed rate, a runner waits for its next deadline."""
        self.stream.emit(_NEWS)

    def tick_soon(self, by: Behaviour | None = None) -> None:
        """Requests another tick at once."""
        self.due, self.restless = -math.inf, by

    def wake_at(self, when: float) -> None:
        if when < self.due:
            self.due = when

    def poll_again(self) -> None:
        """Requests a tick soon, to poll an activity that cannot report its end."""
        if not self.polled:  # a node polled later in this tick is due no earlier
            self.polled = True
            self.wake_at(self.clock.now() + POLL)

    def must_wake_at(self, when: float) -> None:
        self.wake_at(when)
        if when < self.deadline:
            self.deadline = when


class ScopedContext(Context):
    """The context below an episode: its services shadow the tree's; everything else is the tree's."""

    outer: Context

    def __init__(self, outer: Context) -> None:
        vars(self).update(outer=outer, services=outer.services.of_episode())

    def serve(self, world: World | None = None, memory: Actor | None = None, spent: Spending | None = None) -> None:
        """Begins a new episode with the task's own services; all others are the tree's."""
        vars(self)["services"] = self.outer.services.of_episode(world, memory, spent)

    @property
    def whole(self) -> Context:
        return self.outer.whole

    @property
    def observed(self) -> bool:  # type: ignore[override]
        return self.outer.observed

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["outer"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["outer"], name, value)
