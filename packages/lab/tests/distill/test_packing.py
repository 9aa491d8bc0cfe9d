"""Rows in which documents share their opening: nothing is lost, and everything is learnt as if each stood alone."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the distill extra")

import numpy as np
import torch
from torch.nn import functional

from bt_lab.distill.collate import collated
from bt_lab.distill.dataset import Dataset
from bt_lab.distill.network import Network
from bt_lab.distill.packing import packed, shared, shuffled
from bt_lab.distill.size import SIZES

pytestmark = pytest.mark.usefixtures("one_core")
VOCAB, SIZE = 50, 1024
NETWORK = replace(SIZES["toy"], vocab=VOCAB, context=700)


def rows(openings: tuple[int, ...], count: int, seed: int = 0, longest: int = 200) -> Dataset:
    """Documents behind openings of these lengths, in turn; each learns two spans of its own part."""
    rng = random.Random(seed)
    begins = [[rng.randrange(VOCAB) for _ in range(n)] for n in openings]
    tokens: list[int] = []
    learn: list[bool] = []
    starts = [0]
    for number in range(count):
        own = rng.randint(12, longest)
        begin = begins[number % len(begins)]
        tokens += begin + [rng.randrange(VOCAB) for _ in range(own)]
        learn += [False] * len(begin) + [at % 10 > 6 for at in range(own)]
        starts.append(len(tokens))
    return Dataset(
        np.array(tokens, np.uint16), np.array(learn), np.array(starts), ["x"] * count, np.zeros(count, np.bool_), 0, 0
    )


def learnt(network: Any, found: Dataset, batch: Any, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of every token that is to be learnt, by document, and the gradient of their mean."""
    row = collated(found, batch, size)
    hidden = network(torch.from_numpy(row.tokens), row.pieces)
    losses = {}
    for document, start, end in row.spans:
        places = start + np.flatnonzero(row.learn[start:end])
        logits = network.logits(hidden[torch.from_numpy(row.before[places])])
        losses[document] = functional.cross_entropy(logits, torch.from_numpy(row.tokens[places]), reduction="none")
    told = torch.cat([losses[document] for document in sorted(losses)])
    network.zero_grad()
    told.mean().backward()
    return told.detach(), torch.cat([w.grad.reshape(-1) for w in network.parameters()])


@pytest.mark.parametrize(("openings", "longest"), [((100,), 60), ((64, 131), 200), ((470,), 150)])
def test_a_shared_opening_changes_nothing(openings, longest):
    """Losses and gradients are those of the same documents laid one by one, with a mask and without."""
    found = rows(openings, 6, longest=longest)
    torch.manual_seed(1)
    network = Network(NETWORK)
    for weight in network.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    groups = [[d for d in range(6) if d % len(openings) == g] for g in range(len(openings))]
    together, gradient = learnt(network, found, groups, 2048)
    singly, wanted = learnt(network, found, [[d] for d in range(6)], 8192)
    assert torch.allclose(together, singly, atol=1e-5, rtol=1e-5)
    assert float((gradient - wanted).abs().max()) < 1e-5 * float(wanted.abs().max())


def test_an_opening_stands_in_a_row_once():
    """What documents have in common takes room for one of them, and the tokens are counted for all."""
    found = rows((150,), 4)
    row = collated(found, [[0, 1, 2, 3]], SIZE)
    own = sum(found.lengths) - 4 * 150
    assert sum(piece.length for piece in row.pieces) == 150 + own
    assert row.seen == sum(found.lengths)
    assert int(row.learn.sum()) == int(found.learn.sum())
    assert [piece.seen for piece in row.pieces] == [0, 150, 150, 150, 150]


def test_what_is_to_be_learnt_is_never_shared():
    """Documents that are wholly alike share only what stands before the first answer."""
    one = rows((80,), 1)
    both = Dataset(
        np.concatenate([one.tokens] * 2), np.concatenate([one.learn] * 2),
        np.array([0, *(len(one.tokens) * n for n in (1, 2))]), ["x"] * 2, np.zeros(2, np.bool_), 0, 0,
    )  # fmt: skip
    row = collated(both, [[0, 1]], SIZE)
    assert row.pieces[0].length == 80 + 7
    assert int(row.learn.sum()) == 2 * int(one.learn.sum())


def test_families_are_told_by_the_longest_common_opening():
    """Openings that part late are two families; too short ones and rare ones are none."""
    found = rows((90, 200, 40), 300, longest=30)
    families = shared(found, range(300))
    assert len({families.family[d] for d in range(300)}) == 3
    assert {families.length[d] for d in range(0, 300, 3)} == {80}
    assert {families.length[d] for d in range(1, 300, 3)} == {192}
    assert {families.family[d] for d in range(2, 300, 3)} == {-1}
    assert set(shared(rows((90,) * 300, 300), range(300)).family) == {-1}


def test_batches_of_families_are_full_and_whole():
    """With openings that count once, every document is in one batch, and rows are full and not too long."""
    found = rows((160, 110, 20), 3000)
    batches = packed(shuffled(3000, "x"), found.lengths.tolist(), 4096, shared(found, range(3000)))
    assert sorted(d for batch in batches for group in batch for d in group) == list(range(3000))
    filled = [sum(piece.length for piece in collated(found, batch, 4096).pieces) for batch in batches]
    assert max(filled) <= 4096
    assert sum(filled) > 0.95 * 4096 * len(batches)
    assert sum(filled) < 0.7 * sum(found.lengths)
