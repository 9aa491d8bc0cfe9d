"""What an action or a task is expected to take, by how it went before: one formula for plans and for a fleet's bids."""

from __future__ import annotations

from typing import NamedTuple


def expected(seconds: float, succeeded: int, takes: float) -> float:
    """Returns the seconds that a success is expected to take: those of all attempts over the successes. `takes`, the
    manifest's figure, counts as one more success, and stands in for the first few records."""
    return (seconds + takes) / (succeeded + 1)


class Record(NamedTuple):
    """The recorded actions of one skill that came to an end."""

    seconds: float = 0.0
    ended: int = 0
    succeeded: int = 0

    def cost(self, takes: float) -> float:
        return expected(self.seconds, self.succeeded, takes)

    def __str__(self) -> str:
        return f"{self.succeeded} of {self.ended} succeeded, {self.seconds / self.ended:.3g} s each"
