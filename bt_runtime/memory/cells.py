"""Near search for stores that are too large to scan: FAISS looks into the cells nearest to the query only.

Candidates come from half-precision codes; their scores are computed in full from the stored vectors, as in `flat`.
The cells are drawn once and kept in the store, so that every process looks into the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bt_runtime.memory.index import Hit, ordered, whole_ties
from bt_runtime.memory.mapped import Mapped

PROBES = 24  # cells looked into; recall@10 of the bench in docs/memory.md
SAMPLE = 64  # vectors per cell to draw the cells from; with 24 the bench lost 5 of 100, with 48 none
POINTS = {"min_points_per_centroid": 1, "max_points_per_centroid": SAMPLE}
SCAN = 20_000  # a narrower choice than this is scored one by one


def cell_count(size: int) -> int:
    return int(2 ** max(4, round(math.log2(2 * math.sqrt(size)))))


def draw_cells(rows: Any, count: int) -> Any:
    """Returns the centres of `count` cells, equal for equal rows."""
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
    """Searches the mapped file, and for newer rows the corresponding cells in memory."""

    def __init__(
        self, centres: Any, fetch: Callable[[Sequence[int]], list[tuple[int, bytes]]], mapped: Mapped | None = None
    ) -> None:
        import faiss
        import numpy

        self._np, self._faiss, self._fetch, self._mapped = numpy, faiss, fetch, mapped
        faiss.omp_set_num_threads(1)
        self.centres = numpy.ascontiguousarray(centres, dtype=numpy.float32)
        count, self._dim = self.centres.shape
        self._coarse = faiss.IndexFlatIP(self._dim)
        self._coarse.add(self.centres)
        self._codes = self._empty(count)
        self._parts = [self._codes]
        if mapped is not None:
            self._parts.append(self._empty(count))
            self._parts[-1].replace_invlists(mapped.lists, False)
            self._parts[-1].ntotal = mapped.head.goals

    def _empty(self, count: int) -> Any:
        faiss = self._faiss
        made = faiss.IndexIVFScalarQuantizer(
            self._coarse, self._dim, count, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT, False
        )
        made.is_trained = True
        made.nprobe = min(PROBES, count)
        return made

    def __len__(self) -> int:
        return sum(int(part.ntotal) for part in self._parts)

    def add(self, goals: Sequence[int], blobs: Sequence[bytes], cells: Any = None) -> None:
        np, swig = self._np, self._faiss.swig_ptr
        rows = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(goals), self._dim).astype(np.float32, copy=False)
        homes = nearest_cells(rows, self.centres) if cells is None else np.asarray(cells, dtype=np.int64)
        names = np.asarray(goals, dtype=np.int64)
        self._codes.add_core(len(goals), swig(rows), swig(names), swig(homes))

    def each(self) -> Iterator[tuple[bytes, bytes]]:
        """Yields the codes and goals of every cell in memory."""
        lists = self._codes.invlists
        for cell in range(lists.nlist):
            size = lists.list_size(cell)
            codes = self._faiss.rev_swig_ptr(lists.get_codes(cell), size * lists.code_size).tobytes() if size else b""
            yield codes, self._faiss.rev_swig_ptr(lists.get_ids(cell), size).tobytes() if size else b""

    def search(self, query: bytes, count: int, within: Sequence[int] | None = None) -> list[Hit]:
        asked = self._np.frombuffer(query, dtype="<f4")
        if within is not None and len(within) <= SCAN:
            return whole_ties(self._scored(asked, within), count)
        fetch = min(2 * count + 16, max(1, len(self)))
        near = self._near(asked[None, :], fetch) if within is None else self._among(asked[None, :], fetch, within)
        return whole_ties(self._scored(asked, [goal for goal in near if goal >= 0]), count)

    def _near(self, asked: Any, fetch: int) -> list[int]:
        distances, cells = self._coarse.search(asked, self._codes.nprobe)
        if self._mapped is not None:
            self._mapped.check(cells[0].tolist())
        parts = (part for part in self._parts if part.ntotal)
        return [goal for p in parts for goal in p.search_preassigned(asked, fetch, cells, distances)[1][0].tolist()]

    def _among(self, asked: Any, fetch: int, within: Sequence[int]) -> list[int]:
        """Searches all cells, restricted to these goals."""
        if self._mapped is not None:
            self._mapped.check(range(len(self.centres)))
        chosen = self._faiss.IDSelectorBatch(self._np.asarray(within, dtype=self._np.int64))
        parameters: Any = self._faiss.SearchParametersIVF
        how = parameters(sel=chosen, nprobe=self._codes.nlist)
        parts = (part for part in self._parts if part.ntotal)
        return [goal for p in parts for goal in p.search(asked, fetch, params=how)[1][0].tolist()]

    def _scored(self, asked: Any, goals: Sequence[int]) -> list[Hit]:
        np = self._np
        found = self._fetch(goals)
        if not found:
            return []
        rows = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f4").reshape(len(found), self._dim)
        scores = (rows * asked.astype(np.float64)).sum(axis=1)
        return ordered(zip((goal for goal, _ in found), scores.tolist(), strict=True))
