"""What is the same in two states although it has another name: clocks, and counts of starts."""

from __future__ import annotations

from typing import Any

from bt_author.proof.choices import Choices
from bt_author.proof.times import PAST, Source, Time
from bt_author.proof.zone import Zone, chosen, widened
from bt_runtime.tree.context import Context


class ClockRenaming:
    """The clocks of the next tick: those that something still holds, in the order in which they are met."""

    def __init__(self, source: Source, t: Choices) -> None:
        self.source, self.t = source, t
        self.armed = {when.clock for when in t.armed}
        self.places: dict[int, int] = {}  # clock of this tick → of the next
        self.limits: dict[int, int] = {}
        self.waited = False  # was a time met for whose clock this tick has waited

    def move(self, time: Time) -> Any:
        zone = self.t.zone
        if time.offset > 0 and -zone[0][time.clock] >= time.offset:
            return PAST
        self.waited = self.waited or (time.clock != 0 and time.clock in self.armed)
        new = self.places.setdefault(time.clock, len(self.places) + 1)
        self.limits[new] = max(self.limits.get(new, 0), time.offset)
        return Time(self.source, new, time.offset)

    def zone(self) -> Zone:
        return widened(chosen(self.t.zone, list(self.places)), self.limits)


class Starts:
    """How often the skills were started that may be started so often only."""

    STATE = ("counts",)

    def __init__(self, context: Context) -> None:
        self.context = context

    @property
    def counts(self) -> dict[Any, int]:
        return {key: count for key, count in self.context.services.starts.items() if count}

    @counts.setter
    def counts(self, counts: dict[Any, int]) -> None:
        self.context.services.starts.clear()
        self.context.services.starts.update(counts)
