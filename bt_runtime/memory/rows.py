"""Reads experiences: filters them, loads what ranking needs, and loads whole ones with their content checked."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.memory.database import broken
from bt_runtime.memory.experience import Experience
from bt_runtime.types import End

_NUMBER = re.compile(r"([0-9]+)")
_TYPES = (*(9 * (str,)), int, float)  # SQLite keeps whatever is put into a cell
_OWN = "e.said, e.text, e.end, e.namespace, e.task, e.kind, e.run, e.place, e.verdict, e.tokens, e.at"
LABELS = "labels:"  # of an experience: its key in `meta`, before its id
COLUMNS = f"{_OWN}, (SELECT value FROM meta WHERE key = '{LABELS}' || e.uid), e.uid"
ALONE = f"{_OWN}, NULL, e.uid"  # for a damaged file, which may have no `meta`


class Filter(NamedTuple):
    """A filter for experiences. None: any."""

    namespace: str | None = None
    verdict: bool | None = None
    exclude_task: str | None = None
    task: str | None = None
    kind: str | None = None
    run: str | None = None
    end: End | None = None
    place: str | None = None

    def where(self) -> tuple[str, list[Any]]:
        tests = {name: value for name, value in self._asdict().items() if value is not None and name != "exclude_task"}
        words = [f"e.{name} = ?" for name in tests]
        values = [*tests.values()]
        if self.exclude_task is not None:
            words.append("e.task <> ?")
            values.append(self.exclude_task)
        return " AND ".join(words) or "1", values


class Row(NamedTuple):
    """The part of an experience that ranking needs."""

    id: int
    goal: int
    uid: str
    end: End


def told(row: Sequence[Any] | None, path: Path) -> Experience:
    """Builds the experience of a row; raises when its content does not match its id."""
    if row is None:
        raise broken(path, "an experience that is listed is not there")
    *values, labels, uid = row
    if tuple(map(type, (uid, *values[:8], values[9], values[10]))) != _TYPES:
        raise broken(path, "an experience has a value of another type")
    said, text, end, namespace, task, kind, run, place, verdict, tokens, at = values
    judged = None if verdict is None else bool(verdict)
    found = Experience(said, text, end, namespace, task, kind, run, place, judged, tokens, at, str(labels or ""))
    if found.uid != uid:
        raise BtError(
            f"{path} is damaged: experience {uid[:12]} no longer has the content it was written with",
            f"remove it: btr memory rm {uid[:12]} --store {path}",
        )
    return found


def eligible(db: sqlite3.Connection, goals: Sequence[int], filter: Filter, more: str = "") -> list[Row]:
    words, values = filter.where()
    found: list[Row] = []
    for at in range(0, len(goals), 1000):
        part = goals[at : at + 1000]
        marks = ",".join("?" * len(part))
        sql = f"SELECT e.id, e.goal, e.uid, e.end FROM experiences e WHERE e.goal IN ({marks}) AND {words}{more}"
        found += map(Row._make, db.execute(sql, (*part, *values)))
    return found


def roots(db: sqlite3.Connection, goals: Sequence[int], filter: Filter) -> list[Row]:
    """Returns each run's root agent, whose path is a prefix of the others' paths."""
    earlier = (
        "SELECT 1 FROM experiences f WHERE f.namespace = e.namespace AND f.task = e.task AND f.run = e.run"
        " AND (f.place, f.id) < (e.place, e.id)"
    )
    return eligible(db, goals, filter, f" AND (e.task || e.run = '' OR NOT EXISTS ({earlier}))")


def allowed(db: sqlite3.Connection, filter: Filter) -> list[int]:
    """The goals that have an experience which passes the filter."""
    words, values = filter.where()
    return [goal for (goal,) in db.execute(f"SELECT DISTINCT e.goal FROM experiences e WHERE {words}", values)]


def by_ids(db: sqlite3.Connection, numbers: Sequence[int], path: Path) -> list[Experience]:
    """Returns experiences in the order of the numbers."""
    marks = ",".join("?" * len(numbers))
    found = {
        row[0]: row[1:]
        for row in db.execute(f"SELECT e.id, {COLUMNS} FROM experiences e WHERE e.id IN ({marks})", numbers)
    }
    return [told(found.get(number), path) for number in numbers]


def whole_task(db: sqlite3.Connection, root: Experience, path: Path) -> list[Experience]:
    """Returns all agents of a root's run, the root first, in tree order."""
    if not root.task and not root.run:
        return [root]
    rows = db.execute(
        f"SELECT {COLUMNS} FROM experiences e WHERE namespace = ? AND task = ? AND run = ? ORDER BY place, id",
        (root.namespace, root.task, root.run),
    ).fetchall()
    return sorted((told(row, path) for row in rows), key=lambda e: (e.uid != root.uid, _steps(e.place)))


def _steps(place: str) -> list[tuple[int, str]]:
    """A sort key for places: child 2 comes before child 10."""
    return [(int(word), "") if word.isdigit() else (0, word) for word in _NUMBER.split(place)]
