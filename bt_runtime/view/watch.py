"""Turns what a live run does into events. It stands in the tick: it notes what changed, and formats little."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import AGENT_EVENTS, NAMES, AgentEvent, Feedback, Line, Tick, WorldActed, Written, body
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.run import Run
from bt_runtime.tree.clock import RunClock
from bt_runtime.tree.node import path_of
from bt_runtime.types import Json
from bt_runtime.view.event import SIGNS, Event
from bt_runtime.view.feed import Feed
from bt_runtime.view.looker import Looker
from bt_runtime.view.patch import NAME, patch
from bt_runtime.view.plain import MOST_TEXT, clipped, plain, weight
from bt_runtime.view.shape import Shape

MOST_BOARD = 4_000_000  # characters of all values that are shown at once
TOO_MUCH = "… too much to show beside the others"
_STIRS = frozenset({"step", "act"})  # after these the world may look different


class Watch:
    """Attached to a run until `detach`; events go to the feed, at the latest when the tick has ended."""

    def __init__(self, run: Run, feed: Feed) -> None:
        self.run, self.feed = run, feed
        self.shape = Shape()
        clock: Any = run.context.clock
        # a journal's clock writes down who asks: looking on must not
        self.clock: RunClock = getattr(clock, "inner", clock)
        self.began: float = self.clock.now()
        self.lock = threading.RLock()  # for what is noted and not yet told
        self.pending: list[Event] = []
        self.written: dict[tuple[str, str], Any] = {}
        self.board: dict[tuple[str, str], Json] = {}
        self.sizes: dict[tuple[str, str], int] = {}  # of what the board shows
        self.shown = 0  # all of them
        self.prefixes: dict[int, tuple[str, ...]] = {}
        self.goals: dict[int, str] = {}
        self.spent: tuple[int, ...] = ()
        self.said: set[str] = set()  # paths of running skills that have something new to say
        self.stirred = True
        self.ended = False
        self.looker = Looker(run.equipment.world, lambda picture: feed.put(self._event("world", picture=picture)))
        self.undo: list[Callable[[], object]] = []
        self._attach()

    def _attach(self) -> None:
        run, context = self.run, self.run.context
        self.undo += [
            run.listen(self._line, Line),
            run.listen(self._agent, *AGENT_EVENTS),
            run.listen(lambda acted: self.looker.after_act(), WorldActed),
            run.listen(self._written, Written),
            run.listen(lambda said: self.said.add(said.path), Feedback),
            run.listen(self.tick, Tick),
        ]
        spec, wall = run.spec, time.time()
        start = self._event("start", run=run.name, tree=spec.name, file=spec.file, text=clipped(spec.text), wall=wall)
        for path, entries in context.blackboard.snapshot().items():
            self.written.update({(path, name): value for name, value in entries.items()})
        shape = self.shape.survey(run.root)
        begun = {"k": "tick", "n": run.engine.count, "s": self.shape.changes([run.root]), "status": "I"}
        self.feed.put(start, *([{**shape, "t": 0.0}] if shape else []), {**begun, "t": 0.0})
        self._flush_board()
        self._put()
        self.looker.look()

    def detach(self) -> None:
        for undo in self.undo:
            undo()
        self.undo.clear()

    # In the tick -----------------------------------------------------------------------------

    def tick(self, tick: Tick) -> None:
        with self.lock:
            self._tick(tick)
        if self.stirred:
            self.stirred = False
            self.looker.after_tick()

    def _tick(self, tick: Tick) -> None:
        nodes = [*(node for node, _ in tick.changes), *tick.resets]
        grown = bool(tick.grafts) or self.run.engine.nodes != len(self.shape.nodes)
        if grown or any(self.shape.of(n) is None for n in nodes):
            self._reshape(tick)
        for node, why in tick.halts:
            self._note("halt", path=path_of(node), by=why.by, why=why.reason)
        for crash in tick.crashes:
            self._note("crash", path=crash.path, message=clipped(crash.message, 2000))
        changes = self.shape.changes([*nodes, *self._saying()])
        self._minds(nodes)
        self._flush_board()
        if changes or self.pending or not tick.running:
            self._note("tick", n=tick.number, s=changes, status=SIGNS[tick.status])
        self._spending()
        self._put()

    def _saying(self) -> list[Behaviour]:
        found, self.said = self.said, set()
        with suppress(BtError):  # it may just have been replaced
            return [self.run.engine.find(path) for path in found]
        return []

    def _reshape(self, tick: Tick) -> None:
        shape = self.shape.survey(self.run.root)
        if shape is not None:
            grafts = [{"path": g.path, "text": clipped(f"{g.how}\n{g.text}".strip(), 4000)} for g in tick.grafts]
            self.pending.insert(0, {**shape, "t": self._now(), "grafts": grafts})

    def _minds(self, nodes: list[Behaviour]) -> None:
        """Goals of agents that have begun."""
        for node in nodes:
            goal, number = getattr(node, "goal", None), self.shape.of(node)
            if isinstance(goal, str) and goal and number is not None and self.goals.get(number) != goal:
                self.goals[number] = goal
                self._note("agent", id=number, what="goal", goal=clipped(goal, 2000))
            if getattr(node, "sentence", None) is not None:
                self.stirred = True

    def _spending(self) -> None:
        spent = self.run.context.services.spent
        if spent is None:
            return
        now = (spent.decisions, spent.tokens, spent.steps, spent.nodes)
        if now != self.spent:
            self.spent = now
            self._note("spent", decisions=now[0], tokens=now[1], steps=now[2], nodes=now[3])

    # What nodes tell ---------------------------------------------------------------------------

    def _line(self, line: Line) -> None:
        self._note("line", path=line.path, level=line.level, text=clipped(line.text, 4000))

    def _agent(self, event: AgentEvent) -> None:
        name, what = NAMES[type(event)], body(event)
        number = self.shape.paths.get(str(what.get("path", "")))
        if number is None:
            return
        if name == "decision":
            self._prompt(number)
        self.stirred = self.stirred or name in _STIRS
        told = {k: plain(v, MOST_TEXT) for k, v in what.items() if k not in ("path", "id", "what", "k", "t")}
        self.pending.append({**told, "k": "agent", "t": self._now(), "id": number, "what": name})

    def _prompt(self, number: int) -> None:
        """What stands before the steps; the steps are told one by one."""
        node = self.shape.nodes.get(number)
        prompt = getattr(node, "prompt", None)
        if not callable(prompt):
            return
        parts = prompt()
        before = (parts.system, parts.examples, parts.task)
        if self.prefixes.get(number) != before:
            self.prefixes[number] = before
            system, examples, task = (clipped(part) for part in before)
            self._note("agent", id=number, what="prompt", system=system, examples=examples, task=task)

    def _written(self, written: Written) -> None:
        """In any thread. What others write between two ticks is shown at once."""
        with self.lock:
            self.written[written.scope, written.name] = written.value
            if not self.run.context.ticking:
                self._flush_board()
                self._put()

    def _flush_board(self) -> None:
        written, self.written = self.written, {}
        for (scope, name), value in written.items():
            shown = self._fitting((scope, name), plain(value))
            before = self.board.get((scope, name))
            if (scope, name) not in self.board or before != shown:
                self.board[scope, name] = shown
                change = patch(before, shown) if name == NAME else None
                self._note(
                    "write", scope=scope, name=name, **({"value": shown} if change is None else {"patch": change})
                )

    def _fitting(self, key: tuple[str, str], shown: Json) -> Json:
        """All values together have a bound, as each has; what does not fit is said to be too much."""
        size = weight(shown)
        others = self.shown - self.sizes.get(key, 0)
        if others + size > MOST_BOARD:
            shown, size = TOO_MUCH, len(TOO_MUCH)
        self.sizes[key], self.shown = size, others + size
        return shown

    # The end ---------------------------------------------------------------------------------

    def end(self, status: Status, why: str = "") -> None:
        """The run is over: its verdict, and the world as it was left."""
        if self.ended:
            return
        self.ended = True
        self.looker.after_tick()
        verdict = self.run.equipment.verdict()
        judged = [verdict.met, verdict.total] if verdict is not None else None
        self._note("over", status=SIGNS[status], verdict=judged, why=why)
        self._put()

    def _now(self) -> float:
        return round(self.clock.now() - self.began, 6)

    def _event(self, k: str, **what: Json) -> Event:
        return {"k": k, "t": self._now(), **what}

    def _note(self, k: str, **what: Json) -> None:
        self.pending.append(self._event(k, **what))

    def _put(self) -> None:
        events, self.pending = self.pending, []
        if events:
            self.feed.put(*events)
