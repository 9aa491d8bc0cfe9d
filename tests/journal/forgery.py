"""Changes a journal so that its checksums still fit."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from bt_runtime.journal.layout import End, Event, checksum


def rewrite(journal: Path, kind: str, old: str, new: str) -> None:
    """Changes an event, and makes the sums fit: the file is whole, and says something else."""
    connection = sqlite3.connect(journal)
    rows = connection.execute("SELECT seq, tick, at, kind, body FROM events ORDER BY seq").fetchall()
    total, changed = 0, False
    for row in rows:
        event = Event(*row)
        if not changed and event.kind == kind and old in event.body:
            event, changed = event._replace(body=event.body.replace(old, new)), True
        total = checksum(event, total)
        connection.execute("UPDATE events SET body = ?, sum = ? WHERE seq = ?", (event.body, total, event.seq))
    assert changed
    (end,) = connection.execute("SELECT value FROM head WHERE name = 'end'").fetchone()
    whole = End.of(json.loads(end))._replace(sum=total).text()
    connection.execute("UPDATE head SET value = ? WHERE name = 'end'", (whole,))
    connection.commit()
    connection.close()
