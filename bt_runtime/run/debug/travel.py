"""Going back in a run, as a debugger sees it; `bt_runtime.run.replay.stepping` does it from the journal."""

from __future__ import annotations

from typing import Any, Protocol


class Travel(Protocol):
    """Shows a run as it was after an earlier tick, and goes on from there as a fork."""

    @property
    def shown(self) -> Any:
        """Returns the debugger of the past tick that is looked at, or None."""

    fork: Any  # the debugger of the fork that was begun there and has not ended, or None

    def to(self, tick: int) -> str:
        """Shows this tick; the last one is the present. Returns what to say."""

    def begin(self, anyway: bool) -> str:
        """Begins the fork. `anyway`: whoever asks has put the outside back."""

    def close(self) -> None:
        """Ends the fork, and forgets the past."""
