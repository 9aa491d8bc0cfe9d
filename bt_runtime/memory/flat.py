"""Exact search at half the memory traffic: FAISS scans half-precision codes, the few that can win are scored in full.

Rounding a unit vector to half precision moves an inner product with another by less than `SLACK` (2^-11 of the sum of
|x·q|, which is at most 1, and a little for the smallest numbers). So whatever is more than that below the last code
that was fetched cannot belong to the answer, and the answer is exactly that of a full product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bt_runtime.memory.index import Hit, whole_ties
from bt_runtime.memory.vector import STEPS

SLACK = 6e-4
TIE = 2e-6  # two rounded steps: a tie is never cut


class Flat:
    def __init__(self, dim: int) -> None:
        import faiss
        import numpy

        self._np, self._dim = numpy, dim
        faiss.omp_set_num_threads(1)  # two threads lose on a busy machine, and a fork after them hangs
        self._codes: Any = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        self._rows: Any = numpy.empty((0, dim), dtype="<f4")
        self._goals: Any = numpy.empty(0, dtype=numpy.int64)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def add(self, goals: Sequence[int], blobs: Sequence[bytes]) -> None:
        np = self._np
        rows = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(goals), self._dim)
        end = self._used + len(goals)
        if end > len(self._goals):
            room = max(end, 2 * len(self._goals)) if self._used else end
            self._rows = _grown(np, self._rows, room)
            self._goals = _grown(np, self._goals, room)
        self._rows[self._used : end] = rows
        self._goals[self._used : end] = goals
        self._used = end
        self._codes.add(rows)

    def search(self, query: bytes, count: int, within: Sequence[int] | None = None) -> list[Hit]:
        np = self._np
        asked = np.frombuffer(query, dtype="<f4")
        if within is not None:
            return whole_ties(self._scored(asked, self._places(within)), count)
        fetch = count + 16
        while fetch < self._used:
            rough, at = self._codes.search(asked[None, :], fetch)
            sure = float(rough[0, -1]) + SLACK + TIE
            kept = self._scored(asked, at[0], sure)
            if len(kept) >= count:
                return whole_ties(kept, count)
            fetch *= 4
        return whole_ties(self._scored(asked, np.arange(self._used)), count)

    def _places(self, goals: Sequence[int]) -> Any:
        """Rows of these goals; they were added in ascending order."""
        np, known = self._np, self._goals[: self._used]
        wanted = np.unique(np.asarray(goals, dtype=np.int64))
        at = np.searchsorted(known, wanted)
        inside = at < self._used
        return at[inside][known[at[inside]] == wanted[inside]]

    def _scored(self, asked: Any, at: Any, sure: float = -2.0) -> list[Hit]:
        """In double precision and row by row, so that a score never depends on what it was computed with."""
        np = self._np
        wide = asked.astype(np.float64)
        parts = [(self._rows[at[i : i + 4096]] * wide).sum(axis=1) for i in range(0, len(at), 4096)]
        scores = np.rint(np.concatenate(parts) * STEPS) / STEPS + 0.0 if parts else np.empty(0)
        chosen = np.flatnonzero(scores >= sure)
        goals, scores = self._goals[at[chosen]], scores[chosen]
        ranks = np.lexsort((goals, -scores))
        return list(map(Hit, goals[ranks].tolist(), scores[ranks].tolist()))


def _grown(np: Any, array: Any, room: int) -> Any:
    grown = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
