"""Times of a proof: moments that are known only as so long after the start of a clock. Two are compared by the zone of
what is possible; where both answers are possible, the comparison is a choice."""

from __future__ import annotations

import math
from typing import Any

PAST = -math.inf
LONGEST = 1 << 40  # milliseconds


def milliseconds(seconds: float) -> int:
    return min(round(seconds * 1000), LONGEST) if seconds == seconds and seconds < LONGEST else LONGEST


class Source:
    """The clock of a proof. `choices` is the tick that is at hand."""

    choices: Any  # `Choices`

    def now(self) -> Time:
        return Time(self, 0, 0)


class Time:
    """So many milliseconds after a clock's start; clock 0 starts in the tick at hand."""

    __slots__ = ("clock", "offset", "source")

    def __init__(self, source: Source, clock: int, offset: int) -> None:
        self.source, self.clock, self.offset = source, clock, offset

    def __add__(self, seconds: float) -> Any:
        return seconds if math.isinf(seconds) else Time(self.source, self.clock, self.offset + milliseconds(seconds))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Time):
            return Span(self, other)
        return -other if math.isinf(other) else Time(self.source, self.clock, self.offset - milliseconds(other))

    def __ge__(self, other: Any) -> bool:
        if not isinstance(other, Time):
            return bool(other < 0)  # infinite: there is no other number that is a time
        return bool(self.source.choices.not_before(self, other))

    def __le__(self, other: Any) -> bool:
        return other >= self if isinstance(other, Time) else bool(other > 0)

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Time) and (self.clock, self.offset) == (other.clock, other.offset)

    def __hash__(self) -> int:
        return hash((self.clock, self.offset))

    def __repr__(self) -> str:
        return f"clock {self.clock} + {self.offset} ms"


class Span:
    """The seconds from one time to another."""

    __slots__ = ("since", "to")

    def __init__(self, to: Time, since: Time) -> None:
        self.to, self.since = to, since

    def __ge__(self, seconds: float) -> bool:
        return bool(self.to >= self.since + seconds)

    def __gt__(self, seconds: float) -> bool:
        return bool(self.to > self.since + seconds)

    def __lt__(self, seconds: float) -> bool:
        return not self >= seconds

    def __le__(self, seconds: float) -> bool:
        return not self > seconds
