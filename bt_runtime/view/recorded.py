"""A run's journal as events for the page: one that has ended, or one that another process is writing now."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.faults.format import visible
from bt_runtime.journal.folder import is_live
from bt_runtime.journal.layout import Event as Entry
from bt_runtime.journal.layout import NodeRow, TickRow
from bt_runtime.journal.reading import MOST_TOLD, Recording
from bt_runtime.view.event import Event
from bt_runtime.view.feed import Feed, read_lines
from bt_runtime.view.grown import Grown
from bt_runtime.view.retold import Retold
from bt_runtime.view.shadow import Shadow

_GRAFTS, _NODES, _ENTRIES, _CHANGES = range(4)  # in this order a tick is told
EVERY = 0.05  # seconds between two looks at a journal that is being written


def events_of(path: Path) -> Iterator[Event]:
    """Everything that a journal says, or a file of events (`.jsonl`)."""
    if path.suffix == ".jsonl":
        yield from _lines(path)
        return
    yield from Reader(path).more()


def _lines(path: Path) -> Iterator[Event]:
    try:
        for event in read_lines(path):
            yield {**event, "recorded": True} if event["k"] == "start" else event
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BtError(f"{path} is no file of events: {error}", "name a run of `btr runs list`") from error


class Reader:
    """Reads a journal from its beginning, and then what was added since."""

    def __init__(self, path: Path) -> None:
        self.recording = Recording(path)
        self.live = is_live(path)
        head = self.recording.head
        self.began = float(head.get("started") or 0.0)
        self.grown = Grown(head)
        self.retold = Retold(self.grown, Shadow.of(head))
        self.first, self.said = True, ""
        self.told = 0  # characters of texts

    def more(self) -> Iterator[Event]:
        if self.first:
            self.first = False
            recording = self.recording
            yield self._start()
            yield from self.retold.board(recording.head)
            ticks = [TickRow(tick, recording.times[tick], told) for tick, told in recording.ticks.items()]
            yield from self._merged(recording.nodes, recording.events, ticks)
        else:
            self.live = is_live(self.recording.path)  # asked before reading: what is written until then is read
            yield from self._merged(*self.recording.more())
        if self.recording.damage != self.said:
            self.said, self.live = self.recording.damage, False
            yield self._warning(f"The journal is damaged, and shown as far as it is whole: {self.said}")
        if not self.live:
            yield from self.retold.over(self.recording)

    def _start(self) -> Event:
        head = self.recording.head
        told = {"run": head["name"], "tree": head["tree"], "file": head.get("file"), "text": head.get("text", "")}
        return {"k": "start", "t": 0.0, **told, "wall": self.began, **({} if self.live else {"recorded": True})}

    def _warning(self, text: str) -> Event:
        return {"k": "line", "t": self.retold.time, "path": "", "level": "warning", "text": text}

    def _merged(self, nodes: Any, entries: Any, ticks: Any) -> Iterator[Event]:
        """Tick by tick: how the tree is, what happened, what changed by it."""
        items: list[tuple[int, int, int, Any]] = [(n.tick, _NODES, i, n) for i, n in enumerate(nodes)]
        items += [(e.tick, _GRAFTS if e.kind == "graft" else _ENTRIES, i, e) for i, e in enumerate(entries)]
        items += [(t.tick, _CHANGES, i, t) for i, t in enumerate(ticks)]
        fresh: list[NodeRow] = []
        told = 0  # the tick that events told of, and that has not been shown yet
        for tick, phase, _, item in sorted(items, key=lambda item: item[:3]):
            if told and tick != told:
                yield from self._tick(told, "")
                told = 0
            if phase == _NODES:
                fresh.append(item)
                continue
            if fresh:
                yield self.grown.take(fresh, self.retold.time, tick)
                fresh = []
            if phase != _CHANGES:
                told = tick
                yield from self._entry(item)
            else:
                told = 0
                self.retold.time = max(0.0, item.at - self.began)
                yield from self._tick(tick, item.changes)
        if told:
            yield from self._tick(told, "")
        if fresh:
            yield self.grown.take(fresh, self.retold.time, fresh[-1].tick)

    def _tick(self, tick: int, changes: str) -> Iterator[Event]:
        if self.grown.grafts:  # of what is there no more
            yield self.grown.take([], self.retold.time, tick)
        yield {"k": "tick", "t": self.retold.time, "n": tick, "s": self.grown.changes(changes)}

    def _entry(self, entry: Entry) -> list[Event]:
        """What one entry tells. The journal's door has seen to what others rely on; agents may say what they like."""
        self.told += self.recording.length(entry)
        if self.told > MOST_TOLD:
            return []
        try:
            return list(self.retold.take(entry.kind, self.recording.body(entry), max(0.0, entry.at - self.began)))
        except (KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
            return [
                self._warning(f"Entry {entry.seq}, `{visible(entry.kind)}`, cannot be shown: {type(error).__name__}")
            ]


class Following:
    """Feeds what another process writes, from a thread, until the run has ended or `close` is called."""

    def __init__(self, reader: Reader, feed: Feed) -> None:
        self.reader, self.feed = reader, feed
        self.over = threading.Event()
        feed.put(*reader.more())
        self.thread = threading.Thread(target=self._follow, name="bt-view-follow", daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.over.set()
        self.thread.join(2)

    def _follow(self) -> None:
        while self.reader.live and not self.over.wait(EVERY):
            try:
                events = list(self.reader.more())
            except (BtError, sqlite3.Error, ValueError, OSError) as error:
                text = f"The journal cannot be read on: {error}"
                self.feed.put({"k": "line", "t": self.reader.retold.time, "path": "", "level": "error", "text": text})
                break
            if events:
                self.feed.put(*events)
        self.feed.close()


def kept(path: Path, event: Event) -> None:
    """Adds an event to a file that `btr view` reads."""
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(event, separators=(",", ":")) + "\n")
