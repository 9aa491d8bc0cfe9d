"""Zones of time: all clock values that are possible at once, as bounds on differences, in whole milliseconds.

A clock counts from its start; clock 0 is always 0. `zone[i][j]` is the most that clock i may be ahead of clock j.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

INFINITE = 1 << 60
Row = tuple[int, ...]
Zone = tuple[Row, ...]
NO_CLOCKS: Zone = ((0,),)


def chosen(zone: Zone, clocks: Sequence[int]) -> Zone:
    """Returns the zone of these clocks, numbered in this order from 1 on; 0 stands for one that starts now."""
    at = (0, *clocks)
    return tuple(tuple(zone[i][j] for j in at) for i in at)


def elapsed(zone: Zone) -> Zone:
    """Returns the zone after any amount of time."""
    return (zone[0], *((INFINITE, *row[1:]) for row in zone[1:]))


def tightened(zone: Zone, i: int, j: int, bound: int) -> Zone | None:
    """Returns the part in which clock i is ahead of clock j by at most `bound`; None when it is empty."""
    if zone[i][j] <= bound:
        return zone
    if zone[j][i] + bound < 0:
        return None
    into = [row[i] + bound for row in zone]  # from any clock to j by way of the new bound
    out = zone[j]
    return tuple(
        tuple(min(old, into[a] + out[b]) if into[a] < INFINITE and out[b] < INFINITE else old
              for b, old in enumerate(row))
        for a, row in enumerate(zone)
    )  # fmt: skip


def widened(zone: Zone, limits: Mapping[int, int]) -> Zone:
    """Forgets how far clocks are beyond the largest time they are compared with, so that there are few zones."""
    rows = [list(row) for row in zone]
    most = [0, *(limits.get(clock, 0) for clock in range(1, len(zone)))]
    changed = False
    for i, row in enumerate(rows):
        for j, bound in enumerate(row):
            if i and i != j and bound < INFINITE and bound > most[i]:
                row[j] = INFINITE
                changed = True
            elif j and bound < -most[j] - 1:
                row[j] = -most[j] - 1
                changed = True
    return _closed(rows) if changed else zone


def _closed(rows: list[list[int]]) -> Zone:
    every = range(len(rows))
    for k in every:
        out = rows[k]
        for row in rows:
            via = row[k]
            if via < INFINITE:
                for j in every:
                    if out[j] < INFINITE and via + out[j] < row[j]:
                        row[j] = via + out[j]
    return tuple(tuple(row) for row in rows)
