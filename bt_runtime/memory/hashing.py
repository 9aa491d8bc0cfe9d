"""Embeds a text by counting its words and their pieces. It needs no library and no model, and knows no meanings."""

from __future__ import annotations

import itertools
import logging
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

DIM = 384
_WORD = re.compile(r"\w+")
# Words that tell two errands apart least; they count, but little.
_SMALL = frozenset(
    re.findall(_WORD, "a an and at by for from in into is it of on onto or please so that the then to up with you")
)
_log = logging.getLogger("bt_runtime.memory")


@lru_cache(maxsize=100_000)
def _slot(feature: str) -> tuple[int, float]:
    number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
    return (number >> 1) % DIM, 1.0 if number & 1 else -1.0


@lru_cache(maxsize=20_000)
def _pieces(word: str) -> tuple[tuple[int, float], ...]:
    """Returns a word and its runs of three letters, so that `cups` stays near `cup`."""
    weight = 0.15 if word in _SMALL else 1.0
    framed = f"<{word}>"
    grams = [framed[i : i + 3] for i in range(len(framed) - 2)]
    own = [(at, sign * weight) for at, sign in (_slot(f"w {word}"),)]
    share = 0.7 * weight / math.sqrt(max(1, len(grams)))
    return (*own, *((at, sign * share) for at, sign in map(_slot, (f"g {g}" for g in grams))))


class Hashing:
    fingerprint = f"hashing:1:{DIM}"
    dim = DIM

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        _say_once()
        return [_embed(text) for text in texts]


def _embed(text: str) -> list[float]:
    vector = [0.0] * DIM
    words = _WORD.findall(text.casefold())
    for word in words:
        for at, weight in _pieces(word):
            vector[at] += weight
    for pair in itertools.pairwise(words):  # pairs keep some order: "cup on plate" is not "plate on cup"
        at, sign = _slot("b {} {}".format(*pair))
        vector[at] += 0.3 * sign
    length = math.sqrt(math.fsum(x * x for x in vector))
    if length == 0.0:  # no word at all: still one fixed direction, so that it finds itself
        at, _ = _slot(f"t {text}")
        vector[at], length = 1.0, 1.0
    return [x / length for x in vector]


@lru_cache(maxsize=1)
def _say_once() -> None:
    _log.warning(
        "memory compares goals by their words only (hashing embedder); "
        "for meaning: pip install 'bt_runtime[e5]', then btr memory reembed --embedder e5"
    )
