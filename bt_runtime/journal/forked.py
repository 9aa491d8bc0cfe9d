"""What the journal of a fork says of the run that it was forked from."""

from __future__ import annotations

from typing import NamedTuple

from bt_runtime.journal.opening import fits
from bt_runtime.types import Json


class Forked(NamedTuple):
    """Where a run was forked from another one."""

    of: str
    tick: int
    decision: int


def forked(told: Json) -> Forked | None:
    """Reads what a journal's head says of it; None for a run that is no fork."""
    if not fits(told, {"of": str, "tick": int, "decision": int}):
        return None
    found = Forked(told["of"], told["tick"], told["decision"])
    return found if found.tick >= 0 else None
