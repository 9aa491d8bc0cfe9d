"""A run's journal as events for the page: one that has ended, or one that another process is writing now."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from bt_runtime.diagnose import BtError
from bt_runtime.journal.folder import is_live
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.store import Event as Entry
from bt_runtime.journal.store import NodeRow
from bt_runtime.journal.texts import Piece
from bt_runtime.view.event import Event
from bt_runtime.view.feed import Feed, read_lines
from bt_runtime.view.grown import Grown
from bt_runtime.view.retold import Retold
from bt_runtime.view.shadow import Shadow

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
        self.first = True

    def more(self) -> Iterator[Event]:
        if self.first:
            self.first = False
            recording = self.recording
            yield self._start()
            self.at = (len(recording.events), max(recording.ticks, default=0), len(recording.nodes))
            ticks = [(tick, recording.times[tick], told) for tick, told in recording.ticks.items()]
            yield from self._merged(recording.nodes, recording.events, ticks)
            if recording.damage:
                text = f"The journal is damaged, and shown as far as it is whole: {recording.damage}"
                yield {"k": "line", "t": self.retold.time, "path": "", "level": "warning", "text": text}
        else:
            yield from self._merged(*self._added())
        if not self.live:
            yield from self.retold.over(self.recording)

    def _start(self) -> Event:
        head = self.recording.head
        told = {"run": head["name"], "tree": head["tree"], "file": head.get("file"), "text": head.get("text", "")}
        return {"k": "start", "t": 0.0, **told, "wall": self.began, **({} if self.live else {"recorded": True})}

    def _merged(self, nodes: Any, entries: Any, ticks: Any) -> Iterator[Event]:
        """Tick by tick: how the tree is, what happened, what changed by it."""
        items: list[tuple[int, int, int, Any]] = [(n.tick, 0, i, n) for i, n in enumerate(nodes)]
        items += [(e.tick, 1, i, e) for i, e in enumerate(entries)]
        items += [(t[0], 2, i, t) for i, t in enumerate(ticks)]
        fresh: list[NodeRow] = []
        told = 0  # the tick that events told of, and that has not been shown yet
        for tick, phase, _, item in sorted(items, key=lambda item: item[:3]):
            if told and (tick, phase) != (told, 1):
                if (tick, phase) != (told, 2):
                    yield self._tick(told, "")
                told = 0
            if phase == 0:
                fresh.append(item)
                continue
            if fresh:
                yield self.grown.take(fresh, self.retold.time, tick)
                fresh = []
            if phase == 1:
                told = tick
                body = self._body(item)
                if body is not None:
                    yield from self.retold.take(item.kind, body, max(0.0, item.at - self.began))
            else:
                self.retold.time = max(0.0, item[1] - self.began)
                yield self._tick(tick, item[2])
        if told:
            yield self._tick(told, "")
        if fresh:
            yield self.grown.take(fresh, self.retold.time, fresh[-1].tick)

    def _tick(self, tick: int, changes: str) -> Event:
        return {"k": "tick", "t": self.retold.time, "n": tick, "s": self.grown.changes(changes)}

    def _body(self, entry: Entry) -> dict[str, Any] | None:
        try:
            return self.recording.body(entry)
        except (KeyError, ValueError):
            return None  # a text it needs is missing

    def _added(self) -> tuple[list[NodeRow], list[Entry], list[tuple[int, float, str]]]:
        """Read in one transaction, so that nothing is seen half."""
        recording, (seq, tick, node) = self.recording, self.at
        self.live = is_live(recording.path)  # asked before reading: what is written until then is read
        with closing(sqlite3.connect(f"{recording.path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            run = connection.execute
            run("BEGIN")
            last = max(recording.pieces, default=0)
            for *row, _ in run("SELECT id, parent, keep, rest, sum FROM texts WHERE id > ? ORDER BY id", (last,)):
                piece = Piece(*row)
                recording.pieces[piece.id] = piece
                before = recording.texts.get(piece.parent, "") if piece.parent else ""
                recording.texts[piece.id] = before[: piece.keep] + piece.rest
            entries = [Entry(*row[:5]) for row in run("SELECT * FROM events WHERE seq > ? ORDER BY seq", (seq,))]
            ticks = [
                tuple(row) for row in run("SELECT tick, at, changes FROM ticks WHERE tick > ? ORDER BY tick", (tick,))
            ]
            nodes = [NodeRow(*row) for row in run("SELECT * FROM nodes WHERE number > ? ORDER BY number", (node,))]
        recording.events += entries
        latest = ticks[-1][0] if ticks else tick
        self.at = (entries[-1].seq if entries else seq, latest, nodes[-1].number if nodes else node)
        return nodes, entries, ticks


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
            except (sqlite3.Error, ValueError, OSError) as error:
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
