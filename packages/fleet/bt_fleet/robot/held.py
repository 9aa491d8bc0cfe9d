"""What a robot has on its own disk: the tasks that it took, how they stand, and reports that nobody has acknowledged.

One SQLite file. Each change is synced before it counts, so that a robot that is killed knows what it had begun.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_fleet.store import task as tasks
from bt_fleet.store.task import Task
from bt_runtime.agents.backchain.record import expected
from bt_runtime.language.faults.diagnostic import BtError

# CLAIMING is on the disk before the claim is published: a claim of ours without it is that of a life whose disk is lost
PLANNED, CLAIMING, CLAIMED, RUNNING = "planned", "claiming", "claimed", "running"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS held (task TEXT PRIMARY KEY, term INTEGER NOT NULL, state TEXT NOT NULL,"
    " body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS ended (task TEXT PRIMARY KEY, term INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS took (tree TEXT NOT NULL, seconds REAL NOT NULL, success INTEGER NOT NULL)",
)
_BODY = ("policy", "takes", "resume", "ordered", "cancel")
_KEPT = 20  # recorded durations that an estimate is made of


class Own(NamedTuple):
    """A task that the robot has."""

    task: Task
    term: int
    state: str
    policy: str
    takes: float
    resume: tuple[str, int] | None = None  # (robot, term) whose run it continues
    ordered: float = 0.0  # moment of the order, by the coordinator's clock
    cancel: str = ""  # why it is to end, once somebody has cancelled it

    def body(self) -> str:
        return json.dumps({"task": self.task.plain(), **{name: getattr(self, name) for name in _BODY}})


class Held:
    """The file. Used by one thread; another process that opens it is refused."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=1, isolation_level=None, check_same_thread=False)
        run = self._connection.execute
        try:
            run("PRAGMA locking_mode=EXCLUSIVE")
            run("PRAGMA journal_mode=WAL")
            run("PRAGMA synchronous=FULL")
            for table in _TABLES:
                run(table)
            run("PRAGMA user_version=1")
        except sqlite3.OperationalError as error:
            self._connection.close()
            raise BtError(f"{path} cannot be opened: {error}", "does another agent of this robot run?") from error
        self.tasks: dict[str, Own] = {}
        for task, term, state, body in run("SELECT task, term, state, body FROM held"):
            data = json.loads(body)
            resume = data["resume"] and (data["resume"][0], data["resume"][1])
            self.tasks[task] = Own(
                tasks.of(data["task"]),
                term,
                state,
                data["policy"],
                data["takes"],
                resume,
                data["ordered"],
                data.get("cancel", ""),
            )

    def put(self, own: Own, report: Mapping[str, Any] | None = None, synced: bool = True) -> None:
        """Keeps a task as it stands now, and a report on it, both or neither. `synced`: also through a power cut, which
        what the store can tell again need not survive."""
        if not synced:
            self._connection.execute("PRAGMA synchronous=NORMAL")
        try:
            self._put(own, report)
        finally:
            self._connection.execute("PRAGMA synchronous=FULL")
        self.tasks[own.task.id] = own

    def _put(self, own: Own, report: Mapping[str, Any] | None) -> None:
        with self._connection:
            self._connection.execute("BEGIN")
            self._connection.execute("INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?)",
                                     (own.task.id, own.term, own.state, own.body()))  # fmt: skip
            self._say(report)

    def drop(self, task: str, report: Mapping[str, Any] | None = None) -> None:
        """Forgets a task but for its term, and keeps a report on its end, all or nothing."""
        own = self.tasks[task]
        with self._connection:
            self._connection.execute("BEGIN")
            self._connection.execute("DELETE FROM held WHERE task = ?", (task,))
            self._connection.execute("INSERT OR REPLACE INTO ended VALUES (?, ?)", (task, own.term))
            self._say(report)
        del self.tasks[task]

    def ended(self, task: str) -> int:
        """Returns the last term of a task that this robot has ended; 0 for none. An order for it is an old one."""
        row = self._connection.execute("SELECT term FROM ended WHERE task = ?", (task,)).fetchone()
        return int(row[0]) if row else 0

    def _say(self, report: Mapping[str, Any] | None) -> None:
        if report is not None:
            self._connection.execute("INSERT INTO outbox (body) VALUES (?)", (json.dumps(report),))

    def unsent(self, most: int = 64) -> list[tuple[int, dict[str, Any]]]:
        """Returns the oldest reports that nobody has acknowledged, in their order."""
        rows = self._connection.execute("SELECT number, body FROM outbox ORDER BY number LIMIT ?", (most,))
        return [(number, json.loads(body)) for number, body in rows]

    def sent(self, number: int) -> None:
        with self._connection:
            self._connection.execute("DELETE FROM outbox WHERE number <= ?", (number,))

    def took(self, tree: str, seconds: float, success: bool) -> None:
        with self._connection:
            self._connection.execute("INSERT INTO took VALUES (?, ?, ?)", (tree, seconds, int(success)))

    def expected(self, tree: str, otherwise: float) -> float:
        """Returns the seconds that a success of this tree is expected to take, by its latest records. `otherwise`
        stands in for the first few."""
        rows = self._connection.execute(
            "SELECT seconds, success FROM took WHERE tree = ? ORDER BY rowid DESC LIMIT ?", (tree, _KEPT)
        ).fetchall()
        return expected(sum(seconds for seconds, _ in rows), sum(success for _, success in rows), otherwise)

    def close(self) -> None:
        self._connection.close()
