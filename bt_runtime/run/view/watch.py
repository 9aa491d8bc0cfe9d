"""Listens to a live run for its page. The tick only stores events; the viewer's thread converts them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_runtime.events import AGENT_EVENTS, NAMES, AgentEvent, Crash, Line, Tick, Unset, WorldActed, Written, body
from bt_runtime.journal.notes import Note, broken, known, notes, shapes, spending
from bt_runtime.run.run import Run
from bt_runtime.run.view.event import Event, ended, started
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.plain import clipped, plain
from bt_runtime.run.view.teller import Teller
from bt_runtime.run.view.world_watcher import WorldWatcher
from bt_runtime.tree.clock import RunClock
from bt_runtime.tree.describe.blame import blame
from bt_runtime.tree.describe.census import LETTERS, feedback, statuses

MOST_KEPT = 256  # parts of ticks that wait for somebody who looks
_STIRS = ("step", "act")  # after these the world may look different
_GONE = object()
_LASTING = (str, int, float, bool, type(None))


class _Part(NamedTuple):
    """The events of one tick, or those between two ticks."""

    at: float
    number: int
    told: Iterable[AgentEvent | Line | Note]
    tick: Tick | None


class RunWatch:
    """Listens to a run from its creation until `detach`."""

    def __init__(self, run: Run, feed: Feed) -> None:
        self.run, self.feed = run, feed
        self.teller = Teller()
        clock: Any = run.parts.context.clock
        # a journal's clock writes down who asks: looking on must not
        self.clock: RunClock = getattr(clock, "inner", clock)
        self.began: float = self.clock.now()
        self.kept: deque[_Part] = deque()
        self.drawing = threading.Lock()
        self.told: list[AgentEvent | Line | Note] = []  # events and lines of this tick
        self.written: dict[tuple[str, str], Any] = {}  # … the last of each entry
        self.spent: dict[str, int] = {}
        self.stirred = self.ended = False
        self.world_watcher = WorldWatcher(
            run.parts.resources.world, lambda picture: self._keep(("seen", {"picture": picture}))
        )
        self.undo: list[Callable[[], object]] = []
        self._attach()

    def _attach(self) -> None:
        run = self.run
        self.undo += [
            run.listen(self._keep, *AGENT_EVENTS, Line),
            run.listen(lambda acted: self.world_watcher.after_act(), WorldActed),
            run.listen(lambda crash: self._keep(broken(crash)), Crash),
            run.listen(self._written, Written),
            run.listen(self._unset, Unset),
            run.listen(self.tick, Tick),
            self.feed.filled(self.draw),
        ]
        spec = run.parts.tree.spec
        self.feed.put(
            started(run.parts.name, spec.name, spec.file, clipped(spec.text), time.time(), kinds=spec.registry)
        )
        board = run.parts.context.blackboard.snapshot()
        told = [
            ("blackboard", {"scope": path, "name": n, "value": v})
            for path, own in board.items()
            for n, v in own.items()
        ]
        standing = run.parts.engine.standing()
        self.kept.appendleft(_Part(0.0, standing.number, told, standing))
        self.draw()
        if not standing.number:
            self.feed.put({"k": "tick", "t": 0.0, "n": 0, "s": []})  # the time line begins before the first tick
        self.world_watcher.look()

    def detach(self) -> None:
        for undo in self.undo:
            undo()
        self.undo.clear()

    # While it runs ---------------------------------------------------------------------------

    def tick(self, tick: Tick) -> None:
        for node, _ in tick.changes:
            if getattr(node, "sentence", None) is not None:  # a plan's own action
                self.stirred = True
        if self.stirred:
            self.stirred = False
            self.world_watcher.after_tick()
        if self.feed.readers and self.run.parts.resources.world is None:
            self.world_watcher.glance(self.run.parts.context.services.scene)
        spent = spending(self.run.parts.context)
        if spent != self.spent:
            self.spent = spent
            self.told.append(("spent", spent))
        for (scope, name), value in self.written.items():
            self.told.append(_gone(scope, name) if value is _GONE else _write(scope, name, value))
        told, self.told, self.written = self.told, [], {}
        if told or tick.changes or tick.resets or tick.said or tick.shape or tick.halts or tick.crashes:
            self._part(_Part(self._now(), tick.number, told, tick))

    def _keep(self, told: Any) -> None:
        """Stores an event, in any thread. Events between two ticks are shown at once."""
        if self._inside():
            self.told.append(told)
            self.stirred = self.stirred or NAMES.get(type(told)) in _STIRS
        else:
            self._part(_Part(self._now(), self.run.parts.engine.count, [told], None))

    def _written(self, written: Written) -> None:
        scope, name, value, _, by = written
        if self._inside():
            self.written[scope, name] = value
            return
        context = self.run.parts.context
        own = context.halting.by and context.halting_in == threading.get_ident()  # a node's that is being halted
        kind, told = _write(scope, name, value)
        self._keep((kind, told) if own else ("write", {**told, "by": by}))

    def _unset(self, unset: Unset) -> None:
        if self._inside():
            self.written.update(((unset.scope, name), _GONE) for name in unset.names)
        else:
            self._keep(("unset", {"scope": unset.scope, "names": list(unset.names)}))

    def _inside(self) -> bool:
        context = self.run.parts.context
        return context.ticking and context.blackboard.ticked_here()

    def _part(self, part: _Part) -> None:
        self.kept.append(part)
        if len(self.kept) > MOST_KEPT:
            self.draw()
        self.feed.stir()

    # For those who look ----------------------------------------------------------------------

    def draw(self) -> None:
        """Converts the stored events, in the viewer's thread."""
        with self.drawing, suppress(IndexError):
            while True:
                self.feed.put(*self._events(self.kept.popleft()))

    def _events(self, part: _Part) -> list[Event]:
        told = [_note(each) for each in part.told]
        if part.tick is None:
            return self.teller.tick(part.number, part.at, told)
        if part.tick.shape is not None:
            facts = [("facts", {**make(), **text}) for text, make in known(part.tick.shape)]
            told = [*shapes(part.tick.shape), *facts, *told]
        told += notes(part.tick)
        return self.teller.tick(part.number, part.at, told, statuses(part.tick), feedback(part.tick))

    def end(self, status: Status, why: str = "") -> None:
        """Shows the run's end: its result, and the final state of the world."""
        if self.ended:
            return
        self.ended = True
        self.world_watcher.after_tick()
        if self.world_watcher.again:
            self.world_watcher.look()
        self.draw()
        verdict = self.run.parts.resources.verdict()
        judged = (verdict.met, verdict.total) if verdict is not None else None
        path, why = blame(self.run.parts.engine.root) if status is Status.FAILURE else ("", why)
        self.feed.put(ended(self._now(), LETTERS[status], judged, path, why))

    def _now(self) -> float:
        return round(self.clock.now() - self.began, 6)


def _note(told: Any) -> Note:
    if isinstance(told, Line):
        return "log", told._asdict()
    name = NAMES.get(type(told))
    return (name, body(told)) if name is not None else (told[0], told[1])


def _gone(scope: str, name: str) -> Note:
    return "unset", {"scope": scope, "names": [name]}


def _write(scope: str, name: str, value: Any) -> Note:
    """Stores the value as it is now; later changes to it do not show."""
    lasts = type(value) in _LASTING or getattr(value, "immutable", False) is True
    return "blackboard", {"scope": scope, "name": name, "value": value if lasts else plain(value)}
