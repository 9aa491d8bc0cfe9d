"""Writes a run as an MCAP file for Foxglove and similar viewers, from a journal or live."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bt_robots.recordings.spool import Spool
from bt_runtime.journal.lines import Line, Say
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import disk
from bt_runtime.run.monitor import Access, Monitor

if TYPE_CHECKING:
    from bt_runtime.run.run import Run

CHUNK = 262_144  # bytes of one chunk
EVERY = 1.0  # seconds after which a chunk is closed, however small: what a kill may cost
CODES = {"INVALID": 0, "RUNNING": 1, "SUCCESS": 2, "FAILURE": 3}
LEVELS = {"debug": 1, "info": 2, "warning": 3, "error": 4}


class Topic(NamedTuple):
    schema: str
    fields: Mapping[str, Any]


_TEXT, _WHOLE, _ANY = {"type": "string"}, {"type": "integer"}, {"type": "object"}
_NODE = {"type": "object", "properties": {"path": _TEXT, "status": _TEXT, "code": _WHOLE}}
_SINCE = {"type": "object", "title": "time", "properties": {"sec": _WHOLE, "nsec": _WHOLE}}
TOPICS = {
    "/bt/status": Topic("bt_runtime.Status", {"tick": _WHOLE, "changes": {"type": "array", "items": _NODE}}),
    "/bt/blackboard": Topic("bt_runtime.Entry", {"tick": _WHOLE, "scope": _TEXT, "name": _TEXT, "value": {}}),
    "/bt/nodes": Topic("bt_runtime.Node", {"tick": _WHOLE, "number": _WHOLE, "path": _TEXT, "is": _TEXT}),
    "/bt/events": Topic("bt_runtime.Event", {"tick": _WHOLE, "kind": _TEXT, "what": _ANY}),
    "/bt/log": Topic("foxglove.Log", {
        "timestamp": _SINCE, "level": _WHOLE, "message": _TEXT, "name": _TEXT, "file": _TEXT, "line": _WHOLE,
    }),
}  # fmt: skip


class Message(NamedTuple):
    topic: str
    at: int  # nanoseconds: of the run's own clock when it has one, else since 1970
    said: int  # … since 1970
    body: Mapping[str, Any]


class MessageMaker:
    """Converts lines of a journal to messages. A run with its own clock gives its time."""

    def __init__(self) -> None:
        self.own, self.time, self.said = False, 0.0, 0.0

    def of(self, line: Line) -> Iterator[Message]:
        kind, what = str(line["kind"]), line.get("what") or {}
        self.said = float(line.get("at") or line.get("started") or self.said)
        self.own = self.own or line.get("clock") == "own"
        if line.get("time", line.get("began")) is not None:
            self.time = float(line.get("time", line.get("began")))
        elif kind == "clock":
            self.time = float(what["value"])
        at = round((self.time if self.own else self.said) * 1e9)
        yield from (Message(topic, at, round(self.said * 1e9), body) for topic, body in _bodies(kind, line, what, at))


def _bodies(kind: str, line: Line, what: Mapping[str, Any], at: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    tick = {"tick": line.get("tick", 0)}
    if kind == "clock":
        return
    if kind == "status":
        changes = [{"path": path, "status": status, "code": CODES[status]} for path, status in what["changes"]]
        yield "/bt/status", {**tick, "changes": changes}
    elif kind in ("blackboard", "write"):
        yield "/bt/blackboard", {**tick, **what}
    elif kind == "unset":
        for name in what["names"]:
            yield "/bt/blackboard", {**tick, "scope": what["scope"], "name": name, "value": None, "unset": True}
    elif kind == "node":
        yield "/bt/nodes", {key: value for key, value in line.items() if key != "kind"}
    elif kind == "log":
        since = {"sec": at // 10**9, "nsec": at % 10**9}
        level = LEVELS.get(str(what["level"]), 0)
        told = {"message": str(what["text"]), "name": str(what["path"]), "file": "", "line": 0}
        yield "/bt/log", {"timestamp": since, "level": level, **told}
    else:
        body = what or {key: value for key, value in line.items() if key != "kind"}
        yield "/bt/events", {**tick, "kind": kind, "what": body}


class File:
    """The writer of a file. Flushed parts stay readable when the process dies."""

    def __init__(self, path: Path) -> None:
        with Extra("robot", "an MCAP file"):
            from mcap.writer import Writer
        try:
            self.out = disk.target(path).open("wb")
        except OSError as error:
            raise BtError(f"{path} cannot be written: {error.strerror}", "name another file") from error
        self.told, self.count, self.closed = MessageMaker(), 0, time.monotonic()
        # older writers have no `flush`: what stands in a chunk would be lost with the process
        self.flushes = hasattr(Writer, "flush")
        self.writer: Any = Writer(self.out, chunk_size=CHUNK, use_chunking=self.flushes)
        self.writer.start(profile="", library="bt_runtime")
        self.channels = {topic: self._channel(topic, *about) for topic, about in TOPICS.items()}

    def _channel(self, topic: str, name: str, fields: Mapping[str, Any]) -> int:
        schema = json.dumps({"$schema": _DRAFT, "title": name, "type": "object", "properties": fields}).encode()
        return int(self.writer.register_channel(topic, "json", self.writer.register_schema(name, "jsonschema", schema)))

    def write(self, lines: Iterable[Line]) -> None:
        for line in lines:
            for topic, at, said, body in self.told.of(line):
                self.writer.add_message(self.channels[topic], at, json.dumps(body).encode(), said, self.count)
                self.count += 1

    def flush(self) -> None:
        """Closes a chunk that has been open for long enough."""
        if time.monotonic() - self.closed >= EVERY:
            self.closed = time.monotonic()
            if self.flushes:
                self.writer.flush()
            self.out.flush()

    def close(self) -> None:
        try:
            self.writer.finish()
        finally:
            self.out.close()


_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def write(lines: Iterable[Line], path: Path) -> int:
    """Writes the file; returns the number of messages written."""
    file = File(path)
    try:
        file.write(lines)
    finally:
        file.close()
    return file.count


class Mcap:
    """Follows a run: `run.follow(Mcap(path))`, before its first tick. The file is finished when the run is closed."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def begin(self, line: Line, say: Say) -> None:
        self.file = File(self.path)
        self.spool = Spool(f"the recording {self.path}", self._work, self.file.close)
        self.spool.begin(line, say)

    def take(self, line: Line, size: int) -> None:
        self.spool.take(line, size)

    def close(self) -> None:
        self.spool.close()

    def _work(self, lines: Sequence[Line]) -> None:
        self.file.write(lines)
        self.file.flush()


class Recorded(Monitor):
    about, where, reads_journal = "write an MCAP file, for Foxglove, while it runs", "FILE", True

    def open(self, run: Run, where: str, access: Access) -> AbstractContextManager[object]:
        run.follow(Mcap(where))
        return nullcontext()


MCAP = Recorded()
