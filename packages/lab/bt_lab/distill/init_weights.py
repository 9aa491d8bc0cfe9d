"""The initial weights: noise, and a few attention heads that can already look things up."""

from __future__ import annotations

import math
from typing import Any

from bt_lab.distill.size import Size
from bt_lab.distill.torch_imports import torch

_WIDE = 0.05  # deviation of an embedding's numbers
_SHARE = 0.5  # of an embedding that all tokens have in common: what heads can look at that look at places only
_NOISE = 0.25
_SHARP = 1.1  # sharpness of a head that compares
_REACH = 3  # tokens back that are written down, and compared
_TOLD = 0.6  # how loud that is, beside the token itself
_GAP = 40.0  # how much nearer the token before is than its neighbours; divided by the head's root it is about 5
_FAST = 8  # pairs of numbers that turn fast enough to tell a token from its neighbours


def init_weights(network: Any, size: Size, seed: int) -> None:
    """Sets every weight; equal seeds give equal weights."""
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
        _heads(network, size, common, random)


def _heads(network: Any, size: Size, common: Any, random: Any) -> None:
    reach = min(_REACH, size.kv_heads)
    slow = [j + half for half in (0, size.head // 2) for j in range(size.head // 4, size.head // 2)]
    rows = len(slow) // reach
    drawn = _directions(rows * (reach + 1), size.width, random, common)
    token, *before = drawn.split(rows)  # what a token is, in few numbers; where the tokens before it are written down
    for number in range(reach):
        head = _Head(network.blocks[0], size, number)
        _look_back(head, size, common, number + 1)
        head.value.zero_()
        head.value[:rows] = token
        head.out.zero_()
        head.out[:, :rows] = before[number].T * (_TOLD * _gain(size, rows))
    seen = math.sqrt(rows / size.width) / _TOLD  # a token's own numbers, against those written down
    asked = [token / seen, *before[:-1]]
    for layer in range(min(2, size.layers - 1), min(5, size.layers)):
        longest = _Head(network.blocks[layer], size, 0)
        for number, (mine, theirs) in enumerate(zip(asked, before, strict=True)):
            for row, place in enumerate(slow[number * rows : (number + 1) * rows]):
                longest.query[place] += _SHARP * mine[row]
                longest.key[place] += _SHARP * theirs[row]
        copied = _directions(size.head, size.width, random, common)
        longest.value.copy_(copied)
        longest.out.copy_(copied.T * _gain(size, size.head))
        if size.kv_heads > 1:
            alike = _Head(network.blocks[layer], size, 1)
            for row, place in enumerate(slow[:rows]):
                alike.query[place] += _SHARP * token[row] / seen
                alike.key[place] += _SHARP * token[row] / seen
            alike.value.copy_(_directions(size.head, size.width, random, common))


class _Head:
    """The slices of a layer's weights that belong to one head."""

    def __init__(self, block: Any, size: Size, number: int) -> None:
        mine = slice(number * size.head, (number + 1) * size.head)
        keys, width = size.head * size.kv_heads, size.width
        weight = block.qkv.weight
        at = number * size.heads // size.kv_heads * size.head  # of the first that shares these keys
        self.query = weight[at : at + size.head]
        self.key = weight[width + mine.start : width + mine.stop]
        self.value = weight[width + keys + mine.start : width + keys + mine.stop]
        self.out = block.out.weight[:, at : at + size.head]


def _look_back(head: _Head, size: Size, common: Any, far: int) -> None:
    """Sets queries and keys of a head so that it attends to a fixed distance back, whatever the tokens are."""
    turns = size.base ** -(torch.arange(0, size.head, 2) / size.head)
    fast = turns[: min(_FAST, len(turns))]
    strength = math.sqrt(_GAP / float((1 - fast.cos()).sum()))
    query, key = torch.zeros(size.head), torch.zeros(size.head)
    query[: len(fast)] = strength
    key[: len(fast)] = strength * (far * fast).cos()
    key[size.head // 2 : size.head // 2 + len(fast)] = strength * (far * fast).sin()
    seen = math.sqrt(size.width) * _SHARE / math.sqrt(1 + _SHARE**2)  # of what is common, behind the norm
    head.query += torch.outer(query / seen, common)
    head.key += torch.outer(key / seen, common)


def _gain(size: Size, rows: int) -> float:
    """Returns the gain that makes a head's output about as long as an embedding."""
    return _WIDE * math.sqrt(size.width) / math.sqrt(rows / (1 + _SHARE**2))


def _directions(rows: int, width: int, random: Any, away: Any = None) -> Any:
    """Draws `rows` directions that are orthogonal to each other and to `away`."""
    drawn = torch.randn(width, rows, generator=random)
    if away is not None:
        drawn -= torch.outer(away, away @ drawn)
    return torch.linalg.qr(drawn)[0].T.contiguous()
