"""Summarises runs for a list without reading them whole, and selects those old enough to delete."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from bt_runtime.journal import folder, opening, outage
from bt_runtime.journal.layout import End, head_sum
from bt_runtime.journal.store import JournalLimits
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

DAY = 86_400.0
LATEST = 20  # journals that stay, however old they are
SINCE = 1_704_067_200.0  # the beginning of 2024: a clock that showed less was not set
ENDED = ("SUCCESS", "FAILURE")


class Summary(NamedTuple):
    name: str
    tree: str
    state: str  # running, interrupted, SUCCESS, FAILURE, broken, not begun, damaged
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
    empty = Summary(path.stem, "", "not begun", 0, 0, 0, "", 0.0, size, str(path), "it ended while it began")
    if not folder.begun(path):
        return empty
    try:
        with opening.opened(path) as connection:
            return _read(connection, path, size)
    except (sqlite3.Error, ValueError, KeyError, TypeError, OverflowError) as error:
        return empty._replace(state="damaged", why=str(error))
    except BtError as error:
        return empty._replace(state="damaged", why=error.message)


def _read(connection: sqlite3.Connection, path: Path, size: int) -> Summary:
    def one(sql: str) -> Json:
        row = connection.execute(sql).fetchone()
        return row[0] if row is not None else None

    head = opening.head_of(connection)
    if head.get("sum") != head_sum(head):
        raise ValueError("what this journal's run was made of is damaged")
    end = End.of(head.pop("end", None))
    opening.check_head(head)
    counts = dict(connection.execute("SELECT kind, count(*) FROM events GROUP BY kind"))
    judged = one("SELECT body FROM events WHERE kind = 'verdict' ORDER BY seq DESC LIMIT 1")
    verdict = opening.decoded(judged or "null")
    last = connection.execute(
        "SELECT kind, body FROM events WHERE kind IN ('result', 'ask', 'begin', 'halt') ORDER BY seq DESC LIMIT 1"
    ).fetchone()
    ended = opening.status_of(last[1]) if last is not None and last[0] == "result" else ""
    state = "running" if folder.is_live(path) else ended or "interrupted"
    broken: object = outage.marked(path)
    if broken is not None and state != "running":
        state = "broken"
    elif state != "running" and (missing := outage.missing(path, end.events)):
        state, broken = "damaged", missing
    ticks = max(end.tick, one("SELECT max(tick) FROM events") or 0)
    judged = f"{int(verdict['met'])}/{int(verdict['total'])}" if verdict else ""
    return Summary(
        str(head["name"]), str(head["tree"]), state, ticks, counts.get("answer", 0), counts.get("done", 0), judged,
        float(head["started"]), size, str(path), str(broken or ""),
    )  # fmt: skip


def let_old_go(place: Path, limits: JournalLimits) -> list[Path]:
    """Removes runs that ended beyond the age limit, and gives their files; what cannot be removed stays.

    None of a run that can go on, none of the latest, none by the word of a clock that jumped.
    """
    now, there = time.time(), folder.journals(place)
    if not there or clock_jumped(there, now, limits):
        return []
    gone = []
    for path in there[:-LATEST]:
        try:
            if SINCE < folder.touched(path) < now - limits.days * DAY and summary(path).state in ENDED:
                folder.remove(path)
                gone.append(path)
        except (OSError, BtError):
            continue
    return gone


def clock_jumped(there: list[Path], now: float, limits: JournalLimits) -> bool:
    """Returns True when the newest journal is from the future or so old that the clock may be wrong. Then no journal
    is deleted yet."""
    newest = folder.touched(there[-1])
    return newest > now + DAY or newest < now - limits.days * DAY / 3
