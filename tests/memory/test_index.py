"""Every index against a plain product of all vectors."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime.memory import Hit
from bt_runtime.memory.index import Plain
from bt_runtime.memory.rwlock import RWLock
from bt_runtime.memory.vector import pack, unpack

DIM = 24


def crowd(seed: int, size: int, spread: float, dim: int = DIM) -> list[bytes]:
    """Vectors around a few centres; a small spread makes scores that differ in the last digits, and repeats tie."""
    chance = random.Random(seed)
    centres = [[chance.gauss(0, 1) for _ in range(dim)] for _ in range(3)]
    rows = [pack([x + spread * chance.gauss(0, 1) for x in chance.choice(centres)]) for _ in range(size)]
    return [rows[chance.randrange(i + 1)] if chance.random() < 0.2 else row for i, row in enumerate(rows)]


def product(rows: dict[int, bytes], query: bytes, count: int) -> list[Hit]:
    asked = unpack(query)
    scores = ((goal, sum(a * b for a, b in zip(asked, unpack(row), strict=True))) for goal, row in rows.items())
    hits = sorted((Hit(goal, round(score * 1e6) / 1e6) for goal, score in scores), key=lambda h: (-h.score, h.goal))
    return [hit for hit in hits if hit.score >= hits[min(count, len(hits)) - 1].score]


@pytest.mark.parametrize(("kind", "dim"), [("plain", DIM), ("flat", DIM), ("flat", 64)])
@settings(max_examples=60, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 700),
    spread=st.sampled_from([0.0, 1e-5, 1e-3, 0.5]),
    count=st.integers(1, 40),
    part=st.booleans(),
)
def test_exact_search_is_exact(
    kind: str, dim: int, seed: int, size: int, spread: float, count: int, part: bool
) -> None:
    """Rounded codes change no answer: the same goals and scores as a full product, ties whole.

    FAISS computes with whole numbers where a vector has a multiple of 64 of them, and with floats elsewhere.
    """
    if kind == "flat":
        pytest.importorskip("faiss")
        from bt_runtime.memory.flat import Flat

        index: Any = Flat(dim)
    else:
        index = Plain(dim)
    rows = dict(zip(range(5, 5 + 3 * size, 3), crowd(seed, size, spread, dim), strict=True))
    goals, blobs = list(rows), list(rows.values())
    cut = size // 3
    for some in (slice(0, cut), slice(cut, None)):
        if goals[some]:
            index.add(goals[some], blobs[some])
    query = random.Random(seed).choice([*blobs, *crowd(seed + 1, 3, 1.0, dim)])
    within = [*goals[::2], 1, 10**9] if part else None
    known = {g: b for g, b in rows.items() if within is None or g in within}
    assert len(index) == size
    assert index.search(query, count, within) == product(known, query, count)


def test_the_gate_keeps_growing_alone() -> None:
    """While one grows the index nobody searches it, and one that waits to grow is not kept out by searchers."""
    gate, inside, grown = RWLock(), [0], [0]
    lock = threading.Lock()

    def search() -> None:
        while grown[0] < 50:
            with gate.shared():
                with lock:
                    inside[0] += 1
                with lock:
                    inside[0] -= 1

    def grow() -> None:
        for _ in range(50):
            with gate.alone():
                assert inside[0] == 0
                grown[0] += 1

    with ThreadPoolExecutor(4) as threads:
        work = [threads.submit(search) for _ in range(3)] + [threads.submit(grow)]
        for one in work:
            one.result(timeout=60)
    assert grown[0] == 50
