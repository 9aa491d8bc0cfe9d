"""Goals by nearness: the face of every index, and the plain one that needs nothing installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import mul
from typing import NamedTuple, Protocol

from bt_runtime.memory.vector import STEPS, unpack


class Hit(NamedTuple):
    goal: int
    score: float  # cosine, rounded so that equal means equal on every machine


class Index(Protocol):
    """An index that one thread fills while no thread searches; many threads may search."""

    def __len__(self) -> int: ...
    def add(self, goals: Sequence[int], blobs: Sequence[bytes]) -> None: ...
    def search(self, query: bytes, count: int, within: Sequence[int] | None = None) -> list[Hit]:
        """The nearest first, of all or some goals: at least `count` where there are as many, never part of a tie."""


def ordered(hits: Iterable[tuple[int, float]]) -> list[Hit]:
    """Nearest first; an older goal first where equal."""
    return sorted((Hit(goal, round(score * STEPS) / STEPS) for goal, score in hits), key=lambda h: (-h.score, h.goal))


def whole_ties(hits: list[Hit], count: int) -> list[Hit]:
    """The first `count`, and all that tie with the last of them."""
    if len(hits) <= count:
        return hits
    last = hits[count - 1].score
    while count < len(hits) and hits[count].score == last:
        count += 1
    return hits[:count]


class Plain:
    """An index without numpy or FAISS: enough for some thousands of goals, at about 20 µs each."""

    def __init__(self) -> None:
        self._rows: dict[int, Sequence[float]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, goals: Sequence[int], blobs: Sequence[bytes]) -> None:
        self._rows.update((goal, unpack(blob)) for goal, blob in zip(goals, blobs, strict=True))

    def search(self, query: bytes, count: int, within: Sequence[int] | None = None) -> list[Hit]:
        asked, rows = unpack(query), self._rows
        goals = rows if within is None else [goal for goal in within if goal in rows]
        return whole_ties(ordered((goal, sum(map(mul, asked, rows[goal]))) for goal in goals), count)
