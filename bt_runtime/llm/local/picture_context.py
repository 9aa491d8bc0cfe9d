"""A llama.cpp context for prompts with pictures: what stands below zero in a feed is run as embeddings."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import llama_cpp as C

from bt_runtime.llm.local.context import NoRoom, SequenceCache, TokenFeed
from bt_runtime.llm.local.projector import Projector


class PictureContext(SequenceCache):
    """llama.cpp runs tokens or embeddings in one batch, never both. So a feed is run in pieces; of all feeds the last
    pieces, which alone are asked for logits, are run together where they are text."""

    def __init__(self, projector: Projector, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.projector = projector

    def decode(self, feeds: Sequence[TokenFeed]) -> list[list[Any]]:
        if not any(token < 0 for feed in feeds for token in feed.tokens):
            return super().decode(feeds)
        parted = [_pieces(feed) for feed in feeds]
        found: dict[int, list[Any]] = {}
        last: dict[int, TokenFeed] = {}
        try:
            for at, pieces in enumerate(parted):
                for piece in pieces:
                    if piece.tokens[0] < 0:
                        found[at] = self._project(piece)
                    elif piece is pieces[-1]:
                        last[at] = piece
                    else:
                        super().decode([piece])
            if last:
                found.update(zip(last, super().decode([*last.values()]), strict=True))
        except NoRoom:
            for feed in feeds:  # undone wholly, as a single batch is
                for seq in feed.seqs:
                    self.cut(seq, feed.start)
            raise
        return [found[at] for at in range(len(feeds))]

    def _project(self, piece: TokenFeed) -> list[Any]:
        """Runs the embeddings of a picture, or of a part of it; returns a copy of the wanted rows."""
        blank = piece._replace(tokens=[0] * len(piece.tokens))
        self._check([blank])
        batch, _ = self._layout.fill([blank])
        rows = self.projector.rows(piece.tokens)
        embedded = C.llama_batch(
            n_tokens=batch.n_tokens, token=None, embd=rows.ctypes.data_as(ctypes.POINTER(ctypes.c_float)),
            pos=batch.pos, n_seq_id=batch.n_seq_id, seq_id=batch.seq_id, logits=batch.logits,
        )  # fmt: skip
        self._ran(C.llama_decode(self.handle, embedded))
        return [row.copy() for row in self._rows(piece.want)]


def _pieces(feed: TokenFeed) -> list[TokenFeed]:
    """Parts a feed into text and pictures. Only the last piece is asked for logits."""
    pieces, at = list[TokenFeed](), feed.start
    for _, tokens in groupby(feed.tokens, lambda token: token < 0):
        piece = [*tokens]
        pieces.append(TokenFeed(piece, at, feed.seqs, 0))
        at += len(piece)
    return [*pieces[:-1], pieces[-1]._replace(want=feed.want)]
