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
    firsts = (first(a, b, until) for first in (_first_status, _first_event))
    return [*made, *(each for each in firsts if each is not None)]


def parting(one: Iterable[T], other: Iterable[T]) -> tuple[T | None, T | None] | None:
    """Returns the first pair in which two rows differ, None in it for the end of a row; None for equal rows."""
    return next((pair for pair in zip_longest(one, other) if pair[0] != pair[1]), None)


def shown(change: tuple[int, str] | None, paths: Mapping[int, str]) -> str:
    """Returns a node's path and its new status."""
    return f"{paths.get(change[0], '?')} {change[1]}" if change is not None else NOTHING


def _first_status(a: Recording, b: Recording, until: float) -> RunDifference | None:
    """In the order of the changes, whatever their ticks: how long a model or a skill takes is no difference."""
    for one, other in zip_longest(_changes(a, until), _changes(b, until)):
        if one is None or other is None or one[1] != other[1]:
            if until < math.inf and None in (one, other):
                return None  # a run that goes on has not come so far
            tick = (one or other or (0,))[0]
            return RunDifference(f"{one[1] if one else NOTHING} / {other[1] if other else NOTHING}", tick)
    return None


def _changes(recording: Recording, until: float) -> Iterator[tuple[int, str]]:
    paths = recording.paths()
    for tick in sorted(recording.ticks):
        if tick <= until:
            yield from ((tick, shown(change, paths)) for change in recording.changes(tick))


def _first_event(a: Recording, b: Recording, until: float) -> RunDifference | None:
    for one, other in zip_longest(_told(a, until), _told(b, until)):
        if one is None or other is None or one[1:] != other[1:]:
            tick = (one or other or (0,))[0]
            return RunDifference(f"{_event(one)} / {_event(other)}", tick)
    return None


def _told(recording: Recording, until: float) -> list[tuple[int, str, dict[str, Json]]]:
    left_out = ("seconds", "job", "logprob", "margin")  # scores move by what else the model computes beside it
    return [
        (event.tick, event.kind, {k: v for k, v in body.items() if k not in left_out})
        for event, body in recording.of(*_SHOWN)
        if event.tick <= until
    ]


def _event(found: tuple[int, str, dict[str, Json]] | None) -> str:
    return NOTHING if found is None else f"{found[1]} {_short(found[2])}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:99]}…"
