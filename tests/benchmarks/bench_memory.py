"""Memory: retrieval beside a bare product, appending beside a bare fsync, opening beside a bare read, killing.

BTR_BENCH_MEMORY: the largest store (default 1000000; its vectors are drawn around 20,000 centres, and take 1.5 GB).
BTR_BENCH_KILLS: rounds of kill -9 (default 50).
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from household_goals import quality
from rows import Row

from bt_runtime.memory import Episodes
from bt_runtime.memory.embedder import close, open_embedder
from bt_runtime.memory.experience import ENDS, Experience
from bt_runtime.memory.store import Store

DIM = 384
PART = 20_000  # written in one transaction
LARGEST = int(os.environ.get("BTR_BENCH_MEMORY", "1000000"))
KILLS = int(os.environ.get("BTR_BENCH_KILLS", "50"))
TEXT = "Act: go to the next place\nYou see nothing new.\n" * 8


def rows() -> Iterable[Row]:
    try:
        import faiss  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as missing:
        yield Row("memory", f"needs the memory extra: {missing}", None, "")
        return
    for size in (10_000, 100_000, 1_000_000):
        if size <= max(LARGEST, 10_000):
            yield from alone(size)
    yield from appending()
    yield killing()
    yield from qualities()


def alone(size: int) -> Iterator[Row]:
    """In processes of their own; the one that asks has one thread for numpy and one for FAISS."""
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with TemporaryDirectory() as folder:
        command = [sys.executable, __file__, str(size), f"{folder}/memory.sqlite"]
        built = float(subprocess.run([*command, "build"], stdout=subprocess.PIPE, check=True, text=True).stdout)
        asking = subprocess.run(
            [*command, "ask"], env={**os.environ, **one}, stdout=subprocess.PIPE, check=True, text=True
        )
    yield from (Row(*row) for row in json.loads(asking.stdout))
    yield Row(f"build a store of {size:,}", f"{built:.0f} s", None, "")


class Clustered:
    """Unit vectors around centres, as goals of a household crowd around its errands; questions are new ones."""

    fingerprint = "clustered:1"
    dim = DIM

    def __init__(self, size: int, seed: int = 1) -> None:
        import numpy as np

        self._np, self._rng = np, np.random.default_rng(seed)
        centres = self._rng.standard_normal((max(100, size // 50), DIM), dtype=np.float32)
        self.centres = centres / np.linalg.norm(centres, axis=1, keepdims=True)
        self.asked: dict[str, Any] = {}

    def draw(self, count: int) -> Any:
        np = self._np
        near = self.centres[self._rng.integers(0, len(self.centres), count)]
        rows = near + (0.6 / DIM**0.5) * self._rng.standard_normal((count, DIM), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def embed(self, texts: Any) -> Any:
        return [self.asked[text] for text in texts]


def retrieving(size: int, path: Path) -> Iterator[Row]:
    embedder = Clustered(size)
    matrix = drawn(embedder, size)
    opening = min(timed(lambda: Episodes.open(path, embedder, len).close())[0] for _ in range(3))
    with Episodes.open(path, embedder, len) as memory:
        yield from asking(memory, embedder, matrix, size)
    bare = min(timed(path.read_bytes)[0] for _ in range(3))
    figures = f"ours {opening:.2f} s, bare read {bare:.2f} s, {path.stat().st_size >> 20} MB"
    if size >= 100_000:
        yield Row(f"open a store of {size:,} goals", figures, opening, "≤ 1 s" if size == 100_000 else "≤ 1.5 s")


def drawn(embedder: Clustered, size: int) -> Any:
    """The same rows in every process."""
    import numpy as np

    matrix = np.empty((size, DIM), dtype=np.float32)
    for at in range(0, size, PART):
        matrix[at : at + PART] = embedder.draw(min(PART, size - at))
    return matrix


def build(path: Path, embedder: Clustered, size: int) -> Any:
    matrix = drawn(embedder, size)
    store = Store(path)
    for at in range(0, size, PART):
        part = matrix[at : at + PART]
        found = [_lived(at + i) for i in range(len(part))]
        vectors = {e.key: row.tobytes() for e, row in zip(found, part, strict=True)}
        store.add(found, vectors, embedder.fingerprint, DIM)
    store.close()
    return matrix


def _lived(number: int) -> Experience:
    return Experience(f"errand {number}", TEXT, ENDS[number % 3], task=str(number % 977), verdict=True)


def asking(memory: Episodes, embedder: Clustered, matrix: Any, size: int) -> Iterator[Row]:
    """New goals, in turn with numpy on the same vectors; medians of the CPU time, which a busy machine leaves alone."""
    questions = embedder.draw(120)
    ours, bare, product, right = [], [], [], 0
    for start in range(0, len(questions), 20):  # in turn, in blocks: neither finds only the other's data in the caches
        block = range(start, start + 20)
        embedder.asked |= {f"question {i}": questions[i] for i in block}
        found = [spent(lambda i=i: memory.retrieve(f"question {i}", None, 10, exclude_task="5")) for i in block]  # type: ignore[misc]
        searched = [spent(lambda i=i: ten(matrix, questions[i])) for i in block]  # type: ignore[misc]
        product += [spent(lambda i=i: matrix @ questions[i])[0] for i in block]  # type: ignore[misc]
        ours += [seconds for seconds, _ in found]
        bare += [seconds for seconds, _ in searched]
        for (_, retrieved), (_, best) in zip(found, searched, strict=True):
            right += len({f"errand {n}" for n in best if n % 977 != 5} & {e.goal for e in retrieved.taken})
            right += sum(n % 977 == 5 for n in best)  # left out by the filter, not missed
    mine, theirs, alone = (1e3 * statistics.median(times) for times in (ours, bare, product))
    recall = right / (10 * len(questions))
    figures = f"ours {mine:.2f} ms, numpy {theirs:.2f} ms (its product {alone:.2f})"
    if size <= 100_000:
        yield Row(f"retrieve of {size:,}, k 10", figures, mine / theirs, "≤ 1.3 × numpy's product and top 10")
    else:
        yield Row(f"retrieve of {size:,}, k 10", figures, alone / mine, "≥ 20 × faster than numpy's product")
    yield Row(f"recall@10 of {size:,}", "of the exact ten", recall, "≥ 0.97" if size > 100_000 else "≥ 1")


def ten(matrix: Any, question: Any) -> list[int]:
    """What a person would write with numpy."""
    import numpy as np

    scores = matrix @ question
    best = np.argpartition(scores, -10)[-10:]
    return [int(n) for n in best[np.argsort(-scores[best])]]


def appending() -> Iterator[Row]:
    """One experience, acknowledged when it is on disk, in turn with a page and an fsync of the same file system."""
    with TemporaryDirectory() as folder, Episodes.open(Path(folder) / "memory.sqlite", "hashing") as memory:
        ours, bare = [], []
        with (Path(folder) / "bare").open("wb", buffering=0) as file:

            def write(i: int) -> None:
                file.write(bytes(8192))
                os.fsync(file.fileno())

            for i in range(400):
                one = [Experience(f"wash cup {i}", TEXT, "success", run=str(i), verdict=True)]
                ours.append(timed(lambda one=one: memory.add(one))[0])  # type: ignore[misc]
                bare.append(timed(lambda i=i: write(i))[0])  # type: ignore[misc]
    mine, theirs = (1e3 * statistics.quantiles(times, n=20)[-1] for times in (ours, bare))
    yield Row("append one, durable, p95", f"ours {mine:.2f} ms, fsync {theirs:.2f} ms", mine / theirs, "≤ 3 × fsync")


def killing() -> Row:
    place = Path(__file__).parents[1] / "memory" / "kill.py"
    spec = importlib.util.spec_from_file_location("kill", place)
    assert spec and spec.loader
    kill = importlib.util.module_from_spec(spec)
    sys.modules["kill"] = kill
    spec.loader.exec_module(kill)
    with TemporaryDirectory() as folder:
        end = kill.rounds(Path(folder), KILLS, seed=1)
    told = ", ".join(f"{name} {value}" for name, value in end._asdict().items())
    bad = end.lost + end.torn + end.index_wrong + end.corrupt + end.doubled
    return Row(f"kill -9, {KILLS} rounds, 2 writers", told, bad, "= 0")


def qualities() -> Iterator[Row]:
    for name in ("hashing", "e5", "minilm"):
        try:
            embedder = open_embedder(name)
        except Exception as missing:  # an extra that is not installed is no failure of the bench
            yield Row(f"goals by {name}", str(missing).splitlines()[0], None, "")
            continue
        try:
            found = quality(embedder)
            seconds = min(timed(lambda embedder=embedder: embedder.embed(["fetch me a cup"]))[0] for _ in range(20))  # type: ignore[misc]
        except Exception as failure:
            yield Row(f"goals by {name}", str(failure).splitlines()[0], None, "")
            continue
        finally:
            close(embedder)
        told = f"slot@1 {found.slot:.2f}, contrast {found.contrast:.2f}, one goal {1e3 * seconds:.2f} ms, LOO@1 →"
        yield Row(f"goals by {name}", told, found.loo, "")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


if __name__ == "__main__":
    _size, _path = int(sys.argv[1]), Path(sys.argv[2])
    if sys.argv[3] == "build":
        print(timed(lambda: build(_path, Clustered(_size), _size))[0])
    else:
        print(json.dumps(list(retrieving(_size, _path))))
