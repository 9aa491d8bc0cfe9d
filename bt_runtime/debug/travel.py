"""Going back in a run, as a debugger sees it; `bt_runtime.replay.stepping` does it from the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bt_runtime.faults.diagnostic import BtError

if TYPE_CHECKING:
    from bt_runtime.debug.debugger import Debugger


class Travel(Protocol):
    """Shows a run as it was after an earlier tick, and goes on from there as a fork."""

    shown: Debugger | None  # of the past tick that is looked at
    fork: Debugger | None  # of the fork that was begun there and has not ended

    def to(self, tick: int) -> str:
        """Shows this tick; the last one is the present. Returns what to say."""

    def begin(self, anyway: bool) -> str:
        """Begins the fork. `anyway`: whoever asks has put the outside back."""

    def close(self) -> None:
        """Ends the fork, and forgets the past."""


def travel_of(debugger: Debugger) -> Travel:
    if debugger.travel is None:
        hint = "start it with one; in a program: `with stepping(run)` of bt_runtime.replay.stepping"
        raise BtError("this run has no journal in which it could go back", hint)
    return debugger.travel


def latest(debugger: Debugger) -> Debugger:
    """The debugger of the run that commands change: of the latest fork, or its own."""
    while debugger.travel is not None and debugger.travel.fork is not None:
        debugger = debugger.travel.fork
    return debugger


def shown(debugger: Debugger) -> Debugger:
    """The debugger of what is looked at: of a past tick, or of the run itself."""
    at = debugger.travel.shown if debugger.travel is not None else None
    return at if at is not None else debugger
