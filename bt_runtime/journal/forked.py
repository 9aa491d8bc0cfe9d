"""What the journal of a fork says of the run that it was forked from."""

from __future__ import annotations

from typing import NamedTuple


class Forked(NamedTuple):
    """Where a run was forked from another one."""

    of: str
    tick: int
    decision: int


def forked(told: object) -> Forked | None:
    """Reads what a journal's head says of it; None for a run that is no fork."""
    if not isinstance(told, dict):
        return None
    of, tick, decision = told.get("of"), told.get("tick"), told.get("decision")
    if not isinstance(of, str) or type(tick) is not int or type(decision) is not int or tick < 0:
        return None
    return Forked(of, tick, decision)
