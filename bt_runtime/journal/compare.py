"""Finds where two runs diverge: their components, and the first differing status or answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from bt_runtime.journal.reading import Recording
from bt_runtime.types import Json

T = TypeVar("T")
NOTHING = "nothing more"
_MADE_OF = ("digest", "inputs", "seed", "model", "budget", "versions")
_SHOWN = ("decision", "step", "expand", "done", "write", "halt", "graft", "result", "verdict")


class RunDifference(NamedTuple):
    """A difference in one line; `tick`: where the runs part, None for what they were made of."""

    text: str
    tick: int | None = None

    def __str__(self) -> str:
        return f"tick {self.tick}: {self.text}" if self.tick is not None else self.text


def differences(a: Recording, b: Recording, until: float = math.inf) -> list[RunDifference]:
    """Returns what differs in the runs' components, then the first differing status and the first differing event.

    `until`: the last tick to compare."""
    made = (RunDifference(f"{key}: {_short(a.head.get(key))} / {_short(b.head.get(key))}")
            for key in _MADE_OF if a.head.get(key) != b.head.get(key))  # fmt: skip
    status = _first(_statuses(a, until), _statuses(b, until), whole=until == math.inf)  # else one may go on
    event = _first(_events(a, until), _events(b, until))
    return [*made, *(each for each in (status, event) if each is not None)]


def parting(one: Iterable[T], other: Iterable[T]) -> tuple[T | None, T | None] | None:
    """Returns the first pair in which two rows differ, None in it for the end of a row; None for equal rows."""
    return next((pair for pair in zip_longest(one, other) if pair[0] != pair[1]), None)


def shown(change: tuple[int, str] | None, paths: Mapping[int, str]) -> str:
    """Returns a node's path and its new status."""
    return f"{paths.get(change[0], '?')} {change[1]}" if change is not None else NOTHING


class _Row(NamedTuple):
    """What happened in a run: `told` is compared, `tick` is only named."""

    tick: int
    told: str | tuple[str, dict[str, Json]]


def _first(a: Iterable[_Row], b: Iterable[_Row], whole: bool = True) -> RunDifference | None:
    """In the order of the rows, whatever their ticks: how long a model or a skill takes is no difference.

    `whole`: a run that has fewer rows than the other differs from it."""
    for pair in zip_longest(a, b):
        rows = [row for row in pair if row is not None]
        if len(rows) == 2 and rows[0].told == rows[1].told:
            continue
        return RunDifference(" / ".join(map(_words, pair)), rows[0].tick) if whole or len(rows) == 2 else None
    return None


def _statuses(recording: Recording, until: float) -> Iterator[_Row]:
    paths = recording.paths()
    for tick in sorted(recording.ticks):
        if tick <= until:
            yield from (_Row(tick, shown(change, paths)) for change in recording.changes(tick))


def _events(recording: Recording, until: float) -> Iterator[_Row]:
    left_out = ("seconds", "job", "logprob", "margin")  # scores move by what else the model computes beside it
    for event, body in recording.of(*_SHOWN):
        if event.tick <= until:
            yield _Row(event.tick, (event.kind, {k: v for k, v in body.items() if k not in left_out}))


def _words(row: _Row | None) -> str:
    if row is None:
        return NOTHING
    return row.told if isinstance(row.told, str) else f"{row.told[0]} {_short(row.told[1])}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:99]}…"
