"""Finds where two runs diverge: their components, and the first differing status or answer."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from bt_runtime.journal.reading import Recording
from bt_runtime.types import Json

_MADE_OF = ("digest", "inputs", "seed", "model", "budget", "versions")
_SHOWN = ("decision", "step", "expand", "done", "write", "halt", "graft", "result", "verdict")


class RunDifference(NamedTuple):
    """A difference in one line; `tick`: where the runs part, None for what they were made of."""

    text: str
    tick: int | None = None


def compare(a: Recording, b: Recording) -> list[str]:
    """Lists the differences, one line each; empty for equal runs."""
    return [f"tick {d.tick}: {d.text}" if d.tick is not None else d.text for d in differences(a, b)]


def differences(a: Recording, b: Recording, until: int | None = None) -> list[RunDifference]:
    """Returns what differs in the runs' components, then the first differing status and the first differing event.

    `until`: the last tick to compare; None: all."""
    made = (RunDifference(f"{key}: {_short(a.head.get(key))} / {_short(b.head.get(key))}")
            for key in _MADE_OF if differs(a, b, key))  # fmt: skip
    firsts = (first(a, b, until) for first in (_first_status, _first_event))
    return [*made, *(each for each in firsts if each is not None)]


def differs(a: Recording, b: Recording, key: str) -> bool:
    return bool(a.head.get(key) != b.head.get(key))


def _first_status(a: Recording, b: Recording, until: int | None) -> RunDifference | None:
    paths = [{row.number: row.path for row in r.nodes} for r in (a, b)]
    for tick in sorted({*a.ticks, *b.ticks}):
        if until is not None and tick > until:
            break
        told = [[f"{p.get(n, '?')} {s}" for n, s in r.changes(tick)] for r, p in zip((a, b), paths, strict=True)]
        if told[0] != told[1]:
            pairs = zip_longest(*told, fillvalue="nothing more")
            one, other = next(pair for pair in pairs if pair[0] != pair[1])
            return RunDifference(f"{one} / {other}", tick)
    return None


def _first_event(a: Recording, b: Recording, until: int | None) -> RunDifference | None:
    for one, other in zip_longest(_told(a, until), _told(b, until)):
        if one is None or other is None or one[1:] != other[1:]:
            tick = (one or other or (0,))[0]
            return RunDifference(f"{_event(one)} / {_event(other)}", tick)
    return None


def _told(recording: Recording, until: int | None) -> list[tuple[int, str, dict[str, Json]]]:
    left_out = ("seconds", "job")
    return [
        (event.tick, event.kind, {k: v for k, v in body.items() if k not in left_out})
        for event, body in recording.of(*_SHOWN)
        if until is None or event.tick <= until
    ]


def _event(found: tuple[int, str, dict[str, Json]] | None) -> str:
    return "nothing more" if found is None else f"{found[1]} {_short(found[2])}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:99]}…"
