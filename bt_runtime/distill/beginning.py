"""How a network begins: random, but for three heads that already know how to look back.

What these models do most is to copy: a name that was read goes into the answer. A network that begins at random finds
out how only after many millions of tokens, all at once; until then it learns next to nothing. So what it would find is
put there: a head of the first layer attends to the token before and notes what it was; a head of each of the next two
attends to where the present token stood before, and says what came after it. Training changes all of it.

A third of the width holds what the token is, a third what the one before was, a third what is to be said next.
"""

from __future__ import annotations

import math
from typing import Any

from bt_runtime.distill.library import nn, torch

_NOISE = 0.02
_CONSTANT = 4.0  # in one place of every embedding, for heads that only ask where something is
_SURE = 6.0  # by how much the token before is preferred, in nats
_MATCH = 16.0  # the score of an equal token
_FAR = 400  # tokens over which equal tokens still match
_SAID = 8.0  # the logit of what is copied


@torch.no_grad()  # type: ignore[untyped-decorator]
def begin(network: Any) -> None:
    size = network.size
    for name, weight in network.named_parameters():
        if weight.dim() > 1:
            deep = name.endswith(("out.weight", "down.weight"))
            nn.init.normal_(weight, std=_NOISE / math.sqrt(2 * size.layers) if deep else _NOISE)
    third = size.width // 3
    if size.tied or size.layers < 2 or third < 8:
        return
    names = torch.randn(size.vocab, third - 1).sign()  # all equally long, whichever part of them is looked at
    network.embedding.weight[:, : third - 1] = names
    network.embedding.weight[:, third - 1] = _CONSTANT
    network.output.weight[:, 2 * third : 3 * third - 1] = names * _SAID / third
    _before(network.blocks[0], size, third)
    for number, block in enumerate(network.blocks[1:3]):
        _again(block, size, third, number)


def _before(block: Any, size: Any, third: int) -> None:
    """The first head attends to the token before, and writes down what it was."""
    q, k = _head(block, size, third, to=third)
    angles = [_angle(size, f) for f in range(max(2, 3 * size.head // 16))]
    read = _CONSTANT / math.sqrt((third + _CONSTANT**2) / size.width)  # the constant, after the norm
    pull = math.sqrt(_SURE * math.sqrt(size.head) / sum(1 - math.cos(a) for a in angles)) / read
    for f, angle in enumerate(angles):
        q[f, third - 1] = pull
        k[f, third - 1] = pull * math.cos(angle)
        k[f + size.head // 2, third - 1] = pull * math.sin(angle)


def _again(block: Any, size: Any, third: int, number: int) -> None:
    """The first head attends to what followed an earlier token like this one, and says it."""
    q, k = _head(block, size, third, to=2 * third)
    slow = [f for f in range(size.head // 2) if _angle(size, f) * _FAR < 0.6]  # places that distance hardly turns
    places = [p for f in slow for p in (f, f + size.head // 2)][: third - 1]
    spread = size.width / (2 * third + _CONSTANT**2)  # of what is read, after the norm
    pull = math.sqrt(_MATCH * math.sqrt(size.head) / (max(1, len(places)) * spread))
    for i, place in enumerate(places):
        of = (i + number * len(places)) % (third - 1)  # each of the heads looks at other parts of a name
        q[place, of] = pull
        k[place, third + of] = pull


def _head(block: Any, size: Any, third: int, to: int) -> tuple[Any, Any]:
    """Empties the first head; it will read what a token is, and write that to `to`."""
    kv = size.head * size.kv_heads
    q, k, v = block.qkv.weight.split([size.width, kv, kv])
    for part in (q, k, v):
        part[: size.head] = 0
    block.out.weight[:, : size.head] = 0
    for i in range(min(size.head, third - 1)):
        v[i, i] = block.out.weight[to + i, i] = 0.75
    return q, k


def _angle(size: Any, frequency: int) -> float:
    return float(size.base ** (-2 * frequency / size.head))
