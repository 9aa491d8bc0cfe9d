"""Exact search at a quarter of the memory traffic: FAISS scans one byte a number, and candidates are scored in full.
Question and vectors are rounded to whole steps. By Cauchy and Schwarz, rounding moves a product of unit vectors at
most by the lengths of the residuals, which are stored. Whatever lies further below the last fetched code cannot
belong to the answer, so the answer equals that of a full product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bt_runtime.memory.index import Hit, whole_ties
from bt_runtime.memory.vector import STEPS

TIE = 3e-5  # rounded scores, and the rounding of the sums themselves: a tie is never cut
MORE = 48  # codes fetched beyond those asked for: two that rounding could exchange are then both there


class Flat:
    def __init__(self, dim: int) -> None:
        import faiss
        import numpy

        self._np, self._dim = numpy, dim
        faiss.omp_set_num_threads(1)  # two threads lose on a busy machine, and a fork after them hangs
        kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
        self._codes: Any = faiss.IndexScalarQuantizer(dim, kind, faiss.METRIC_INNER_PRODUCT)
        self._rows: Any = numpy.empty((0, dim), dtype="<f4")
        self._goals: Any = numpy.empty(0, dtype=numpy.int64)
        self._used = 0
        self._step, self._slack = 0.0, 0.0  # of the codes, and by how much they may be off

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
        self._encode(rows)
        self._used = end

    def _encode(self, rows: Any) -> None:
        """Encodes new rows; re-encodes all rows when a number exceeds the present step's range."""
        step = _step(self._np, rows)
        if step > self._step:
            self._codes.reset()
            self._step, self._slack = step, 0.0
            if self._used:
                self._encode(self._rows[: self._used])
        for at in range(0, len(rows), 4096):
            codes, lost = _rounded(self._np, rows[at : at + 4096], self._step)
            self._slack = max(self._slack, lost)
            self._codes.add(codes)

    def search(self, query: bytes, count: int, within: Sequence[int] | None = None) -> list[Hit]:
        np = self._np
        asked = np.frombuffer(query, dtype="<f4")
        if within is not None:
            return whole_ties(self._scored(asked, self._places(within)), count)
        step = _step(np, asked)
        codes, lost = _rounded(np, asked[None, :], step)
        slack, scale = self._slack + lost * (1 + self._slack) + TIE, step * self._step
        fetch = count + MORE
        while fetch < self._used:
            rough, at = self._codes.search(codes, fetch)
            rough = rough[0] * scale
            near = rough >= rough[count - 1] - 2 * slack  # the others are behind `count` better ones
            kept = self._scored(asked, at[0][near], float(rough[-1]) + slack)
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
        """Computes scores in double precision row by row, so that a score never depends on its batch."""
        np = self._np
        wide = asked.astype(np.float64)
        parts = [(self._rows[at[i : i + 4096]] * wide).sum(axis=1) for i in range(0, len(at), 4096)]
        scores = np.rint(np.concatenate(parts) * STEPS) / STEPS + 0.0 if parts else np.empty(0)
        chosen = np.flatnonzero(scores >= sure)
        goals, scores = self._goals[at[chosen]], scores[chosen]
        ranks = np.lexsort((goals, -scores))
        return list(map(Hit, goals[ranks].tolist(), scores[ranks].tolist()))


def _step(np: Any, rows: Any) -> float:
    """Returns the quantisation step, rounded up to half octaves so that it seldom has to grow."""
    return float(2.0 ** (math.ceil(2 * math.log2(max(np.abs(rows).max(), 1e-6))) / 2)) / 127


def _rounded(np: Any, rows: Any, step: float) -> tuple[Any, float]:
    """Returns the quantised rows, and the largest error of a row."""
    codes = np.rint(rows / np.float32(step))
    lost = rows - codes * np.float32(step)
    return codes, float(np.sqrt(np.einsum("ij,ij->i", lost, lost).max())) * 1.0001


def _grown(np: Any, array: Any, room: int) -> Any:
    grown = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
