"""Evaluates the model on held-out documents, by kind: loss, and share of answers reproduced word for word. An answer
counts when each of its tokens is the likeliest after the right ones before it. Greedy decoding would then write
exactly this answer, so no text has to be generated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, groupby
from typing import NamedTuple

from bt_lab.distill.collate import collated
from bt_lab.distill.dataset import Dataset
from bt_lab.distill.network import Network
from bt_lab.distill.packing import packed, shared, shuffled
from bt_lab.distill.torch_imports import functional, np, torch

_MOST = 60  # documents of a kind that are looked at


class Score(NamedTuple):
    loss: float  # per learnt token
    right: int
    answers: int

    @property
    def exact(self) -> float:
        return self.right / self.answers if self.answers else 0.0


def chosen(rows: Dataset, most: int = _MOST) -> list[int]:
    """Chooses the held-out documents, at most `most` of each kind."""
    kinds: dict[str, list[int]] = defaultdict(list)
    for document in np.flatnonzero(rows.held).tolist():
        kinds[rows.kinds[document]].append(document)
    return [d for kind in sorted(kinds) for d in _some(kinds[kind], most)]


def _some(documents: Sequence[int], most: int) -> list[int]:
    return [documents[i] for i in sorted(shuffled(len(documents), "held")[:most])]


def scores(network: Network, rows: Dataset, documents: Sequence[int], size: int, device: str) -> dict[str, Score]:
    """Returns the scores by kind, and those of all documents under "". No gradients are computed."""
    losses: dict[str, list[float]] = defaultdict(list)
    hits: dict[str, list[bool]] = defaultdict(list)
    for batch in packed(documents, rows.lengths.tolist(), size, shared(rows, documents)):
        row = collated(rows, batch, size)
        hidden = network(torch.from_numpy(row.tokens).to(device), row.pieces)
        (places,) = np.nonzero(row.learn)
        logits = network.logits(hidden[torch.from_numpy(row.before[places]).to(device)]).detach().float()
        targets = torch.from_numpy(row.tokens[places]).to(device)
        lost = functional.cross_entropy(logits, targets, reduction="none").cpu().tolist()
        same = (logits.argmax(-1) == targets).cpu().tolist()
        told = dict(zip(places.tolist(), zip(lost, same, strict=True), strict=True))
        for document, start, end in row.spans:
            for learnt, answer in groupby(range(start, end), key=told.__contains__):
                if learnt:
                    found = [told[place] for place in answer]
                    losses[rows.kinds[document]] += [loss for loss, _ in found]
                    hits[rows.kinds[document]].append(all(hit for _, hit in found))
    by_kind = {kind: _score(losses[kind], hits[kind]) for kind in sorted(losses)}
    return {"": _score(list(chain(*losses.values())), list(chain(*hits.values()))), **by_kind}


def _score(losses: Sequence[float], hits: Sequence[bool]) -> Score:
    return Score(sum(losses) / max(1, len(losses)), sum(hits), len(hits))
