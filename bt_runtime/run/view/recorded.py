"""Reads a run's journal as events for the page: a run that has ended, or one that another process is recording."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bt_runtime.agents.recorded.worlds import RecordedWorld
from bt_runtime.journal.codec import WORKING_MEMORY, patched
from bt_runtime.journal.folder import foreign, is_live
from bt_runtime.journal.layout import Event as Entry
from bt_runtime.journal.layout import TickRow, changes_of
from bt_runtime.journal.notes import Note
from bt_runtime.journal.reading import MOST_TOLD, Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import plugins
from bt_runtime.run.view.event import Event, ended, started
from bt_runtime.run.view.feed import Feed, read_lines
from bt_runtime.run.view.plain import clipped
from bt_runtime.run.view.scene import picture
from bt_runtime.run.view.teller import Teller
from bt_runtime.types import Json

# Replays the world of a recorded run beside it, so that the page can show each moment.


class WorldReplay:
    """Replays worlds that are quick and resettable; for others, shows the latest observation."""

    def __init__(self, world: Any = None) -> None:
        self.world = world
        self.last: Json = None

    @classmethod
    def of(cls, head: Mapping[str, Any]) -> WorldReplay:
        about = head.get("world") or {}
        moves = "skill" in about.get("has", ())  # the world is moved by skills, so sentences do not restore it
        if not about or moves or about.get("lasting") or not about.get("instant") or not about.get("suite"):
            return cls()
        try:
            return cls(RecordedWorld(head).open())
        except (BtError, KeyError, TypeError, ValueError):
            return cls()

    def begun(self) -> Json:
        """Returns the picture before the first action."""
        return self._new(picture(self.world)) if self.last is None else None

    def acted(self, sentence: str, value: Any) -> Json:
        if self.world is None:
            return self._new({"is": "text", "text": clipped(_observed(value))})
        try:
            self.world.act(sentence)
        except Exception:
            self.world = None  # it differs from the recording: show nothing rather than a wrong state
            return None
        return self._new(picture(self.world))

    def _new(self, seen: Json) -> Json:
        if seen is None or seen == self.last:
            return None
        self.last = seen
        return seen


def _observed(value: Any) -> str:
    """Returns the text of a recorded observation: `["SUCCESS", {"$": "observation", "v": [text, …]}, …]`"""
    told = value[1] if isinstance(value, list) and len(value) > 1 else value
    if isinstance(told, dict) and told.get("$") == "observation":
        return str(told["v"][0])
    return str(told)


EVERY = 0.05  # seconds between two looks at a journal that is being written


def events_of(path: Path) -> Iterator[Event]:
    """Yields all events of a journal, of a file of events (`.jsonl`), or of another tool's recording that a plugin
    reads (an entry point `bt_runtime.recordings`, named as the file's suffix)."""
    if path.suffix == ".jsonl":
        yield from _lines(path)
        return
    if path.suffix in foreign():
        yield from _reader(path.suffix)(path)
        return
    yield from JournalReader(path).more()


def _reader(suffix: str) -> Callable[[Path], Iterable[Event]]:
    """Returns the function that reads recordings with this suffix. Raises MissingExtra when nothing installed does."""
    entry = plugins.find(suffix[1:], "recordings")
    if entry is None:
        raise Extra("robots", f"reading {suffix}").missing()
    read: Callable[[Path], Iterable[Event]] = plugins.load(entry, "a function that reads a file as events")
    return read


def _lines(path: Path) -> Iterator[Event]:
    try:
        for event in read_lines(path):
            yield {**event, "recorded": True} if event["k"] == "start" else event
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BtError(f"{path} is not a file of events: {error}", "name a run of `btr runs list`") from error


class JournalReader:
    """Reads a journal from its beginning, and then what was added since."""

    def __init__(self, path: Path) -> None:
        self.recording = Recording(path)
        self.live = is_live(path)
        head = self.recording.head
        self.began = float(head.get("started") or 0.0)
        self.teller, self.world_replay = Teller(), WorldReplay.of(head)
        self.wholes: dict[tuple[str, str], Json] = {}  # blackboard entries of which only changes are told
        self.sentences: dict[int, str] = {}  # sentences of actions that have begun
        self.first, self.over, self.said = True, False, ""
        self.told = 0  # characters of texts
        self.asks = 0  # questions to models, counted as `btr view prompt --step` does
        self.choices: dict[str, int] = {}  # node → its latest question with options

    def more(self) -> Iterator[Event]:
        if self.first:
            self.first = False
            recording = self.recording
            yield self._start()
            yield from self.teller.tick(0, 0.0, self._board())
            yield from self._ticks(recording.events, recording.ticks.values())
        else:
            self.live = is_live(self.recording.path)  # asked before reading: what is written until then is read
            yield from self._ticks(*self.recording.more())
        if self.recording.damage != self.said:
            self.said, self.live = self.recording.damage, False
            yield self._warning(f"The journal is damaged, and shown as far as it is whole: {self.said}")
        if not self.live and not self.over:
            self.over = True
            yield self._over()

    def _start(self) -> Event:
        head = self.recording.head
        file, text = head.get("file"), head.get("text", "")
        return started(head["name"], head["tree"], file, text, self.began, recorded=not self.live)

    def _over(self) -> Event:
        recording = self.recording
        result = next((recording.body(e) for e in reversed(recording.events) if e.kind == "result"), {})
        path, why = str(result.get("path", "")), str(result.get("why", ""))
        if not recording.result:
            path, why = "", "it did not end"
        return ended(self.teller.time, recording.result[:1] or "I", recording.verdict or None, path, why)

    def _warning(self, text: str) -> Event:
        return {"k": "line", "t": self.teller.time, "path": "", "level": "warning", "text": text}

    def _board(self) -> Iterator[Note]:
        """Yields the blackboard before the first tick."""
        for part in ("inputs", "board"):
            values = self.recording.head.get(part)
            for name, value in (values if isinstance(values, dict) else {}).items():
                yield self._written("blackboard", {"scope": "", "name": name, "value": value})

    def _ticks(self, entries: Sequence[Entry], rows: Iterable[TickRow]) -> Iterator[Event]:
        told: dict[int, list[Entry]] = {}
        for entry in entries:
            told.setdefault(entry.tick, []).append(entry)
        changed = {row.tick: row for row in rows}
        for tick in sorted({*told, *changed}):
            own, row = told.get(tick, []), changed.get(tick)
            at = row.at if row is not None else own[-1].at if own else self.began
            warnings: list[Event] = []
            notes = [note for entry in own for note in self._notes(entry, warnings)]
            changes = changes_of(row.changes if row is not None else "")
            yield from self.teller.tick(tick, max(0.0, at - self.began), notes, *changes)
            yield from warnings

    def _notes(self, entry: Entry, warnings: list[Event]) -> list[Note]:
        """Returns the events of one journal entry. Only agents' entries may be invalid here: the others were checked
        when the journal was opened."""
        self.told += self.recording.length(entry)
        if self.told > MOST_TOLD:
            return []
        try:
            return list(self._read(entry.kind, self.recording.body(entry)))
        except (KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
            text = f"Entry {entry.seq}, `{visible(entry.kind)}`, cannot be shown: {type(error).__name__}"
            warnings.append(self._warning(text))
            return []

    def _read(self, kind: str, body: dict[str, Any]) -> Iterator[Note]:
        if kind in ("blackboard", "write"):
            yield self._written(kind, body)
        elif kind == "unset":
            for name in body["names"]:
                self.wholes.pop((str(body["scope"]), str(name)), None)
            yield kind, body
        elif kind == "begin":
            self.sentences[body["job"]] = str(body.get("sentence", ""))
            yield "seen", {"picture": self.world_replay.begun()}
        elif kind == "done":
            sentence = self.sentences.pop(body["job"], "")
            if "error" not in body:
                yield "seen", {"picture": self.world_replay.acted(sentence, body.get("value"))}
        elif kind == "world" and body.get("call") == "look":
            yield "seen", {"picture": self.world_replay.begun()}
        elif kind == "ask":
            self.asks += 1
            if body.get("what") != "write":
                self.choices[str(body["path"])] = self.asks
        elif kind == "decision":
            yield kind, {**body, "step": self.choices.get(str(body["path"]), 0)}
        else:
            yield kind, body

    def _written(self, kind: str, body: Mapping[str, Any]) -> Note:
        key = str(body["scope"]), str(body["name"])
        value = patched(self.wholes[key], untagged(body["patch"])) if "patch" in body else untagged(body["value"])
        if key[1] == WORKING_MEMORY:
            self.wholes[key] = value
        return kind, {"scope": key[0], "name": key[1], "value": value, "by": str(body.get("by", ""))}


def untagged(value: Json) -> Json:
    """Replaces the journal's tags for values without a JSON form by readable values."""
    if isinstance(value, list):
        return [untagged(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {k: untagged(v) for k, v in value.items()}
    if value["$"] == "dict":
        return {str(k if isinstance(k, str) else untagged(k)): untagged(v) for k, v in value["v"]}
    return untagged(value["v"])


class JournalFollowing:
    """Feeds what another process writes, from a thread, until the run has ended or `close` is called."""

    def __init__(self, reader: JournalReader, feed: Feed) -> None:
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
                self.feed.put({"k": "line", "t": self.reader.teller.time, "path": "", "level": "error", "text": text})
                break
            if events:
                self.feed.put(*events)
        self.feed.close()


def kept(path: Path, event: Event) -> None:
    """Adds an event to a file that `btr view` reads."""
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(event, separators=(",", ":")) + "\n")
