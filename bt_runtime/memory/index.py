"""The index of goals by nearness: the interface of every index, and an implementation without libraries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import mul
from typing import NamedTuple, Protocol

from bt_runtime.memory.vector import STEPS, unpack


class Hit(NamedTuple):
    goal: int
    score: float  # cosine, rounded so that equal means equal on every machine


class Index(Protocol):
    """A vector store, opened by `NAME(dim)`. One thread fills it while no thread searches; several may search at once.
    Vectors are unit vectors: little-endian floats of 4 bytes. Goals are added in ascending order, each once."""

    def __len__(self) -> int: ...
    def add(self, goals: Sequence[int], blobs: Sequence[bytes]) -> None: ...
    def search(self, query: bytes, count: int, within: Sequence[int] | None = None) -> list[Hit]:
        """Returns the nearest goals first, of all or of `within`: at least `count` if there are as many; a tie is
        returned whole."""


def ordered(hits: Iterable[tuple[int, float]]) -> list[Hit]:
    """Sorts hits by nearness; of equal ones the older goal comes first."""
    return sorted((Hit(goal, round(score * STEPS) / STEPS) for goal, score in hits), key=lambda h: (-h.score, h.goal))


def whole_ties(hits: list[Hit], count: int) -> list[Hit]:
    """Returns the first `count` hits and all that tie with the last of them."""
    if len(hits) <= count:
        return hits
    last = hits[count - 1].score
    while count < len(hits) and hits[count].score == last:
        count += 1
    return hits[:count]


class Plain:
    """An index without numpy or FAISS: enough for some thousands of goals, at about 20 µs each."""

    def __init__(self, dim: int) -> None:
        self._rows: dict[int, Sequence[float]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, goals: Sequence[int], blobs: Sequence[bytes]) -> None:
        self._rows.update((goal, unpack(blob)) for goal, blob in zip(goals, blobs, strict=True))

    def search(self, query: bytes, count: int, within: Sequence[int] | None = None) -> list[Hit]:
        asked, rows = unpack(query), self._rows
        goals = rows if within is None else [goal for goal in within if goal in rows]
        return whole_ties(ordered((goal, sum(map(mul, asked, rows[goal]))) for goal in goals), count)
