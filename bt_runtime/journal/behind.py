"""What a damaged journal can still tell of the run's actions: by its whole rows behind the damage, and by the numbers
of jobs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bt_runtime.journal import opening
from bt_runtime.journal.layout import Event
from bt_runtime.types import Json

OPENING = frozenset({"begin", "ask", "seek", "question", "open", "instant"})  # events that number a job


class Behind(NamedTuple):
    """`careful`: an action that was begun and may not be repeated; "" when no such action is known. `doubt`: why a row
    that cannot be read may have begun one; "" when none can."""

    careful: str = ""
    doubt: str = ""


def behind(connection: sqlite3.Connection, events: Sequence[Event], needed: int) -> Behind:
    """Reads what the rows after `events` tell. `needed`: rows that were written for certain; 0 when nobody knows."""
    later = list(_whole(connection, len(events)))
    there = {event.seq for event in [*events, *(event for event, _ in later)]}
    opened = [(event, json.loads(event.body)) for event in events if event.kind in OPENING]
    opened += [(event, body) for event, body in later if event.kind in OPENING]
    bodies = {event.seq: body for event, body in opened}
    begun = (body for event, body in opened if event.kind == "begin")
    careful = next((str(b.get("sentence")) for b in begun if not may_be_repeated(b)), "")
    missing = next((seq for seq in range(max(needed, *there, 0), 0, -1) if seq not in there), 0)
    if not needed:
        return Behind(careful, "how many events are lost cannot be told")
    if missing and not _all_known(bodies, missing):
        return Behind(careful, f"event {missing} is lost, and may have begun one that may not be repeated")
    return Behind(careful)


def may_be_repeated(begin: dict[str, Json]) -> bool:
    """True of an action that a resume starts again, and of one whose world is built anew."""
    return begin.get("on_resume") == "repeat" or begin.get("lasting") is False


def _all_known(bodies: dict[int, dict[str, Json]], missing: int) -> bool:
    """True when a job that was opened after the missing row has a number that leaves no other job unknown."""
    numbers = {int(body["job"]) for body in bodies.values()}
    later = max((int(body["job"]) for seq, body in bodies.items() if seq > missing), default=0)
    return later > 0 and numbers >= set(range(1, later + 1))


def _whole(connection: sqlite3.Connection, after: int) -> Iterator[tuple[Event, dict[str, Json]]]:
    """Yields the rows whose checksum, which continues that of the row before, fits; and their contents."""
    before: Json = None if after else 0
    try:
        for event, sum in opening.rows(connection, Event, max(after, 1) - 1):
            body = opening.body_of(event, before, sum) if type(before) is int else None
            if body is not None:
                yield event, body
            before = sum
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return  # a page cannot be read: what is behind it is unknown
