"""One factory for memories, and small embedders whose vectors a test can foresee."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, settings

from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience

if os.environ.get("BTR_MUTANTS"):  # there it matters that a test fails, not for which smallest input
    settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")


class Axes:
    """Counts the words of a small vocabulary: equal counts are equal vectors, and word order is nothing."""

    words = ("apple", "cup", "fridge", "sink", "find", "wash", "put", "table")
    fingerprint = "axes:1"
    dim = len(words) + 1

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        counts = [float(text.split().count(word)) for word in self.words] + [0.25]
        length = math.sqrt(math.fsum(x * x for x in counts))
        return [x / length for x in counts]


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: hundreds of stores need no disk."""
    shm = Path("/dev/shm")
    if not os.access(shm, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=shm) as folder:
        yield Path(folder)


@pytest.fixture
def axes() -> Axes:
    return Axes()


@pytest.fixture
def remember(tmp_path: Path, axes: Axes) -> Iterator[Callable[..., Episodes]]:
    """`remember(*experiences)` → an open memory that holds them; closed after the test."""
    opened: list[Episodes] = []

    def make(*experiences: Experience, path: Path | None = None, **how: object) -> Episodes:
        how = {"embedder": axes, **how}
        memory = Episodes.open(path or tmp_path / f"memory{len(opened)}.sqlite", **how)  # type: ignore[arg-type]
        opened.append(memory)
        memory.add(experiences)
        return memory

    yield make
    for memory in opened:
        memory.close()


@pytest.fixture
def lived() -> Callable[..., Experience]:
    """An experience of a met task; whatever matters to the test is named by it."""

    def make(goal: str = "find apple", text: str = "Act: done", end: str = "success", **rest: object) -> Experience:
        return Experience(goal, text, end, **{"verdict": True, **rest})  # type: ignore[arg-type]

    return make
