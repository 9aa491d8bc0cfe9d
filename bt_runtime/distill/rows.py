"""Documents as numbers: encoded once per shard and kept on disk, then laid into batches of a fixed length."""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.distill import documents
from bt_runtime.distill.documents import Document, digest
from bt_runtime.distill.needs import np
from bt_runtime.distill.tokenizer import Tokenizer
from bt_runtime.faults.diagnostic import BtError

HELD = 50  # one document of so many is held back, by its digest: the same ones whatever comes later
_CHUNK = 2000  # documents that are encoded at once
_AHEAD = 256  # documents among which the one that fits best is looked for
_MIXED = 2048  # tokens of a batch for each family in it: a step learns from several
_FORM = "1"  # of the files; another one makes them anew

Batch = list[list[int]]  # documents, in groups that begin alike


class Rows(NamedTuple):
    """Documents one after another: what belongs to document `i` lies between `starts[i]` and `starts[i + 1]`."""

    tokens: Any  # uint16
    learn: Any  # bool
    starts: Any  # int64, one more than documents
    kinds: list[str]  # of each document
    held: Any  # bool, of each document
    torn: int
    cut: int  # documents that were longer than the context

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def lengths(self) -> Any:
        return np.diff(self.starts)


def encode(shard: Path, tokenizer: Tokenizer, context: int, cache: Path) -> Rows:
    """The shard's rows, from the cache when the same bytes were encoded before."""
    data = shard.read_bytes()
    kept = cache / f"{digest(data, tokenizer.digest, str(context), _FORM)}.npz"
    if kept.is_file():
        with np.load(kept) as found:
            return Rows(
                found["tokens"], found["learn"], found["starts"], found["kinds"].tolist(), found["held"],
                int(found["torn"]), int(found["cut"]),
            )  # fmt: skip
    rows = _rows(documents.read(shard), tokenizer, context)
    cache.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez(file, **{**rows._asdict(), "kinds": np.array(rows.kinds, dtype=np.str_)})
    partial.replace(kept)
    return rows


def _rows(given: Any, tokenizer: Tokenizer, context: int) -> Rows:
    tokens, learn, lengths, kinds, held, torn, cut = [], [], [], list[str](), [], 0, 0
    given = iter(given)
    while chunk := list(islice(given, _CHUNK)):
        for document, code in zip(chunk, tokenizer.encode(chunk), strict=True):
            torn, cut = torn + code.torn, cut + (len(code.tokens) > context)
            if not any(code.learn[:context]):
                continue  # what could be learnt lies behind the cut
            tokens.append(np.array(code.tokens[:context], np.uint16))
            learn.append(np.array(code.learn[:context], np.bool_))
            lengths.append(len(tokens[-1]))
            kinds.append(document.kind)
            held.append(is_held(document))
    if not kinds:
        return Rows(
            np.zeros(0, np.uint16), np.zeros(0, np.bool_), np.zeros(1, np.int64), [], np.zeros(0, np.bool_), 0, cut
        )
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Rows(np.concatenate(tokens), np.concatenate(learn), starts, kinds, np.array(held), torn, cut)


def is_held(document: Document) -> bool:
    return int(digest(document.text)[:8], 16) % HELD == 0


def gather(
    shards: Sequence[Path], tokenizer: Tokenizer, context: int, cache: Path, tell: Callable[[str], None]
) -> Rows:
    """The rows of all shards as one."""
    parts = []
    for number, shard in enumerate(shards, 1):
        parts.append(encode(shard, tokenizer, context, cache))
        if number % 50 == 0:
            tell(f"{number} of {len(shards)} shards encoded")
    parts = [p for p in parts if len(p)]
    if not parts:
        raise BtError("there is nothing to learn in these documents", "look at their `learn` spans and lengths")
    starts = np.concatenate([[0], np.cumsum(np.concatenate([p.lengths for p in parts]))]).astype(np.int64)
    return Rows(
        np.concatenate([p.tokens for p in parts]),
        np.concatenate([p.learn for p in parts]),
        starts,
        [kind for p in parts for kind in p.kinds],
        np.concatenate([p.held for p in parts]),
        sum(p.torn for p in parts),
        sum(p.cut for p in parts),
    )


def shuffled(count: int, seed: str) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


class Shared(NamedTuple):
    """Which documents begin alike: of each its family, and how many tokens the family has in common."""

    family: Sequence[int]  # -1: none
    length: Sequence[int]


def packed(order: Sequence[int], lengths: Sequence[int], size: int, shared: Shared | None = None) -> list[Batch]:
    """Documents in batches of at most `size` tokens, in about this order: of the next few the longest that fits.

    The common opening of a family counts once in a batch, which is why a batch keeps to few families.
    """
    waiting: dict[int, list[tuple[int, int, int]]] = defaultdict(
        list
    )  # what it takes beside the opening, place, document
    coming = iter(enumerate(order))

    def opening(document: int) -> int:
        return shared.length[document] if shared else 0

    def come(most: int) -> None:
        for place, document in islice(coming, most):  # those that came later are taken later
            family = shared.family[document] if shared else -1
            insort(waiting[family], (lengths[document] - opening(document), -place, document))

    def fitting(families: Iterable[int], room: int, opened: Mapping[int, Any]) -> tuple[int, int] | None:
        """The longest, as its family and its place in it."""
        best: tuple[int, int] | None = None
        for family in families:
            few = waiting[family]
            spare = room if family in opened or not few else room - opening(few[0][2])
            at = bisect_right(few, (spare, 1, 0)) - 1
            if at >= 0 and (best is None or few[at] > waiting[best[0]][best[1]]):
                best = family, at
        return best

    come(_AHEAD)
    batches: list[Batch] = []
    while any(waiting.values()):
        alone: list[int] = []
        opened: dict[int, list[int]] = {}
        room = size
        # who waited longest comes first
        _, family, at = max((few[at][1], family, at) for family, few in waiting.items() for at in range(len(few)))
        found: tuple[int, int] | None = (family, at)
        while found:
            family, at = found
            length, _, document = waiting[family].pop(at)
            room -= length
            if family == -1:
                alone.append(document)
            else:
                if family not in opened:
                    room -= opening(document)
                opened.setdefault(family, []).append(document)
            come(1)
            few = [-1, *opened] if len(opened) * _MIXED >= size else list(waiting)
            found = fitting(few, room, opened) or fitting(list(waiting), room, opened)
        batches.append([*opened.values(), *([document] for document in alone)])
    return batches
