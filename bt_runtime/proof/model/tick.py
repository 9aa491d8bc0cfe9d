"""One tick of a model: the changing state, and the choices made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from bt_runtime.proof.zone import Zone

SKIP, RUN, OK, BAD = range(4)  # as a node's status between ticks SKIP means that it shows nothing
WORDS = ("idle", "running", "success", "failure")
UNSET, UNKNOWN, LATER = range(3)  # values of entries: none, any of its type, chosen when it is first read


class State(NamedTuple):
    """The state between two ticks: slots of nodes and entries, clocks, and the time of the next tick."""

    slots: tuple[int, ...]
    zone: Zone
    armed: tuple[int, ...]  # clocks at whose time the next tick comes at the latest
    urgent: bool  # the next tick comes at once


class UnknownValue:
    """Stands for a value that only a run knows."""

    def __repr__(self) -> str:
        return "unknown"

    def __hash__(self) -> int:
        return 7


UNKNOWN_VALUE = UnknownValue()


class Entries(Protocol):
    """The entries of a model by slot, and their values by number."""

    names: dict[int, str]
    values: list[Any]
    kept: dict[int, bool]
    marks: dict[int, list[int]]
    outside: dict[int, tuple[int, ...]]
    inputs: dict[int, tuple[int, ...]]
    holders: list[tuple[int, tuple[str, ...]]]
    wanted: dict[str, int]
    polled: dict[str, int]
    breaks: bool
    ends: list[Any]

    def slot(self) -> int: ...
    def entry(self, path: str, name: str) -> int: ...
    def slots_of(self, path: str, without: frozenset[str]) -> list[int]: ...
    def mark(self, entry: int) -> int: ...
    def count(self, impl: str, sentence: str) -> int: ...
    def number(self, value: Any) -> int: ...
    def doubt(self, text: str) -> None: ...
    def domain(self, field: Any, slot: int) -> tuple[int, ...]: ...


class Tick:
    """Makes choices in order: those of `prefix`, then always the first."""

    __slots__ = (
        "armed",
        "crashed",
        "events",
        "fresh",
        "hint",
        "memo",
        "model",
        "prefix",
        "s",
        "trail",
        "turned",
        "urgent",
        "zone",
    )

    def __init__(self, model: Entries, state: State, prefix: Sequence[int] = (), record: bool = False) -> None:
        self.model = model
        self.s = list(state.slots)
        self.zone = state.zone
        self.prefix = prefix
        self.trail: list[tuple[int, int]] = []  # the choice, out of how many
        self.memo: dict[int, int] = {}  # entries from outside, as this tick sees them
        self.events: list[tuple[Any, ...]] | None = [] if record else None
        self.armed: set[int] = set()
        self.hint = 0  # the status that the part around is wanted to return
        self.turned: dict[int, int] = {}  # choice → its number where nothing is wanted
        self.urgent = False
        self.crashed = 0  # nodes that broke
        self.fresh: set[int] = set()  # clocks, and slots of nodes, that were started in this tick
        if not state.urgent:
            self.pass_time(state.armed)

    def choose(self, count: int) -> int:
        trail = self.trail
        at = len(trail)
        choice = self.prefix[at] if at < len(self.prefix) else 0
        trail.append((choice, count))
        return choice

    def pick(self, skill: Any) -> int:
        """The number of the result that a skill gives now; first that of a story, or which the part
        around is wanted to return."""
        count = len(skill.results)
        at = self.choose(count) if count > 1 else 0
        first = self.model.polled.get(skill.path)
        if first is None and self.hint:
            first = skill.first[self.hint]
        if first is None or count == 1:
            return at
        at = int(at + first) % count
        self.turned[len(self.trail) - 1] = at
        return at

    def raised(self, attempt: Any) -> bool:
        """True when what made a `try` fail is a node that broke: it may be another than that which failed."""
        return bool(self.choose(2))

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

    def state(self) -> State:
        zone = self.zone
        if zone.names:
            s = self.s
            zone = zone.widened({k: s[k] for k in zone.names})
        return State(tuple(self.s), zone, tuple(sorted(self.armed)), self.urgent)

    # Time ------------------------------------------------------------------------------------

    def pass_time(self, armed: tuple[int, ...]) -> None:
        zone = self.zone
        if not zone.names:
            return
        passed: Zone | None = zone.elapsed()
        for clock in armed:
            if clock in zone.names and passed is not None:
                passed = passed.at_most(clock, self.s[clock])
        assert passed is not None  # no time at all is always possible
        self.zone = passed

    def start(self, clock: int, seconds: float) -> None:
        """Starts a clock whose time comes in so many seconds."""
        limit = min(round(seconds * 1000), 1 << 40) if seconds == seconds else 0
        self.stop(clock)
        if limit > 0:
            self.s[clock] = limit
            self.zone = self.zone.started(clock)
            self.fresh.add(clock)
            self.note("start", clock, limit)

    def stop(self, clock: int) -> None:
        self.armed.discard(clock)
        if self.s[clock]:
            self.s[clock] = 0
            self.zone = self.zone.dropped(clock)

    def over(self, clock: int) -> bool:
        """True when this clock's time has come; the clock is stopped then."""
        passed = self.passed(clock)
        if passed:
            self.stop(clock)
        return passed

    def passed(self, clock: int) -> bool:
        """True when this clock's time has come; where both are possible it is a choice."""
        limit = self.s[clock]
        if not limit:
            return True
        zone = self.zone
        late = zone.at_least(clock, limit)
        early = zone.at_most(clock, limit - 1)
        if late is not None and (early is None or self.choose(2)):
            self.zone = late
            self.note("over", clock, limit)
            return True
        assert early is not None
        self.zone = early
        self.note("not over", clock, limit)
        return False

    def wake(self, clock: int) -> None:
        """Schedules the next tick for this clock's time at the latest: at once, if that has come."""
        if not self.s[clock]:
            return
        if self.passed(clock):
            self.urgent = True
        else:
            self.armed.add(clock)

    # Entries ---------------------------------------------------------------------------------

    def read(self, slot: int) -> int:
        """Returns the number of the entry's value."""
        found = self.memo.get(slot)
        if found is not None:
            return found
        found = self.s[slot]
        if slot in self.model.outside:
            found = self.memo[slot] = self.from_outside(slot, found)
        elif found == LATER:
            values = self.model.inputs[slot]
            found = self.s[slot] = values[self.choose(len(values)) if len(values) > 1 else 0]
            self.note("input", self.model.names[slot], self.model.values[found])
        return found

    def from_outside(self, slot: int, before: int) -> int:
        """Returns what an entry from outside holds in this tick. `before`: UNSET when a node has unset it, and nobody
        need have written it since."""
        values = self.model.outside[slot]
        count = len(values) + (before == UNSET)
        at = self.choose(count) if count > 1 else 0
        if at == len(values):
            return UNSET
        self.s[slot] = UNKNOWN
        if values[at] != UNKNOWN:
            self.note("set", self.model.names[slot], self.model.values[values[at]])
        return values[at]

    def write(self, slot: int, value: int) -> None:
        if not self.model.kept[slot] and value != UNSET:
            value = UNKNOWN
        values = self.model.outside.get(slot)
        if values is None:
            before, self.s[slot] = self.s[slot], value
        else:  # it holds until the next tick, before which somebody outside may write again
            before = self.read(slot) if value != UNKNOWN or self.s[slot] == UNSET else UNKNOWN
            self.memo[slot], self.s[slot] = value, UNSET if value == UNSET else UNKNOWN
            self.note("wrote", self.model.names[slot])
        if before != value and before > LATER < value:
            # What was ticked before may see the change at the next tick. One that stands for others may be this value.
            self.urgent = values is None or value in values or bool(self.choose(2)) or self.urgent
        elif (before == UNSET) != (value == UNSET):
            self.urgent = True
        for mark in self.model.marks.get(slot, ()):
            self.s[mark] = 1 if value != UNSET else 0
