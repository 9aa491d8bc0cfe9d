"""A GGUF file of the Llama architecture, written whole or not at all: trained weights, or random ones for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import disk

TYPES = {"f32": 0, "f16": 1, "q8_0": 7}  # our name → the file type's number


class Sizes(Protocol):
    @property
    def vocab(self) -> int: ...
    @property
    def layers(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def kv_heads(self) -> int: ...
    @property
    def feed_forward(self) -> int: ...
    @property
    def context(self) -> int: ...


class Vocabulary(NamedTuple):
    model: str  # gpt2 or llama
    tokens: Sequence[str]
    types: Sequence[int]
    merges: Sequence[str]  # merges of a gpt2 vocabulary
    scores: Sequence[float]  # scores of a llama vocabulary
    end: int
    begin: int | None = None


def write(
    path: Path,
    sizes: Sizes,
    kind: str,
    vocabulary: Vocabulary,
    tensors: Iterable[tuple[str, Any]],  # float32 arrays by their names in llama.cpp
    *,
    name: str,
    epsilon: float,
    base: float,
    extra: Callable[[Any], None] = lambda writer: None,  # writes further fields of the header
) -> Path:
    """Writes the file under a temporary name and renames it when it is complete."""
    with Extra("distill", "writing a GGUF file"):
        import gguf
    if kind not in TYPES:
        raise BtError(f"there is no type `{kind}`", f"types: {', '.join(TYPES)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with disk.draft(path) as partial:
        writer = gguf.GGUFWriter(str(partial), "llama")
        _describe(writer, sizes, kind, name, epsilon, base)
        speak(writer, vocabulary)
        extra(writer)
        packing = gguf.GGMLQuantizationType.Q8_0
        for tensor, values in tensors:
            if values.ndim == 1 or kind == "f32":
                writer.add_tensor(tensor, values)
            elif kind == "q8_0":
                writer.add_tensor(tensor, gguf.quants.quantize(values, packing), raw_dtype=packing)
            else:
                writer.add_tensor(tensor, values.astype("float16"))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return path


def _describe(writer: Any, sizes: Sizes, kind: str, name: str, epsilon: float, base: float) -> None:
    writer.add_name(name)
    writer.add_context_length(sizes.context)
    writer.add_embedding_length(sizes.width)
    writer.add_block_count(sizes.layers)
    writer.add_feed_forward_length(sizes.feed_forward)
    writer.add_head_count(sizes.heads)
    writer.add_head_count_kv(sizes.kv_heads)
    writer.add_layer_norm_rms_eps(epsilon)
    writer.add_rope_dimension_count(sizes.width // sizes.heads)
    writer.add_rope_freq_base(base)
    writer.add_vocab_size(sizes.vocab)
    writer.add_file_type(TYPES[kind])


def speak(writer: Any, vocabulary: Vocabulary) -> None:
    """Writes the vocabulary into the header."""
    writer.add_tokenizer_model(vocabulary.model)
    if vocabulary.model == "gpt2":
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_merges(vocabulary.merges)
    else:
        writer.add_token_scores(vocabulary.scores)
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types(vocabulary.types)
    if vocabulary.begin is not None:
        writer.add_bos_token_id(vocabulary.begin)
    writer.add_eos_token_id(vocabulary.end)
    writer.add_add_bos_token(vocabulary.begin is not None)
    writer.add_add_eos_token(False)
