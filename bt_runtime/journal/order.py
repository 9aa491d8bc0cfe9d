"""The order of a recording's events on the tape, and where within a tick others than nodes changed the run."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bt_runtime.journal.layout import Event

_ASKED = "clock world ask answer begin done told seek found question reply open opened news stopped instant"
ASKED = frozenset(_ASKED.split())
OUTSIDE = frozenset({"write", "change", "halt", "late", "debug", "forked"})  # acts of others between two ticks
TAPED = ASKED | OUTSIDE
DONE_TO_IT = frozenset({"write", "unset", "change", "halt"})  # acts of others than nodes on a run, also within a tick
BY_OTHERS = OUTSIDE | DONE_TO_IT
STANDING = frozenset({"resumed", "in doubt"})  # notes of what befell a process: no run that is made again makes them


STATE = "state"  # the run's own state, kept now and then: see state.py

Caller = tuple[int, str]  # the number of an action or question, and the name of its method
LISTENER: Caller = (0, "listener")
WORLD: Caller = (0, "world")
AT_END: Caller = (0, "end")  # calls at the end of stepping, before the shape changes


class Inside(NamedTuple):
    """Where within a tick a recorded change was made: in whose call, and after how many notes of the tick."""

    caller: Caller
    notes: int


def is_taped(event: Event) -> bool:
    """True for answers and for what others did. Entries that a node has removed are a note."""
    return event.kind in TAPED or (event.kind == "unset" and "order" in json.loads(event.body))


def is_outside(event: Event, inside: Mapping[int, Inside]) -> bool:
    return event.kind in BY_OTHERS and event.seq not in inside


def places(taped: Iterable[Event], notes: Iterable[Event]) -> dict[int, Inside]:
    """Returns where within their ticks others have changed the run, by the numbers of the events."""
    found: dict[int, Inside] = {}
    numbers: dict[int, list[int]] = {}
    for note in notes:
        numbers.setdefault(note.tick, []).append(note.seq)
    for event in taped:
        caller = json.loads(event.body).get("inside") if event.kind in DONE_TO_IT else None
        if caller is not None:
            found[event.seq] = Inside((caller[0], caller[1]), bisect_left(numbers.get(event.tick, []), event.seq))
    return found


def in_order(events: Iterable[Event], inside: Mapping[int, Inside]) -> list[Event]:
    """Orders events by their time of effect: another thread's write may have been noted late."""
    keyed, latest = [], 0
    for event in events:
        body = json.loads(event.body) if event.kind in DONE_TO_IT else {}
        latest = int(body.get("order", latest))
        outside = is_outside(event, inside)
        keyed.append(((event.tick, outside, latest if outside else 0), event))
    return [event for _, event in sorted(keyed, key=lambda pair: pair[0])]
