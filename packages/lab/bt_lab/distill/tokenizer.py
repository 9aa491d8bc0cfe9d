"""The vocabulary: byte-level BPE, trained on the documents, with the pre-tokenisation that llama.cpp calls gpt-2."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bt_lab.distill.documents import Document, digest
from bt_runtime.language.faults.diagnostic import BtError, MissingExtra
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import disk

END = "<|end|>"  # ends every document, and fills rows up; token 0
SMALLEST = 257  # every byte, and the end


class Encoded(NamedTuple):
    tokens: list[int]
    learn: list[bool]  # for each token: is it learnt
    torn: int  # spans that begin inside a token: at run time the prompt would end differently


class Coder(Protocol):
    """What training needs of a tokenizer."""

    size: int
    digest: str

    def encode(self, documents: Sequence[Document]) -> list[Encoded]: ...


class Tokenizer:
    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.size = int(inner.get_vocab_size())
        self.end = int(inner.token_to_id(END))
        self.digest = digest(inner.to_str())

    def encode(self, documents: Sequence[Document]) -> list[Encoded]:
        codes = self.inner.encode_batch([d.text for d in documents], add_special_tokens=False)
        return [_marked(code.ids, code.offsets, d, self.end) for code, d in zip(codes, documents, strict=True)]

    def tokens(self, text: str) -> list[int]:
        return list(self.inner.encode(text, add_special_tokens=False).ids)

    def text(self, tokens: Sequence[int]) -> str:
        return str(self.inner.decode(list(tokens), skip_special_tokens=True))

    def tables(self) -> tuple[list[str], list[tuple[str, str]]]:
        """The tokens by number, and the merges in their order, as a GGUF file holds them."""
        model = json.loads(self.inner.to_str())["model"]
        tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
        return tokens, [(left, right) for left, right in model["merges"]]

    def save(self, path: Path) -> None:
        disk.write(path, self.inner.to_str(pretty=False))


def train(texts: Iterable[str], size: int) -> Tokenizer:
    """Trains a vocabulary. The same texts in the same order give the same vocabulary."""
    if size < SMALLEST:
        raise BtError(f"a vocabulary of {size} cannot hold every byte", f"take at least {SMALLEST}")
    library = _library()
    inner = library.Tokenizer(library.models.BPE())
    inner.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    inner.decoder = library.decoders.ByteLevel()
    trainer = library.trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END],
        initial_alphabet=sorted(library.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    inner.train_from_iterator(texts, trainer)
    return Tokenizer(_deaf(inner))


def of_tables(tokens: Sequence[str], merges: Sequence[tuple[str, ...]]) -> Tokenizer:
    """Builds a tokenizer from the output of `tables`."""
    library = _library()
    inner = library.Tokenizer(library.models.BPE({token: i for i, token in enumerate(tokens)}, list(merges)))
    inner.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    inner.decoder = library.decoders.ByteLevel()
    inner.add_special_tokens([END])
    return Tokenizer(_deaf(inner))


def load(path: Path) -> Tokenizer:
    try:
        return Tokenizer(_deaf(_library().Tokenizer.from_file(str(path))))
    except MissingExtra:
        raise
    except Exception as fault:  # the library raises bare exceptions
        raise BtError(f"{path} is not a tokenizer: {fault}", "remove it, and it is trained anew") from fault


def _deaf(inner: Any) -> Any:
    """Encodes text that spells a control token as plain letters, as at run time."""
    inner.encode_special_tokens = True
    return inner


def _library() -> Any:
    with Extra("distill", "training a tokenizer"):
        import tokenizers
    return tokenizers


def _marked(ids: Sequence[int], places: Sequence[tuple[int, int]], document: Document, end: int) -> Encoded:
    """Marks the tokens that reach into a span, and the end when the last word is the model's own."""
    learn, torn, at = [False] * len(ids), 0, 0
    for start, stop in document.learn:
        while at < len(ids) and places[at][1] <= start:
            at += 1
        torn += at < len(ids) and places[at][0] < start
        while at < len(ids) and places[at][0] < stop:
            learn[at] = True
            at += 1
    return Encoded([*ids, end], [*learn, document.learn[-1][1] == len(document.text)], torn)
