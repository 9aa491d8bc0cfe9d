"""Packs documents into batches of a fixed length. Documents with the same beginning come together, because it counts
once."""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from bt_lab.distill.dataset import Dataset

LEAST = 64  # tokens of an opening that is worth it
_STEP = 16  # tokens by which openings are told apart
_COMMON = 100  # an opening begins one document of so many
_AHEAD = 256  # documents among which the one that fits best is looked for
_MIXED = 2048  # tokens of a batch for each family in it: a step learns from several

Batch = list[list[int]]  # documents, in groups that begin alike


def shuffled(count: int, seed: str) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


class Shared(NamedTuple):
    """The documents' families: documents with a common beginning, and its length in tokens."""

    family: Sequence[int]  # -1: none
    length: Sequence[int]


def packed(order: Sequence[int], lengths: Sequence[int], size: int, shared: Shared | None = None) -> list[Batch]:
    """Packs documents into batches of at most `size` tokens, roughly in order: of the next few, the longest that fits.

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
        """Returns the longest document that fits, as its family and its position there."""
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


def shared(rows: Dataset, documents: Sequence[int]) -> Shared:
    """Returns the longest common beginning of each document; documents with the same one are a family."""
    family, length = [-1] * len(rows), [0] * len(rows)
    often = max(2, len(documents) // _COMMON)
    going, size = {d: rows.unanswered(d) for d in documents}, LEAST
    numbers: dict[bytes, int] = {}
    while going:
        begins = {
            d: rows.tokens[rows.starts[d] : rows.starts[d] + size].tobytes()
            for d, read in going.items()
            if read >= size
        }
        count = Counter(begins.values())
        going = {d: going[d] for d, begin in begins.items() if count[begin] >= often}
        for document in going:
            family[document] = numbers.setdefault(begins[document], len(numbers))
            length[document] = size
        size += _STEP
    return Shared(family, length)
