"""Orders experiences that are equally near. Pure functions; the order is the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import count
from typing import Literal

from bt_runtime.memory.experience import ENDS
from bt_runtime.memory.rows import Row
from bt_runtime.types import End

Tie = Literal["uniform", "round_robin"]


def order(rows: Sequence[Row], tie: Tie, seed: int, query: str) -> Iterator[Row]:
    """Returns the rows in order. End states come in the order of `ENDS`, experiences by id, so that nothing else
    affects the result."""
    if len(rows) == 1:
        yield rows[0]
        return
    pools = {end: sorted((r for r in rows if r.end == end), key=lambda r: r.uid) for end in ENDS}
    left = {end: pool for end, pool in pools.items() if pool}
    if tie == "round_robin":
        yield from _in_turn(left)
    else:
        yield from _drawn(left, Draw(seed, query, sorted(r.uid for r in rows)))


def _in_turn(left: dict[End, list[Row]]) -> Iterator[Row]:
    for turn in range(max(map(len, left.values()), default=0)):
        yield from (pool[turn] for pool in left.values() if turn < len(pool))


def _drawn(left: dict[End, list[Row]], draw: Draw) -> Iterator[Row]:
    """Draws an end state uniformly, then one of its experiences, so that rare end states are shown as often as common
    ones."""
    while left:
        states = list(left)
        pool = left[states[draw.below(len(states))]]
        row = pool.pop(draw.below(len(pool)))
        if not pool:
            del left[row.end]
        yield row


class Draw:
    """Random numbers from a hash of their purpose: independent of Python's state, threads and versions."""

    def __init__(self, seed: int, query: str, uids: Sequence[str]) -> None:
        self._key = blake2b("\n".join([str(seed), query, *uids]).encode(), digest_size=32).digest()
        self._steps = count()

    def below(self, limit: int) -> int:
        step = next(self._steps).to_bytes(8, "little")
        number = int.from_bytes(blake2b(step, key=self._key, digest_size=8).digest(), "little")
        return number * limit >> 64
