"""How a network begins: noise, and a few heads that already look one token back, or for what followed the same token.

All that a planner of this size does is to look things up in its prompt. Left to itself it takes millions of tokens to
find out how; begun like this it copies from the first steps on, and training makes of the heads what it likes.
Measured on drills (`drills.py`), half a million tokens: loss 1.6, where noise alone gave 3.5.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bt_runtime.distill.needs import torch

if TYPE_CHECKING:
    from bt_runtime.distill.network import Network, Size

_WIDE = 0.05  # of an embedding's numbers
_SHARE = 0.5  # of an embedding that all tokens have in common: what heads can look at that look at places only
_NOISE = 0.25
_SHARP = 1.6  # of a head that compares
_GAP = 40.0  # how much nearer the token before is than its neighbours; divided by the head's root it is about 5
_FAST = 8  # pairs of numbers that turn fast enough to tell a token from its neighbours


def begin(network: Network, seed: int) -> None:
    """Set every weight; the same seed gives the same."""
    size = network.size
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.dim() > 1:
                deep = name.endswith(("out.weight", "down.weight"))
                spread = _NOISE / math.sqrt(weight.shape[1])
                weight.normal_(0.0, spread / math.sqrt(2 * size.layers) if deep else spread, generator=random)
        common = _directions(1, size.width, random)[0]
        own = torch.randn(size.vocab, size.width, generator=random) * _WIDE
        own -= torch.outer(own @ common, common)
        network.embedding.weight.copy_(own + common * (_SHARE * _WIDE * math.sqrt(size.width)))
        _heads(network, common, random)


def _heads(network: Network, common: Any, random: Any) -> None:
    size = network.size
    slow = [j + half for half in (0, size.head // 2) for j in range(size.head // 4, size.head // 2)]
    token = _directions(len(slow), size.width, random, common)  # what a token is, in few numbers
    before = _directions(len(slow), size.width, random, common)  # where the token before it is written down
    back, looking = (0, 1), range(2, min(5, size.layers))
    if size.layers < 4:
        back, looking = (0,), range(1, 2)
    for layer in back:
        _look_back(network.blocks[layer], size, common)
    first = _Head(network.blocks[0], size, 0)
    first.value.zero_()
    first.value[: len(slow)] = token
    first.out.zero_()
    first.out[:, : len(slow)] = before.T * (0.9 * _gain(size, len(slow)))
    for layer in looking:
        for number, sought in enumerate((before, token)[: size.kv_heads]):
            head = _Head(network.blocks[layer], size, number)
            for row, place in enumerate(slow):
                head.query[place] += _SHARP * token[row]
                head.key[place] += _SHARP * sought[row]
            copied = _directions(size.head, size.width, random, common)
            head.value.copy_(copied)
            if number == 0:
                head.out.copy_(copied.T * _gain(size, size.head))


class _Head:
    """The parts of a layer's weights that are one head's."""

    def __init__(self, block: Any, size: Size, number: int) -> None:
        mine = slice(number * size.head, (number + 1) * size.head)
        keys, width = size.head * size.kv_heads, size.width
        weight = block.qkv.weight
        at = number * size.heads // size.kv_heads * size.head  # of the first that shares these keys
        self.query = weight[at : at + size.head]
        self.key = weight[width + mine.start : width + mine.stop]
        self.value = weight[width + keys + mine.start : width + keys + mine.stop]
        self.out = block.out.weight[:, at : at + size.head]


def _look_back(block: Any, size: Size, common: Any) -> None:
    """Queries and keys that fit best when they stand one apart, whatever the tokens are."""
    turns = size.base ** -(torch.arange(0, size.head, 2) / size.head)
    fast = turns[: min(_FAST, len(turns))]
    strength = math.sqrt(_GAP / float((1 - fast.cos()).sum()))
    query, key = torch.zeros(size.head), torch.zeros(size.head)
    query[: len(fast)] = strength
    key[: len(fast)] = strength * fast.cos()
    key[size.head // 2 : size.head // 2 + len(fast)] = strength * fast.sin()
    seen = math.sqrt(size.width) * _SHARE / math.sqrt(1 + _SHARE**2)  # of what is common, behind the norm
    head = _Head(block, size, 0)
    head.query += torch.outer(query / seen, common)
    head.key += torch.outer(key / seen, common)


def _gain(size: Size, rows: int) -> float:
    """So that what a head writes is about as long as an embedding."""
    return _WIDE * math.sqrt(size.width) / math.sqrt(rows / (1 + _SHARE**2))


def _directions(rows: int, width: int, random: Any, away: Any = None) -> Any:
    """So many directions at right angles to one another, and to `away`."""
    drawn = torch.randn(width, rows, generator=random)
    if away is not None:
        drawn -= torch.outer(away, away @ drawn)
    return torch.linalg.qr(drawn)[0].T.contiguous()
