"""A large store is opened by mapping the file beside it, which is never more than a cache."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from bt_runtime.memory import mapped, survey
from bt_runtime.memory.episodes import Episodes
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.retrieval import Retrieval

pytest.importorskip("faiss")
pytest.importorskip("numpy")


class Drawn:
    """A direction of its own for every goal."""

    fingerprint = "drawn:1"
    dim = 16

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[draw.gauss(0, 1) for _ in range(self.dim)] for draw in map(random.Random, texts)]


ERRANDS = ("find", "wash", "put away", "heat", "look for", "count")
SIZE = 1200


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "MAPPED_FROM", 100)
    monkeypatch.setattr(survey, "PAGE", 100)


def lived(number: int, run: str = "") -> Experience:
    goal = f"{ERRANDS[number % 6]} thing {number} of shelf {number // 40}"
    return Experience(goal, f"Act: look {number}", "success", run=run, verdict=True)


def opened(path: Path, **how: bool) -> Episodes:
    return Episodes.open(path, Drawn(), len, cells_from=500, **how)


def fill(path: Path, run: str = "") -> Path:
    with opened(path) as memory:
        memory.add(lived(i, run) for i in range(SIZE))
    return path


def answers(memory: Episodes) -> list[Retrieval]:
    return [memory.retrieve(f"{ERRANDS[i % 6]} thing {i}", None, 3) for i in range(0, SIZE, 100)]


def test_opening_reads_no_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opened it first leaves the file; the next one computes nothing anew, and answers the same."""
    path = fill(tmp_path / "memory.sqlite")
    with opened(path) as memory:
        before = answers(memory)
    assert mapped.beside(path).exists()
    monkeypatch.setattr(survey, "load_cells", None)
    with opened(path) as memory, opened(path, readonly=True) as reader:
        assert answers(memory) == answers(reader) == before
        assert memory.retrieve("nothing of the kind", None, 2, exclude_task="x").taken


def test_what_came_after_the_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goals younger than the file are searched beside it, in the process that wrote them and in the next."""
    path = fill(tmp_path / "memory.sqlite")
    opened(path).close()
    monkeypatch.setattr(survey, "load_cells", None)
    with opened(path) as memory:
        memory.add([Experience("feed the parrot", "Act: feed", "success", verdict=True)])
        assert memory.retrieve("feed the parrot", None, 1).taken[0].text == "Act: feed"
    with opened(path) as memory:
        assert memory.retrieve("feed the parrot", None, 1).taken[0].text == "Act: feed"
        assert len(answers(memory)) == SIZE // 100


@pytest.mark.parametrize("how", ["bits", "the end", "cut", "another layout"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, how: str) -> None:
    """Answers are those of the store, whatever happened to the file."""
    path = fill(tmp_path / "memory.sqlite")
    with opened(path) as memory:
        before = answers(memory)
    file = mapped.beside(path)
    whole = file.read_bytes()
    other = whole.replace(b'"layout": 1', b'"layout": 2')
    flipped = bytes(b ^ 1 for b in whole[:20_000]) + whole[20_000:]
    broken = {"bits": flipped, "the end": whole[:-3] + b"abc", "cut": whole[: len(whole) // 2]}
    file.write_bytes(broken.get(how, other))
    with opened(path) as memory:
        assert answers(memory) == before
        memory.retrieve("every cell", None, SIZE, exclude_task="x")
    assert file.read_bytes() == whole


def test_the_file_of_another_store_is_not_used(tmp_path: Path) -> None:
    """A store put back from a copy, and then grown otherwise, has other rows of the same numbers: they are noticed."""
    path = tmp_path / "memory.sqlite"
    with opened(path) as memory:
        memory.add(lived(i) for i in range(600))
        memory.identity()
    copy = shutil.copy(path, tmp_path / "copy.sqlite")
    with opened(path) as memory:
        memory.add(lived(i) for i in range(600, SIZE))
    opened(path).close()
    with opened(copy) as memory:
        memory.add(lived(SIZE - i + 5000) for i in range(700))
    opened(copy).close()
    shutil.copy(mapped.beside(path), mapped.beside(copy))
    with opened(copy) as memory:
        goal = lived(SIZE + 5000).goal
        assert memory.retrieve(goal, None, 1).taken[0].goal == goal
        assert memory.retrieve(lived(1100).goal, None, 1).taken[0].goal != lived(1100).goal


def test_what_is_forgotten_is_in_no_file(tmp_path: Path) -> None:
    """`rm` takes the file away, since the codes of forgotten goals are in it."""
    path = fill(tmp_path / "memory.sqlite")
    opened(path).close()
    with opened(path) as memory:
        assert mapped.beside(path).exists()
        assert memory.store.remove([lived(7).uid]) == 1
        assert not mapped.beside(path).exists()
        assert memory.retrieve(lived(7).goal, None, 1).taken[0].uid != lived(7).uid


@pytest.mark.parametrize("how", [
    {"goal": "many"}, {"last": 2**70}, {"witnesses": [[1, 2]]}, {"witnesses": 3}, {"goals": None}, {"layout": -1},
])  # fmt: skip
def test_a_head_of_nonsense_is_no_file_of_ours(tmp_path: Path, how: dict[str, object]) -> None:
    """Whole by its digest, and yet not written by us: it is not used, and no exception comes of it."""
    told = mapped.Head(mapped.LAYOUT, "id", "drawn:1", 1, 4, 4, 4, [[1, 2, 3]])._replace(**how)  # type: ignore[arg-type]
    assert mapped.write(tmp_path / "x.cells", told, [(b"a" * 32, b"b" * 8)] * 2)
    assert mapped.read(tmp_path / "x.cells", 32, 2) is None
    sound = told._replace(layout=mapped.LAYOUT, goals=2, last=4, goal=4, witnesses=[[1, 2, 3]])
    assert mapped.write(tmp_path / "x.cells", sound, [(b"a" * 32, b"b" * 8)] * 2)
    assert mapped.read(tmp_path / "x.cells", 32, 2) is not None
