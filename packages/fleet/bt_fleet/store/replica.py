"""The journal of a run, copied to the store while the run goes on: rows that are new, and a file made of them again.

Each piece is one moment of the journal, as a power cut would have left it. A piece that comes twice changes nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from bt_fleet.server.forms import PIECE
from bt_fleet.server.messages import read
from bt_runtime.language.faults.diagnostic import BtError

_KEYS = {"events": "seq", "ticks": "tick", "nodes": "number", "texts": "id"}
_LARGEST = 2**20  # bytes of one message
Row = list[Any]


class Source:
    """A journal that somebody writes. `pieces` yields what came since the last call."""

    def __init__(self) -> None:
        self._last = dict.fromkeys(_KEYS, -1)
        self._head: dict[str, str] = {}

    def pieces(self, path: Path, sure: bool = False) -> Iterator[bytes]:
        """Yields messages; the last one of a moment says that it is whole. Nothing while the file cannot be read;
        `sure`: BtError then."""
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0.2)) as connection:
                connection.execute("BEGIN")
                rows, last = self._new(connection)
                head = {name: value for name, value in connection.execute("SELECT name, value FROM head")
                        if self._head.get(name) != value}  # fmt: skip
        except sqlite3.Error as error:
            if sure:
                raise BtError(f"{path} cannot be read: {error}", "it is tried again") from error
            return
        if not head and not any(rows.values()):
            return
        part: dict[str, list[Row]] = {}
        size = 0
        for table, each in ((table, row) for table, of in rows.items() for row in of):
            part.setdefault(table, []).append(each)
            size += sum(len(value) if isinstance(value, str) else 8 for value in each)
            if size > _LARGEST:
                yield _message({"rows": part})
                part, size = {}, 0
        yield _message({"rows": part, "head": head, "whole": True})
        self._last, self._head = last, {**self._head, **head}

    def _new(self, connection: sqlite3.Connection) -> tuple[dict[str, list[Row]], dict[str, int]]:
        """Returns new rows of each table. The latest tick may have grown, so it comes again with those after it."""
        rows, last = {}, dict(self._last)
        for table, key in _KEYS.items():
            after = last[table] - (table == "ticks")
            found = connection.execute(f"SELECT * FROM {table} WHERE {key} > ? ORDER BY {key}", (after,))
            rows[table] = [list(row) for row in found]
            if rows[table]:
                last[table] = rows[table][-1][0]
        if [row[0] for row in rows["ticks"]] == [self._last["ticks"]] and not rows["events"]:
            rows["ticks"] = []
        return rows, last


def _message(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def _piece(message: bytes) -> dict[str, Any]:
    """Reads one piece; Malformed for what is none."""
    found: dict[str, Any] = read(PIECE, message)
    return found


def restored(messages: Iterable[bytes], path: Path) -> Path:
    """Writes the journal as the last whole moment left it; BtError when no moment is whole."""
    if not Restoring(path).add(messages):
        raise BtError("of this run nothing has reached the store", "run it anew")
    return path


class Restoring:
    """A journal that is made of its pieces, as they come."""

    def __init__(self, path: Path, read: bool = False) -> None:
        """`read`: somebody reads it meanwhile, as a journal that a run writes."""
        self.path, self.read = path, read
        self._moment: list[dict[str, Any]] = []  # rows of a moment that is not whole yet
        self._end: Any = None
        path.unlink(missing_ok=True)

    def add(self, messages: Iterable[bytes]) -> bool:
        """Writes what is whole; False while nothing is."""
        whole: list[dict[str, Any]] = []
        for message in messages:
            self._moment.append(_piece(message))
            if self._moment[-1].get("whole"):
                whole, self._moment = [*whole, *self._moment], []
        if whole:
            try:
                with closing(sqlite3.connect(self.path, isolation_level=None)) as made:
                    self._write(made, whole)
            except (sqlite3.Error, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                raise BtError(f"what the store has of this run is no journal: {error!s:.200}", "run it anew") from error
        return self._end is not None

    def _write(self, made: sqlite3.Connection, whole: list[dict[str, Any]]) -> None:
        from bt_runtime.journal.layout import FORMAT, MARK, TABLES, End

        if self._end is None:
            if self.read:
                made.execute("PRAGMA journal_mode=WAL")
            made.execute(f"PRAGMA application_id={MARK}")
            made.execute(f"PRAGMA user_version={FORMAT}")
        made.execute("BEGIN")
        if self._end is None:
            for statement in TABLES.values():
                made.execute(statement)
        ends: list[End] = [self._end] if self._end is not None else []  # pieces that come again tell of an earlier one
        for body in whole:
            for table in _KEYS:
                for row in body.get("rows", {}).get(table, ()):
                    made.execute(f"INSERT OR REPLACE INTO {table} VALUES ({','.join('?' * len(row))})", row)
            head = body.get("head", {})
            if "end" in head:
                ends.append(End.of(json.loads(head["end"])))
            made.executemany("INSERT OR REPLACE INTO head VALUES (?, ?)", head.items())
        self._end = max(ends, key=lambda each: (each.events, each.tick, each.nodes))._replace(open=0)
        made.execute("UPDATE head SET value = ? WHERE name = 'end'", (self._end.text(),))
        made.execute("COMMIT")
