"""The clock of a `within`, for runs and for proofs: what it counts by is a number, or a time of a proof."""

from __future__ import annotations

from typing import Any


class Within:
    """Starts when the atoms `start` hold, or at the beginning, and stops when `to` holds. Both are bits of atoms."""

    STATE = ("begun", "due")

    def __init__(self, to: int, start: int, seconds: float) -> None:
        self.to, self.start, self.seconds = to, start, seconds
        self.begun = False  # a tick has been observed
        self.due: Any = None  # the time at which it is late; None: it does not count

    def late(self, now: Any, bits: int, over: bool) -> bool:
        """Looks at the atoms after a tick. `over`: no other tick will come."""
        if bits & self.to:
            self.due = None
        elif self.due is None and (bits & self.start if self.start else not self.begun):
            self.due = now + self.seconds
        self.begun = True
        return self.due is not None and (over or bool(now >= self.due - 1e-9))
