"""Compares the exported file with the network: the same texts through PyTorch and llama.cpp must give equal tokens,
logits and greedy answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.distill.documents import Document
from bt_lab.distill.network import Network, Piece
from bt_lab.distill.tokenizer import Tokenizer
from bt_lab.distill.torch_imports import np, torch
from bt_runtime.language.faults.diagnostic import BtError


class Parity(NamedTuple):
    difference: float  # the largest of a logit
    agreement: float  # share of places at which both find the same token likeliest
    answers: int
    same: int  # greedy answers that are the same token for token
    retold: int  # texts that llama.cpp splits into other tokens than we; none is right

    def __str__(self) -> str:
        split = "" if not self.retold else f"; {self.retold} TEXTS SPLIT INTO OTHER TOKENS"
        return (
            f"logits differ by {self.difference:.2g} at most, the likeliest token is the same at "
            f"{100 * self.agreement:.2f}% of places, {self.same} of {self.answers} greedy answers are the same{split}"
        )


def compare(path: Path, network: Network, tokenizer: Tokenizer, samples: Sequence[Document], most: int = 24) -> Parity:
    """Compares the file with the network on documents; both write each answer from the text before it."""
    from bt_runtime.llm.local.context import SequenceCache, TokenFeed
    from bt_runtime.llm.local.llama import Weights, begin

    begin()
    weights = Weights(str(path))
    cells = network.size.context
    context = SequenceCache(weights, cells, cells, threads=1, flash=False, full=True)
    difference, places, agreed, answers, same, retold = 0.0, 0, 0, 0, 0, 0
    try:
        for document in samples[:most]:
            start, end = document.learn[-1]
            tokens = tokenizer.tokens(document.text)[:cells]
            retold += weights.tokens(document.text)[:cells] != tokens
            before = tokenizer.tokens(document.text[:start])
            retold += weights.tokens(document.text[:start]) != before
            context.clear()
            theirs = np.stack(context.decode([TokenFeed(tokens, 0, (0,), len(tokens))])[0])
            ours = logits(network, tokens)
            difference = max(difference, float(np.abs(ours - theirs).max()))
            places += len(tokens)
            agreed += int((ours.argmax(-1) == theirs.argmax(-1)).sum())
            length = len(tokenizer.tokens(document.text[start:end]))
            if before and len(before) + length < cells:
                written = _written(context, before, length, tokenizer.end)
                answers += 1
                same += _likeliest(network, before, written)
    finally:
        context.close()
        weights.close()
    if not places:
        raise BtError("there is nothing to compare the file on", "give documents")
    return Parity(difference, agreed / places, answers, same, retold)


def logits(network: Network, tokens: Sequence[int]) -> Any:
    """Returns the logits of every token, in full precision."""
    with torch.no_grad():
        row = torch.tensor(list(tokens), device=network.embedding.weight.device)
        return network.logits(network(row, [Piece(len(tokens))])).float().cpu().numpy()


def _likeliest(network: Network, before: Sequence[int], written: Sequence[int]) -> bool:
    """True when greedy decoding writes exactly this text: each token is the likeliest after those before it."""
    found = logits(network, [*before, *written])[len(before) - 1 : -1].argmax(-1)
    return bool(found.tolist() == list(written))


def _written(context: Any, before: Sequence[int], most: int, end: int) -> list[int]:
    """Returns llama.cpp's greedy output."""
    from bt_runtime.llm.local.context import TokenFeed

    context.clear()
    (rows,) = context.decode([TokenFeed(before, 0, (0,), 1)])
    written = [int(rows[-1].argmax())]
    while len(written) < most and written[-1] != end:
        (rows,) = context.decode([TokenFeed(written[-1:], len(before) + len(written) - 1, (0,), 1)])
        written.append(int(rows[-1].argmax()))
    return written
