"""Where exact search should end: our two indexes and HNSW on the same vectors, in CPU time, so that a busy machine may
measure too. A script: python tests/benchmarks/memory_indexes.py SIZE…
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import faiss
import numpy as np
from bench_memory import DIM, Clustered, ten

from bt_runtime.memory.flat import Flat

SAMPLE = 120_000
HNSW_UP_TO = 100_000  # building it takes minutes beyond


def main(sizes: list[int]) -> int:
    for size in sizes:
        source = Clustered(size)
        matrix = np.concatenate([source.draw(min(SAMPLE, size - at)) for at in range(0, size, SAMPLE)])
        asked = source.draw(40)
        exact = [set(ten(matrix, q)) for q in asked]
        report(size, "numpy product and top 10", 0.0, lambda q, m=matrix: ten(m, q), asked, exact)
        for name, build in {"flat, one byte a number": flat, "HNSW32": hnsw}.items():
            if build is hnsw and size > HNSW_UP_TO:
                continue
            start = time.process_time()
            search = build(matrix)
            report(size, name, time.process_time() - start, search, asked, exact)
    return 0


def report(size: int, name: str, built: float, search: Callable[[Any], list[int]], asked: Any, exact: Any) -> None:
    times, right = [], 0
    for question, best in zip(asked, exact, strict=True):
        start = time.process_time()
        found = search(question)
        times.append(time.process_time() - start)
        right += len(best & set(found[:10]))
    ms = 1e3 * sorted(times)[len(times) // 2]
    print(
        f"{size:>9,}  {name:<26} {ms:8.3f} ms  recall@10 {right / 10 / len(asked):.3f}  made in {built:.1f} s",
        flush=True,
    )


def flat(matrix: Any) -> Callable[[Any], list[int]]:
    index = Flat(DIM)
    index.add(range(len(matrix)), [matrix.tobytes()])
    return lambda q: [hit.goal for hit in index.search(q.tobytes(), 10)]


def hnsw(matrix: Any) -> Callable[[Any], list[int]]:
    faiss.omp_set_num_threads(1)
    index = faiss.IndexHNSWFlat(DIM, 32, faiss.METRIC_INNER_PRODUCT)
    index.add(matrix)
    index.hnsw.efSearch = 64
    return lambda q: [int(n) for n in index.search(q[None, :], 10)[1][0]]


if __name__ == "__main__":
    raise SystemExit(main([int(word) for word in sys.argv[1:]] or [10_000, 100_000, 300_000]))
