"""Packs a batch into one row of tokens: documents with a common opening share it, so it is computed once. Prompts of
one kind begin with the same system text, often a third of the document. The rest of each document is a piece after
that opening. Attention treats each piece as if it stood there alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bt_lab.distill.dataset import Dataset
from bt_lab.distill.network import Piece
from bt_lab.distill.torch_imports import np


class Row(NamedTuple):
    tokens: Any  # int64
    learn: Any  # bool: which are to be learnt; never a document's first
    around: Any  # bool: the others, but for a document's first
    before: Any  # token → place of the token before it
    pieces: list[Piece]
    spans: list[tuple[int, int, int]]  # of each document: where that begins and ends which it has for itself
    seen: int  # tokens of all documents, as if each had been laid for itself


def collated(rows: Dataset, batch: Sequence[Sequence[int]], size: int) -> Row:
    """Returns a batch as one row of `size` tokens; documents with the same beginning are grouped."""
    tokens: Any = np.zeros(size, np.int64)
    learn: Any = np.zeros(size, np.bool_)
    around: Any = np.zeros(size, np.bool_)
    before: Any = np.arange(-1, size - 1)
    pieces: list[Piece] = []
    spans: list[tuple[int, int, int]] = []
    at, seen = 0, 0
    for group in batch:
        opening = _opening(rows, group)
        where = at
        if opening:
            begin = rows.starts[group[0]]
            tokens[at : at + opening] = rows.tokens[begin : begin + opening]
            around[at + 1 : at + opening] = True
            pieces.append(Piece(opening))
            at += opening
        for document in group:
            start, end = rows.starts[document] + opening, rows.starts[document + 1]
            stop = at + int(end - start)
            tokens[at:stop] = rows.tokens[start:end]
            learn[at:stop] = rows.learn[start:end]
            around[at:stop] = ~learn[at:stop]
            if opening:
                before[at] = where + opening - 1
            else:
                learn[at] = around[at] = False  # the first token has none before it
            pieces.append(Piece(stop - at, where, opening))
            spans.append((document, at, stop))
            seen += opening + stop - at
            at = stop
    return Row(tokens, learn, around, before, pieces, spans, seen)


def _opening(rows: Dataset, group: Sequence[int]) -> int:
    """Returns how many leading tokens all of these share, before the first token to learn."""
    if len(group) < 2:
        return 0
    starts = [int(rows.starts[d]) for d in group]
    most = min(rows.unanswered(d) for d in group)
    first = rows.tokens[starts[0] : starts[0] + most]
    for start in starts[1:]:
        (other,) = np.nonzero(first[:most] != rows.tokens[start : start + most])
        most = int(other[0]) if len(other) else most
    return most
