"""Near search for stores that are too large to scan: FAISS looks into the cells nearest to the query only.

Candidates come from half-precision codes; their scores are computed in full from the stored vectors, as in `flat`.
The cells are drawn once and kept in the store, so that every process looks into the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from bt_runtime.memory.index import Hit, ordered, whole_ties

PROBES = 24  # cells looked into; recall@10 of the bench in docs/memory.md
SAMPLE = 64  # vectors per cell to draw the cells from; with 24 the bench lost 5 of 100, with 48 none
POINTS = {"min_points_per_centroid": 1, "max_points_per_centroid": SAMPLE}
SCAN = 20_000  # a narrower choice than this is scored one by one


def cell_count(size: int) -> int:
    return int(2 ** max(4, round(math.log2(2 * math.sqrt(size)))))


def draw_cells(rows: Any, count: int) -> Any:
    """Centres of `count` cells, the same for the same rows."""
    import faiss

    faiss.omp_set_num_threads(1)
    means = faiss.Kmeans(rows.shape[1], count, niter=5, seed=1, spherical=True, **POINTS)
    means.train(rows)
    return means.centroids


def nearest_cells(rows: Any, centres: Any) -> Any:
    import numpy as np

    found = [np.argmax(rows[at : at + 8192] @ centres.T, axis=1) for at in range(0, len(rows), 8192)]
    return np.concatenate(found).astype(np.int64) if found else np.empty(0, dtype=np.int64)


class Cells:
    def __init__(self, centres: Any, fetch: Callable[[Sequence[int]], list[tuple[int, bytes]]]) -> None:
        import faiss
        import numpy

        self._np, self._faiss, self._fetch = numpy, faiss, fetch
        faiss.omp_set_num_threads(1)
        self.centres = numpy.ascontiguousarray(centres, dtype=numpy.float32)
        count, self._dim = self.centres.shape
        self._coarse = faiss.IndexFlatIP(self._dim)
        self._coarse.add(self.centres)
        self._codes: Any = faiss.IndexIVFScalarQuantizer(
            self._coarse, self._dim, count, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT, False
        )
        self._codes.is_trained = True
        self._codes.nprobe = min(PROBES, count)

    def __len__(self) -> int:
        return int(self._codes.ntotal)

    def add(self, goals: Sequence[int], blobs: Sequence[bytes], cells: Any = None) -> None:
        np, swig = self._np, self._faiss.swig_ptr
        rows = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(goals), self._dim).astype(np.float32, copy=False)
        homes = nearest_cells(rows, self.centres) if cells is None else np.asarray(cells, dtype=np.int64)
        names = np.asarray(goals, dtype=np.int64)
        self._codes.add_core(len(goals), swig(rows), swig(names), swig(homes))

    def search(self, query: bytes, count: int, within: Sequence[int] | None = None) -> list[Hit]:
        np, faiss = self._np, self._faiss
        asked = np.frombuffer(query, dtype="<f4")
        if within is not None and len(within) <= SCAN:
            return whole_ties(self._scored(asked, within), count)
        fetch = min(2 * count + 16, max(1, len(self)))
        how = None
        if within is not None:
            chosen = faiss.IDSelectorBatch(np.asarray(within, dtype=np.int64))
            how = faiss.SearchParametersIVF(sel=chosen, nprobe=self._codes.nlist)
        _, at = self._codes.search(asked[None, :], fetch, params=how)
        return whole_ties(self._scored(asked, at[0][at[0] >= 0].tolist()), count)

    def _scored(self, asked: Any, goals: Sequence[int]) -> list[Hit]:
        np = self._np
        found = self._fetch(goals)
        if not found:
            return []
        rows = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f4").reshape(len(found), self._dim)
        scores = (rows * asked.astype(np.float64)).sum(axis=1)
        return ordered(zip((goal for goal, _ in found), scores.tolist(), strict=True))
