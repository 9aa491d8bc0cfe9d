"""Reads a file that `btr lab distill` made (weights, size and tokenizer), so that training can continue from it.

So the model that comes with the package can be taught with one's own runs, and a file is all that need be kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.distill import gemma, tokenizer
from bt_lab.distill.size import Size
from bt_lab.distill.tokenizer import Tokenizer
from bt_lab.distill.torch_imports import torch
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra

SUFFIX = ".gguf"


class Pretrained(NamedTuple):
    size: Size
    weights: dict[str, Any]
    tokenizer: Tokenizer


def read(path: Path) -> Pretrained:
    """Reads a file that `btr lab distill` made, its tokenizer included."""
    told, found = _opened(path)
    if told.get("general.architecture") != "llama" or "distill.command" not in told:
        raise BtError(f"{path} was not made by btr lab distill", "only such files have the shape that training knows")
    pairs = [tuple(merge.split(" ", 1)) for merge in told["tokenizer.ggml.merges"]]
    words = tokenizer.of_tables(told["tokenizer.ggml.tokens"], pairs)
    size = _size(told)
    return Pretrained(size, dict(_weights(found, size)), words)


def read_any(path: Path, context: int) -> tuple[Size, dict[str, Any]]:
    """Reads a model of the Llama architecture or of Gemma's whoever made it; its weights become 32-bit numbers.
    `context`: the longest text to train on."""
    told, found = _opened(path)
    why = unlike(told, found)
    if why:
        raise BtError(
            f"{path} cannot be trained here: {why}",
            "the network of btr lab finetune is a plain Llama or Gemma 3; docs/finetune.md names tools for others",
        )
    if told["general.architecture"] == gemma.ARCHITECTURE:
        other = gemma.size_of(told, context)
        return other, gemma.weights_of(found, other)
    size = replace(_size(told), context=context)
    output = {"output.weight": found["output.weight"]} if "output.weight" in found else {}
    return size, dict(_weights(found, size)) | output


def unlike(told: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Why this is neither of the architectures that we have a network for; empty when it is one."""
    kind = told.get("general.architecture")
    if kind not in _KNOWN:
        return f"its architecture is {kind}"
    tensors, layer, odd_heads, heads = _KNOWN[kind]
    more = sorted(name for name in found if name not in tensors and not layer.fullmatch(name))
    if more:
        return f"it has the weights {more[0]}"
    if odd_heads(told):
        return heads
    start = f"{kind}.rope.scaling"
    scaled = next((key for key in told if key.startswith(start) and told[key] not in ("none", 1.0)), "")
    return f"its positions are scaled ({scaled})" if scaled else ""


def _odd_heads(told: Mapping[str, Any]) -> bool:
    head = told["llama.embedding_length"] // told["llama.attention.head_count"]
    return any(told.get(f"llama.{key}", head) != head for key in ("attention.key_length", "rope.dimension_count"))


_LAYER = re.compile(r"blk\.\d+\.(attn_(norm|q|k|v|output)|ffn_(norm|gate|up|down))\.weight")
_KNOWN: dict[Any, tuple[tuple[str, ...], re.Pattern[str], Callable[[Mapping[str, Any]], bool], str]] = {
    "llama": (
        ("token_embd.weight", "output_norm.weight", "output.weight"), _LAYER, _odd_heads,
        "its heads are of another size than its width says",
    ),
    gemma.ARCHITECTURE: (
        gemma.TENSORS, gemma.LAYER, gemma.odd_heads, "its keys and values are of different sizes",
    ),
}  # fmt: skip


def _opened(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header, and the weights as 32-bit numbers."""
    with Extra("distill", "reading a GGUF file"):
        import gguf
    try:
        reader = gguf.GGUFReader(str(path))
    except (OSError, ValueError) as fault:
        raise BtError(f"cannot read {path}: {fault}", "name a GGUF file") from fault
    told = {name: field.contents() for name, field in reader.fields.items()}
    found = {
        tensor.name: torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy()).float()
        for tensor in reader.tensors
    }
    return told, found


def _size(told: Mapping[str, Any]) -> Size:
    heads = int(told["llama.attention.head_count"])
    return Size(
        width=int(told["llama.embedding_length"]),
        layers=int(told["llama.block_count"]),
        heads=heads,
        kv_heads=int(told.get("llama.attention.head_count_kv", heads)),
        feed_forward=int(told["llama.feed_forward_length"]),
        vocab=int(told.get("llama.vocab_size") or len(told["tokenizer.ggml.tokens"])),
        context=int(told["llama.context_length"]),
        base=float(told.get("llama.rope.freq_base", 10_000.0)),
        epsilon=_short(told["llama.attention.layer_norm_rms_epsilon"]),
    )


def _weights(found: dict[str, Any], size: Size) -> list[tuple[str, Any]]:
    """Returns the weights under our network's names, the reverse of `gguf_file.tensors`."""
    weights = [("embedding.weight", found["token_embd.weight"]), ("norm.weight", found["output_norm.weight"])]
    for i in range(size.layers):
        of, theirs = f"blocks.{i}", f"blk.{i}"
        q = parted(found[f"{theirs}.attn_q.weight"], size.heads)
        k = parted(found[f"{theirs}.attn_k.weight"], size.kv_heads)
        weights += [
            (f"{of}.attention_norm.weight", found[f"{theirs}.attn_norm.weight"]),
            (f"{of}.qkv.weight", torch.cat([q, k, found[f"{theirs}.attn_v.weight"]])),
            (f"{of}.out.weight", found[f"{theirs}.attn_output.weight"]),
            (f"{of}.feed_norm.weight", found[f"{theirs}.ffn_norm.weight"]),
            (f"{of}.gate_up.weight", torch.cat([found[f"{theirs}.ffn_gate.weight"], found[f"{theirs}.ffn_up.weight"]])),
            (f"{of}.down.weight", found[f"{theirs}.ffn_down.weight"]),
        ]
    return weights


def parted(weight: Any, heads: int) -> Any:
    """Reorders rows to our layout, the reverse of `gguf_file.paired`."""
    rows, width = weight.shape
    return weight.view(heads, rows // heads // 2, 2, width).transpose(1, 2).reshape(rows, width)


def _short(number: float) -> float:
    """Shortens a number that lost precision as a 32-bit float, to 1e-05 for example."""
    return float(f"{number:.6g}")
