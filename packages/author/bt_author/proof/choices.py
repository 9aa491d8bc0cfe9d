"""The choices of one explored tick: made in order, repeated from a list, and recorded for stories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_author.proof.times import Time
from bt_author.proof.zone import NO_CLOCKS, Zone, elapsed, tightened

SKIP, RUN, OK, BAD = range(4)  # statuses; between ticks SKIP means that a node shows nothing
WORDS = ("idle", "running", "success", "failure")
BREAKS = -1  # the result of a skill that raises


class State(NamedTuple):
    """The state between two ticks. `slots`: for each node and scope the number of what it holds. `armed`: clocks, with
    the time at which the next tick comes at the latest. `timed`: the slots that hold times."""

    slots: tuple[int, ...]
    zone: Zone = NO_CLOCKS
    armed: tuple[tuple[int, int], ...] = ()
    urgent: bool = False  # the next tick comes at once
    timed: tuple[int, ...] = ()


class Choices:
    """Makes choices in order: those of `prefix`, then always the first."""

    def __init__(
        self, state: State, prefix: Sequence[int] = (), record: bool = False, births: Mapping[int, int] = {}
    ) -> None:
        self.zone, self.prefix = state.zone, prefix
        self.trail: list[tuple[int, int]] = []  # the choice, out of how many
        self.events: list[tuple[Any, ...]] | None = [] if record else None
        self.births = births  # clock → tick in which it was started, for stories
        self.armed: set[Time] = set()
        self.urgent = False
        self.wanted: Mapping[str, int] = {}  # path of a steered part → the result that it is to return
        self.polled: Mapping[str, int] = {}  # path of a skill → the number of the result that is tried first
        self.hint = 0  # the status that the part around is wanted to return
        self.turned: dict[int, int] = {}  # choice → its number where nothing is wanted
        self.mismatch = False  # a steered part has returned something else
        self.fresh: set[int] = set()  # slots of nodes that were started in this tick
        if not state.urgent:
            self.pass_time(state.armed)

    def choose(self, count: int) -> int:
        at = len(self.trail)
        choice = self.prefix[at] if at < len(self.prefix) else 0
        self.trail.append((choice, count))
        return choice

    def pick(self, skill: Any) -> int:
        """The number of the result that a skill gives now; first that of a story, or which the part around is wanted
        to return."""
        count = len(skill.results)
        at = self.choose(count) if count > 1 else 0
        first = self.polled.get(skill.path)
        if first is None and self.hint:
            first = skill.first[self.hint]
        if first is None or count == 1:
            return at
        at = int(at + first) % count
        self.turned[len(self.trail) - 1] = at
        return at

    def next(self) -> list[int] | None:
        """Returns the next sequence of choices in order; None after the last."""
        trail = self.trail
        at = len(trail)
        while at and trail[at - 1][0] + 1 == trail[at - 1][1]:
            at -= 1
        return [*(c for c, _ in trail[: at - 1]), trail[at - 1][0] + 1] if at else None

    def note(self, *event: Any) -> None:
        if self.events is not None:
            self.events.append(event)

    # Time ------------------------------------------------------------------------------------

    def pass_time(self, armed: Sequence[tuple[int, int]]) -> None:
        if len(self.zone) == 1:
            return
        passed: Zone | None = elapsed(self.zone)
        for clock, offset in armed:
            if passed is not None:
                passed = tightened(passed, clock, 0, offset)
        assert passed is not None  # no time at all is always possible
        self.zone = passed

    def not_before(self, one: Time, other: Time) -> bool:
        """True when the first time is not before the other; where both are possible it is a choice."""
        i, j, most = one.clock, other.clock, one.offset - other.offset
        if i == j:
            return most >= 0
        yes = tightened(self.zone, i, j, most)
        no = tightened(self.zone, j, i, -most - 1)
        holds = yes is not None and (no is None or bool(self.choose(2)))
        self.zone = yes if holds else no  # type: ignore[assignment]
        if self.events is not None:
            now = self.births[0]
            first, second = self.births.get(i, now), self.births.get(j, now)
            self.note("apart", *((first, second, -most) if holds else (second, first, most + 1)))
        return holds

    def wake(self, when: Any) -> None:
        """Schedules the next tick for this time at the latest: at once, if it has come."""
        if not isinstance(when, Time):
            self.urgent = self.urgent or when == -math.inf
        elif Time(when.source, 0, 0) >= when:
            self.urgent = True
        else:
            self.armed.add(when)
