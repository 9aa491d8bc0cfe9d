"""Finds where two runs diverge: their components, and the first differing status or answer."""

from __future__ import annotations

from itertools import zip_longest

from bt_runtime.journal.reading import Recording
from bt_runtime.types import Json

_MADE_OF = ("digest", "inputs", "seed", "model", "budget", "versions")
_SHOWN = ("decision", "step", "expand", "done", "write", "halt", "graft", "result", "verdict")


def compare(a: Recording, b: Recording) -> list[str]:
    """Lists the differences, one line each; empty for equal runs."""
    found = [f"{key}: {_short(a.head.get(key))} / {_short(b.head.get(key))}" for key in _MADE_OF if differs(a, b, key)]
    statuses = _first_status(a, b)
    events = _first_event(a, b)
    return [*found, *([statuses] if statuses else []), *([events] if events else [])]


def differs(a: Recording, b: Recording, key: str) -> bool:
    return bool(a.head.get(key) != b.head.get(key))


def _first_status(a: Recording, b: Recording) -> str:
    paths = [{row.number: row.path for row in r.nodes} for r in (a, b)]
    for tick in sorted({*a.ticks, *b.ticks}):
        told = [[f"{p.get(n, '?')} {s}" for n, s in r.changes(tick)] for r, p in zip((a, b), paths, strict=True)]
        if told[0] != told[1]:
            pairs = zip_longest(*told, fillvalue="nothing more")
            one, other = next(pair for pair in pairs if pair[0] != pair[1])
            return f"tick {tick}: {one} / {other}"
    return ""


def _first_event(a: Recording, b: Recording) -> str:
    for one, other in zip_longest(_told(a), _told(b)):
        if one is None or other is None or one[1:] != other[1:]:
            tick = (one or other or (0,))[0]
            return f"tick {tick}: {_event(one)} / {_event(other)}"
    return ""


def _told(recording: Recording) -> list[tuple[int, str, dict[str, Json]]]:
    left_out = ("seconds", "job")
    return [
        (event.tick, event.kind, {k: v for k, v in body.items() if k not in left_out})
        for event, body in recording.of(*_SHOWN)
    ]


def _event(found: tuple[int, str, dict[str, Json]] | None) -> str:
    return "nothing more" if found is None else f"{found[1]} {_short(found[2])}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:99]}…"
