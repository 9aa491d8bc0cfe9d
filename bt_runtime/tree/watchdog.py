"""Names the node that holds a tick, while it does: a thread samples the ticking thread's stack.

Nodes have no extra cost and a tick sets one attribute: the stack shows the ticked node."""

from __future__ import annotations

import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Protocol

from py_trees.behaviour import Behaviour

from bt_runtime.events import Slow
from bt_runtime.tree.node import path_of

SLOW = 0.5  # seconds that a node may hold the tick before it is named
LOOKS = 5  # times in that span
MOST_FRAMES = 12  # frames of the stack in the message


Tell = Callable[[Slow, bool], None]  # the second says whether it is this node's first


class Ticking(Protocol):
    """The part of the engine that the watchdog uses."""

    count: int
    ticking_in: int
    began: float


class Watchdog:
    """Runs from the first tick until it is closed; `told` is called in its thread."""

    def __init__(self, engine: Ticking, seconds: float, told: Tell) -> None:
        self.seconds = seconds
        self.told = told
        self.counts: dict[str, int] = {}  # ticks that a node held, by its path
        self._engine = weakref.ref(engine)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._tick = 0  # the one that is being looked at
        self._last = 0.0  # moment of the last look
        self._since: dict[int, float] = {}  # node → moment at which this tick was first seen in it
        self._named = False

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="btr-watchdog", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(self.seconds / LOOKS):
            engine = self._engine()
            if engine is None:
                return
            self.look(engine, time.monotonic())
            del engine

    def look(self, engine: Ticking, now: float) -> None:
        """Notes which node is being ticked now."""
        thread, number = engine.ticking_in, engine.count
        frame = sys._current_frames().get(thread) if thread else None
        last, self._last = self._last, now
        if number != self._tick:
            self._tick, self._since, self._named = number, {}, False
        if frame is None:
            return
        nodes = _nodes(frame)
        new = max(engine.began, last)  # a node that lets no other thread run is seen only when it is over
        self._since = {id(node): self._since.get(id(node), new) for node in nodes}
        held = [node for node in nodes if now - self._since[id(node)] >= self.seconds]
        if held and not self._named and engine.ticking_in == thread and engine.count == number:
            self._named = True  # once a tick: what it does next is still this tick
            node = held[-1]
            stack = "".join(traceback.format_stack(frame)[-MOST_FRAMES:])
            self._tell(Slow(path_of(node), now - self._since[id(node)], stack))

    def _tell(self, slow: Slow) -> None:
        first = slow.path not in self.counts
        self.counts[slow.path] = self.counts.get(slow.path, 0) + 1
        self.told(slow, first)


def _nodes(frame: FrameType | None) -> list[Behaviour]:
    """Returns the nodes being stepped, outermost first."""
    found: list[Behaviour] = []
    while frame is not None:
        owner = frame.f_locals.get("self") if "self" in frame.f_code.co_varnames else None
        if frame.f_code.co_name == "tick_once":
            owner = frame.f_locals.get("node")
        if isinstance(owner, Behaviour) and (not found or found[-1] is not owner):
            found.append(owner)
        frame = frame.f_back
    return found[::-1]
