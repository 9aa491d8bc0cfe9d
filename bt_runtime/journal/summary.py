"""What a list of runs says of each, without reading it whole."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.journal import folder, mark


class Summary(NamedTuple):
    name: str
    tree: str
    state: str  # running, interrupted, SUCCESS, FAILURE, broken, damaged
    ticks: int
    decisions: int
    actions: int
    verdict: str  # "3/4" conditions met; "" without a world
    started: float
    bytes: int
    path: str
    why: str = ""


def summary(path: Path) -> Summary:
    size = folder.usage(path)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as connection:
            return _read(connection, path, size)
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        return Summary(path.stem, "", "damaged", 0, 0, 0, "", 0.0, size, str(path), str(error))


def _read(connection: sqlite3.Connection, path: Path, size: int) -> Summary:
    def one(sql: str) -> Any:
        row = connection.execute(sql).fetchone()
        return row[0] if row is not None else None

    head = {n: json.loads(v) for n, v in connection.execute("SELECT name, value FROM head")}
    counts = dict(connection.execute("SELECT kind, count(*) FROM events GROUP BY kind"))
    verdict = json.loads(one("SELECT body FROM events WHERE kind = 'verdict' ORDER BY seq DESC LIMIT 1") or "null")
    last = connection.execute(
        "SELECT kind, body FROM events WHERE kind IN ('result', 'ask', 'begin', 'halt') ORDER BY seq DESC LIMIT 1"
    ).fetchone()
    ended = json.loads(last[1])["status"] if last is not None and last[0] == "result" else ""
    state = "running" if folder.is_live(path) else ended or "interrupted"
    broken = mark.read(path)
    if broken is not None and state != "running":
        state = "broken"
    ticks = max(one("SELECT max(tick) FROM ticks") or 0, one("SELECT max(tick) FROM events") or 0)
    judged = f"{verdict['met']}/{verdict['total']}" if verdict else ""
    return Summary(
        str(head["name"]), str(head["tree"]), state, ticks, counts.get("answer", 0), counts.get("done", 0), judged,
        float(head["started"]), size, str(path), str(broken or ""),
    )  # fmt: skip
