"""Zones of time: all clock values that are possible at once, as bounds on differences, in whole milliseconds.

A clock counts from its start; clock 0 is always 0. `bounds[i][j]` is the most that clock i may be ahead of clock j.
"""

from __future__ import annotations

from typing import NamedTuple

INFINITE = 1 << 60
Row = tuple[int, ...]


class Zone(NamedTuple):
    names: tuple[int, ...] = ()  # of the clocks, after clock 0
    bounds: tuple[Row, ...] = ((0,),)

    def place(self, name: int) -> int:
        return self.names.index(name) + 1

    def started(self, name: int) -> Zone:
        """Returns the zone with this clock at 0."""
        zone = self.dropped(name) if name in self.names else self
        rows = [(*row, row[0]) for row in zone.bounds]
        rows.append((*zone.bounds[0], 0))
        return Zone((*zone.names, name), tuple(rows))._sorted()

    def dropped(self, name: int) -> Zone:
        """Returns the zone without this clock."""
        if name not in self.names:
            return self
        at = self.place(name)
        rows = tuple(row[:at] + row[at + 1 :] for i, row in enumerate(self.bounds) if i != at)
        return Zone(tuple(n for n in self.names if n != name), rows)

    def _sorted(self) -> Zone:
        """Returns the zone with its clocks sorted by name, so that equal zones compare equal."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        if order == list(range(len(order))):
            return self
        at = [0, *(i + 1 for i in order)]
        return Zone(tuple(self.names[i] for i in order), tuple(tuple(self.bounds[i][j] for j in at) for i in at))

    def elapsed(self) -> Zone:
        """Returns the zone after any amount of time."""
        rows = (self.bounds[0], *((INFINITE, *row[1:]) for row in self.bounds[1:]))
        return Zone(self.names, rows)

    def at_most(self, name: int, limit: int) -> Zone | None:
        """Returns the part in which the clock shows at most `limit`; None when it is empty."""
        return self._tightened(self.place(name), 0, limit)

    def at_least(self, name: int, limit: int) -> Zone | None:
        """Returns the part in which the clock shows at least `limit`; None when it is empty."""
        return self._tightened(0, self.place(name), -limit)

    def least(self, name: int) -> int:
        return -self.bounds[0][self.place(name)]

    def most(self, name: int) -> int:
        return self.bounds[self.place(name)][0]

    def _tightened(self, i: int, j: int, bound: int) -> Zone | None:
        rows = self.bounds
        if rows[i][j] <= bound:
            return self
        if rows[j][i] + bound < 0:
            return None
        into = [row[i] + bound for row in rows]  # from any clock to j by way of the new bound
        out = rows[j]
        made = tuple(
            tuple(min(old, into[a] + out[b]) if into[a] < INFINITE and out[b] < INFINITE else old
                  for b, old in enumerate(row))
            for a, row in enumerate(rows)
        )  # fmt: skip
        return Zone(self.names, made)

    def widened(self, limits: dict[int, int]) -> Zone:
        """Forgets how far clocks are beyond the largest time they are compared with, so that there are few zones."""
        if not self.names:
            return self
        most = [0, *(limits[name] for name in self.names)]
        rows = [list(row) for row in self.bounds]
        changed = False
        for i, row in enumerate(rows):
            for j, bound in enumerate(row):
                if i and i != j and bound < INFINITE and bound > most[i]:
                    row[j] = INFINITE
                    changed = True
                elif bound < -most[j]:
                    row[j] = -most[j] - 1 if j else bound
                    changed = changed or row[j] != bound
        return Zone(self.names, _closed(rows)) if changed else self


def _closed(rows: list[list[int]]) -> tuple[Row, ...]:
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
