"""How likely a tree succeeds, from how often its skills did and how long they took: a Markov chain over its states.

A skill runs for a time that is exponentially distributed around its mean, then succeeds with its rate, whatever was
before. Where a tree waits for clocks, or the chain is too large, runs are drawn instead. All entries have their
values: a change of one that no test reads still ticks the tree at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from bt_author.proof.acting import Acting
from bt_author.proof.choices import OK, RUN, Choices, State
from bt_author.proof.explorer import Explorer
from bt_author.proof.options import Options
from bt_author.proof.times import Time
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.nodes import walk
from bt_runtime.language.spec import TreeSpec
from bt_runtime.types import Json

MOST_STATES = 20_000
DRAWS = 4_000  # runs that are drawn where there are clocks
MOST_TICKS = 5_000  # ticks of one drawn run
Z = 1.96  # half-width, in deviations, of a 95 % interval
TIMED = frozenset(("wait", "timeout", "delay", "rate"))


class TooLarge(BtError):
    """The chain of a tree has too many states."""


class Record(NamedTuple):
    """What became of the starts of a skill."""

    succeeded: int = 0
    failed: int = 0
    seconds: float = 0.0  # seconds in all

    @property
    def starts(self) -> int:
        return self.succeeded + self.failed

    @property
    def rate(self) -> float:
        return self.succeeded / self.starts

    @property
    def mean(self) -> float:
        return max(self.seconds / self.starts, 1e-3)

    def bound(self, side: int) -> float:
        """Returns the lower (-1) or upper (1) end of Wilson's interval of the rate."""
        n, p = self.starts, self.rate
        middle = p + Z * Z / (2 * n)
        return min(
            1.0, max(0.0, (middle + side * Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))) / (1 + Z * Z / n))
        )


class Chance(NamedTuple):
    success: float
    low: float  # chance when each skill is as bad as its record allows
    high: float  # … as good
    seconds: float  # expected, until the tree ends
    gains: tuple[tuple[str, float], ...]  # by how much success grows if a skill never failed, the most first
    states: int  # states of the chain; 0: the runs were drawn
    doubts: tuple[str, ...]


class _Drawn(Choices):
    """A tick in which one skill ends (`ender`, by the number of its node), and all others go on."""

    def __init__(self, state: State, prefix: Sequence[int], ender: int, rates: Mapping[str, float]) -> None:
        self.ender, self.rates, self.weight = ender, rates, 1.0
        super().__init__(state, prefix)

    def pick(self, skill: Acting) -> int:
        if not skill.instant and skill.number != self.ender:
            return 0
        ends = [at for at, result in enumerate(skill.results) if result.status != RUN]
        good = [at for at in ends if skill.results[at].status == OK]
        at = ends[self.choose(len(ends))]
        rate = self.rates.get(skill.name, 1.0)
        self.weight *= rate / len(good) if at in good else (1 - rate) / (len(ends) - len(good))
        return at


class Chances:
    """A tree with the records of its skills."""

    def __init__(self, tree: TreeSpec, records: Mapping[str, Record], inputs: Mapping[str, Json] | None = None) -> None:
        self.tree, self.records = tree, records
        given = {name: port.default for name, port in tree.entries.items() if not port.required}
        self.model = Explorer(tree, None, Options({**given, **(inputs or {})}, sample=True, entries=True))
        self.skills = self.model.acting()
        named = {node.name for node in self.skills}
        lacking = sorted(named - {name for name, record in records.items() if record.starts})
        if lacking:
            raise BtError(f"nothing is recorded of {', '.join(lacking)}", "run the tree with a journal first")
        self.large = False
        self.timed = any(spec.kind.name in TIMED for spec in walk(tree))
        if any(spec.kind.asks for spec in walk(tree)):
            raise BtError("the tree asks a model, of which there is no rate", "take a tree of skills")
        board = self.model.board
        for name, values in (*board.outside.items(), *board.awaited.items()):
            self.model.doubt(f"`{name}` stays as it is at first")
            board.root.entries[name] = values[0]
        board.outside, board.awaited = {}, {}  # nobody writes them
        self.start = self.model.first()

    def chance(self, seed: int = 0) -> Chance:
        rates = {name: record.rate for name, record in self.records.items() if record.starts}
        success, seconds, states = self.solved(rates, seed)
        low = self.solved({n: r.bound(-1) for n, r in self.records.items() if r.starts}, seed)[0]
        high = self.solved({n: r.bound(1) for n, r in self.records.items() if r.starts}, seed)[0]
        used = sorted({node.name for node in self.skills})
        gains = [(name, self.solved({**rates, name: 1.0}, seed)[0] - success) for name in used if rates[name] < 1.0]
        gains.sort(key=lambda gain: -gain[1])
        doubts = tuple(self.model.doubts)
        return Chance(success, min(low, high), max(low, high), seconds, tuple(gains), states, doubts)

    def solved(self, rates: Mapping[str, float], seed: int) -> tuple[float, float, int]:
        """Returns how likely the tree succeeds, its expected seconds, and the states of the chain."""
        if not self.timed and not self.large:
            try:
                return self.chain(rates)
            except TooLarge:
                self.large = True
        return self.drawn(rates, seed)

    # The chain -------------------------------------------------------------------------------

    def chain(self, rates: Mapping[str, float]) -> tuple[float, float, int]:
        rows, waits = self.rows(rates)
        success, seconds = _solved(rows, waits)
        return success, seconds, len(rows)

    def rows(self, rates: Mapping[str, float]) -> tuple[list[list[tuple[float, int]]], list[float]]:
        """Returns the chain: for each state the probabilities of the next ones (-1: success, -2: another end), and the
        seconds that it lasts."""
        numbers: dict[State, int] = {}
        rows: list[list[tuple[float, int]]] = []
        waits: list[float] = []
        todo = [self.start]
        numbers[todo[0]] = 0
        while todo:
            if len(numbers) > MOST_STATES:
                raise TooLarge(f"the chain has more than {MOST_STATES:,} states", "take a part of the tree")
            state = todo.pop()
            row: dict[int, float] = {}
            enders, total = self.enders(state)
            for ender, share in enders:
                for weight, status, after in self.ticks(state, ender, rates):
                    if status == RUN and after not in numbers:
                        numbers[after] = len(numbers)
                        todo.append(after)
                    to = numbers[after] if status == RUN else -1 if status == OK else -2
                    row[to] = row.get(to, 0.0) + share * weight
            at = numbers[state]
            while len(rows) <= max(at, len(numbers) - 1):
                rows.append([])
                waits.append(0.0)
            if abs(sum(row.values()) - 1) > 1e-9:
                raise BtError("the tree decides by a value that only a run knows", "give the entry with --set")
            rows[at] = [(p, to) for to, p in row.items() if p > 0]
            waits[at] = 1 / total if total and not state.urgent else 0.0
        return rows, waits

    def enders(self, state: State) -> tuple[list[tuple[int, float]], float]:
        """Returns the running skills, each with how likely it ends next, and the rate at which one does."""
        running = [each for each in self.skills if self.model.ran(state, each.number)]
        if state.urgent or not running:
            return [(-1, 1.0)], 0.0
        speeds = [1 / self.records[each.name].mean for each in running]
        total = sum(speeds)
        return [(each.number, speed / total) for each, speed in zip(running, speeds, strict=True)], total

    def ticks(self, state: State, ender: int, rates: Mapping[str, float]) -> list[tuple[float, int, State]]:
        """Returns the ways in which a tick goes in which this skill ends."""
        drawn = self.model.steps_by(state, lambda state, prefix: _Drawn(state, prefix, ender, rates))
        return [(t.weight, step.status, step.state) for step, t in drawn]

    # Drawn runs ------------------------------------------------------------------------------

    def drawn(self, rates: Mapping[str, float], seed: int) -> tuple[float, float, int]:
        random, good, seconds = Random(seed), 0, 0.0
        for _ in range(DRAWS):
            status, took = self.run(rates, random)
            good += status == OK
            seconds += took
        return good / DRAWS, seconds / DRAWS, 0

    def run(self, rates: Mapping[str, float], random: Random) -> tuple[int, float]:
        """One run with concrete times."""
        model, state, now = self.model, self.start, 0.0
        ends: dict[int, float] = {}  # numbers of running skills → when each ends
        began: dict[int, float] = {}  # clock → tick in which it was started
        for _ in range(MOST_TICKS):
            due = [began[clock] + offset / 1000 for clock, offset in state.armed]
            ender = -1
            if not state.urgent:
                first = min((*ends.values(), *due), default=math.inf)
                if math.isinf(first):
                    return RUN, now
                now = max(now, first)
                ender = next((slot for slot, when in ends.items() if when <= now), -1)
            t = _Timed(state, ender, rates, random, {0: now, **began})
            step = model.tick(t, state)
            if step.status != RUN:
                return step.status, now
            state, began = step.state, {new: t.began[old] for old, new in model.renamed.items()}
            for each in self.skills:
                if not model.ran(state, each.number):
                    ends.pop(each.number, None)
                elif each.number not in ends or each.number in t.fresh:
                    ends[each.number] = now + random.expovariate(1 / self.records[each.name].mean)
        return RUN, now


class _Timed(_Drawn):
    """A tick at a known time; what is open is drawn."""

    def __init__(
        self, state: State, ender: int, rates: Mapping[str, float], random: Random, began: Mapping[int, float]
    ) -> None:
        self.random, self.began = random, began
        super().__init__(state, (), ender, rates)

    def pick(self, skill: Acting) -> int:
        if not skill.instant and skill.number != self.ender:
            return 0
        good = [at for at, result in enumerate(skill.results) if result.status == OK]
        bad = [at for at, result in enumerate(skill.results) if result.status not in (OK, RUN)]
        return self.random.choice(good if self.random.random() < self.rates.get(skill.name, 1.0) else bad)

    def choose(self, count: int) -> int:
        return self.random.randrange(count)

    def pass_time(self, armed: Sequence[tuple[int, int]]) -> None:
        """The time is known."""

    def not_before(self, one: Time, other: Time) -> bool:
        first, second = (self.began[each.clock] + each.offset / 1000 for each in (one, other))
        return first >= second - 1e-9


def _solved(rows: Sequence[Sequence[tuple[float, int]]], waits: Sequence[float]) -> tuple[float, float]:
    """Returns, for the first state, how likely -1 is reached, and the expected time until an end."""
    good, took = [0.0] * len(rows), [0.0] * len(rows)
    for _ in range(100_000):
        most = 0.0
        for at in range(len(rows) - 1, -1, -1):
            own = sum(p for p, to in rows[at] if to == at)
            if own >= 1:
                continue
            win = sum(p * (1.0 if to == -1 else good[to]) for p, to in rows[at] if to not in (-2, at)) / (1 - own)
            time = (waits[at] + sum(p * took[to] for p, to in rows[at] if to >= 0 and to != at)) / (1 - own)
            most = max(most, abs(win - good[at]), abs(time - took[at]) / (1 + abs(time)))
            good[at], took[at] = win, time
        if most < 1e-12:
            break
    return good[0], took[0]


__all__ = ["Chance", "Chances", "Record"]
