"""Working memory grows by a few rows at a time: only those are sent, once the whole is known."""

from __future__ import annotations

from typing import Any

from bt_runtime.journal import codec
from bt_runtime.types import Json

TABLES = ("things", "facts")  # rows whose first two columns say what they are about
NAME = "working_memory"


class Patches:
    """Writes values with `immutable = True`: the whole value once, then only changes."""

    def __init__(self, most: int) -> None:
        self.most = most  # characters of a whole value
        self.before: dict[tuple[str, str], Json] = {}

    def of(self, scope: str, name: str, value: Any) -> dict[str, Json]:
        now = value.to_json()
        change = patch(self.before.get((scope, name)), now)
        self.before[scope, name] = now
        if change is not None:
            return {"scope": scope, "name": name, "patch": codec.plain(change)}
        kept = codec.bounded(codec.plain(now), self.most)
        if not isinstance(kept, dict) or codec.TAG in kept:
            del self.before[scope, name]  # nobody could lay anything over it
        return {"scope": scope, "name": name, "value": kept}

    def forget(self, scope: str, name: str) -> None:
        """Drops the base value, so that the next write stores the whole value."""
        self.before.pop((scope, name), None)


def patch(before: Json, now: Json) -> Json | None:
    """Returns the change that turns `before` into `now`; None when no change can express it."""
    if not _known(before) or not _known(now):
        return None
    rest = {k: v for k, v in now.items() if k not in TABLES}
    changed = {}
    for table in TABLES:
        old, new = _keyed(before[table]), _keyed(now[table])
        if list(old) != list(new)[: len(old)]:
            return None  # something was forgotten: begin anew
        changed[table] = [row for key, row in new.items() if old.get(key) != row]
    return {**rest, **changed}


def patched(before: Json, change: Json) -> Json:
    """A new value; what was there before stays as it was."""
    tables = {t: list({**_keyed(before[t]), **_keyed(change[t])}.values()) for t in TABLES}
    return {**before, **change, **tables}


def _known(value: Json) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(t), list) and all(isinstance(r, list) and len(r) > 2 for r in value[t]) for t in TABLES
    )


def _keyed(rows: Json) -> dict[str, Json]:
    return {f"{row[0]}\0{row[1]}": row for row in rows}
