"""Copies cached beginnings from one cache to another, which is much cheaper than computing them there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bt_runtime.llm.local.batch import SPARE, Batch


class KnownPrefix(NamedTuple):
    """The part of a prompt that a cache holds."""

    length: int  # tokens of its beginning
    ready: int  # tokens already computed
    lost: int  # other tokens that are held


def known(batch: Batch, prompt: Sequence[int]) -> KnownPrefix:
    match = batch.tree.match(prompt)
    tasks = [batch.active.get(seq) for seq in match.seqs]
    ready = max((match.length if task is None else min(match.length, task.ready) for task in tasks), default=0)
    return KnownPrefix(match.length, ready, batch.tree.cells - match.length)


def lend(source: Batch, beginning: Sequence[int], target: Batch) -> None:
    """Copies what a batch has cached of a beginning to another batch; without room there, nothing is copied."""
    seq = next(
        seq
        for seq in source.tree.match(beginning).seqs
        if seq not in source.active or source.active[seq].ready >= len(beginning)
    )
    if not source.free or not make_room(target, len(beginning)):
        return
    copy = source.free[-1]
    source.cache.copy(seq, copy, len(beginning))
    saved = source.cache.save(copy)
    source.cache.cut(copy)
    fill(target, beginning, saved, len(beginning))


def make_room(batch: Batch, cells: int) -> bool:
    """Frees cells, and a sequence besides those of the next job. A lane that holds one conversation drops it."""
    if batch.alone:
        batch.clear()
    return len(batch.free) > SPARE and batch.make_room(cells, None) and len(batch.free) > SPARE


def fill(batch: Batch, tokens: Sequence[int], saved: Any, held: int) -> None:
    """Puts a saved sequence of `held` tokens into the cache, cut to these tokens. Raises RuntimeError when it does not
    fit."""
    seq = batch.free.pop()
    try:
        batch.cache.restore(seq, saved)
        if batch.cache.length(seq) != held:
            raise RuntimeError("it holds another number of tokens")
        batch.cache.cut(seq, len(tokens))
        length, source = batch.beginning(tokens)
        if length and source is not None:
            batch.cache.share(source, seq, length)
    except RuntimeError:
        batch.cache.cut(seq)
        batch.free.append(seq)
        raise
    batch.tree.insert(tokens, seq)
    batch.drop_contained(seq)
