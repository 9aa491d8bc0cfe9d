"""Small random models as GGUF files, made on the spot: for tests and for `make bench`. Needs `gguf` and numpy."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from bt_lab.distill.gguf_writer import Vocabulary, speak, write
from bt_runtime.language.faults.diagnostic import MissingExtra

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEXICON = """
    the a an to of in on at and is are was then go find pick up put down open close turn off slice clean heat cool
    apple bread bowl cabinet carton chair counter cup desk drawer dresser egg fridge garbage kitchen knife lamp
    lettuce living microwave mug pan plate pot room shelf sink sofa spoon stove table tomato toilet towel think act
    sequence fallback parallel agent goal you see nothing done failed success robot dock battery bedroom bathroom
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a random llama-architecture model."""

    vocab: int = 1024
    layers: int = 2
    width: int = 64
    heads: int = 4
    kv_heads: int = 2
    feed_forward: int = 128
    context: int = 1024
    dtype: Literal["f32", "f16", "q8_0"] = "f32"
    tokenizer: Literal["bpe", "spm"] = "bpe"
    peak: float = 1.0  # larger: more certain answers
    seed: int = 0


MICRO = Shape()
# The file that the table of figures speaks of: 54 million parameters, a vocabulary of 32k.
BENCH = Shape(
    vocab=32_000, layers=8, width=512, heads=8, kv_heads=8, feed_forward=1088, context=8192, dtype="f16", peak=0.1
)


def make_gguf(path: Path | str, shape: Shape = MICRO) -> Path:
    """Write the model; the same shape gives the same bytes."""
    try:
        import gguf
        import numpy as np
    except ImportError as absent:
        raise MissingExtra("making a test model", "dev") from absent
    rng = np.random.default_rng(shape.seed)

    def values(size: tuple[int, ...], scale: float) -> Any:
        if len(size) == 1:
            return np.ones(size, dtype=np.float32)
        return rng.standard_normal(size, dtype=np.float32) * scale

    return write(
        Path(path), shape, shape.dtype, _vocabulary(shape, gguf.TokenType),
        ((name, values(size, scale)) for name, size, scale in _tensors(shape)),
        name="random", epsilon=1e-5, base=10_000.0,
    )  # fmt: skip


def _tensors(shape: Shape) -> Iterator[tuple[str, tuple[int, ...], float]]:
    wide, kv, inner = shape.width, shape.width * shape.kv_heads // shape.heads, shape.feed_forward
    yield "token_embd.weight", (shape.vocab, wide), 1.0
    for i in range(shape.layers):
        yield f"blk.{i}.attn_norm.weight", (wide,), 1.0
        yield f"blk.{i}.attn_q.weight", (wide, wide), wide**-0.5
        yield f"blk.{i}.attn_k.weight", (kv, wide), wide**-0.5
        yield f"blk.{i}.attn_v.weight", (kv, wide), wide**-0.5
        yield f"blk.{i}.attn_output.weight", (wide, wide), wide**-0.5
        yield f"blk.{i}.ffn_norm.weight", (wide,), 1.0
        yield f"blk.{i}.ffn_gate.weight", (inner, wide), wide**-0.5
        yield f"blk.{i}.ffn_up.weight", (inner, wide), wide**-0.5
        yield f"blk.{i}.ffn_down.weight", (wide, inner), inner**-0.5
    yield "output_norm.weight", (wide,), 1.0
    yield "output.weight", (shape.vocab, wide), shape.peak * wide**-0.5


def vocabulary(writer: Any, shape: Shape) -> None:
    """The words of such a model, for a file that is written by other hands."""
    speak(writer, spoken(shape))


def spoken(shape: Shape) -> Vocabulary:
    """The words of such a model."""
    import gguf

    return _vocabulary(shape, gguf.TokenType)


def _vocabulary(shape: Shape, kind: Any) -> Vocabulary:
    """Bytes, letter pairs, household words, then random words up to the size asked for."""
    made, model = (_bpe, "gpt2") if shape.tokenizer == "bpe" else (_spm, "llama")
    tokens, kinds, merges, scores = made(shape.vocab, _words(shape.seed), kind)
    return Vocabulary(model, tokens, kinds, merges, scores, tokens.index("</s>"), tokens.index("<s>"))


def _words(seed: int) -> Iterator[str]:
    yield from _LEXICON.split()
    rng = random.Random(seed)
    while True:
        yield "".join(rng.choices(_LETTERS, k=rng.randint(3, 9)))


def _byte_letters() -> list[str]:
    """The printable stand-in of each byte in a GPT-2 style vocabulary."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    spare = iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(spare)) for b in range(256)]


def _bpe(size: int, words: Iterator[str], kind: Any) -> tuple[list[str], list[int], list[str], list[float]]:
    letters = _byte_letters()
    tokens, ranks = ["<s>", "</s>", *letters], dict[tuple[str, str], int]()
    known = set(tokens)

    def merge(left: str, right: str) -> None:
        if (left, right) not in ranks and left + right not in known and len(tokens) < size:
            ranks[left, right] = len(ranks)
            known.add(left + right)
            tokens.append(left + right)

    for left in _LETTERS:
        for right in "aeiourstn":
            merge(left, right)
    while len(tokens) < size:
        pieces = _join(list(next(words)), ranks)
        while len(pieces) > 1:
            merge(pieces[0], pieces[1])
            pieces[:2] = [pieces[0] + pieces[1]]
        merge(letters[32], pieces[0])
    kinds = [kind.CONTROL, kind.CONTROL, *[kind.NORMAL] * (len(tokens) - 2)]
    return tokens, kinds, [f"{a} {b}" for a, b in ranks], []


def _join(pieces: list[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    while True:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(pieces)) if pair in ranks]
        if not found:
            return pieces
        _, i = min(found)
        pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]


def _spm(size: int, words: Iterator[str], kind: Any) -> tuple[list[str], list[int], list[str], list[float]]:
    tokens = ["<unk>", "<s>", "</s>", *[f"<0x{b:02X}>" for b in range(256)], "▁"]
    kinds = [kind.UNKNOWN, kind.CONTROL, kind.CONTROL, *[kind.BYTE] * 256, kind.NORMAL]
    known = set(tokens)
    printable = [chr(c) for c in range(33, 127)]
    while len(tokens) < size:
        word = "▁" + next(words)
        for piece in [*printable, *(word[:n] for n in range(2, len(word) + 1))]:
            if piece not in known and len(tokens) < size:
                known.add(piece)
                tokens.append(piece)
                kinds.append(kind.NORMAL)
        printable = []
    return tokens, kinds, [], [-float(i) for i in range(len(tokens))]
