"""Reads a file that `btr distill` made (weights, size and tokenizer), so that training can continue from it.

So the model that comes with the package can be taught with one's own runs, and a file is all that need be kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.distill import tokenizer
from bt_runtime.distill.size import Size
from bt_runtime.distill.tokenizer import Tokenizer
from bt_runtime.distill.torch_imports import torch
from bt_runtime.faults.diagnostic import BtError, MissingExtra

SUFFIX = ".gguf"


class Pretrained(NamedTuple):
    size: Size
    weights: dict[str, Any]
    tokenizer: Tokenizer


def read(path: Path) -> Pretrained:
    """Reads the file's weights; another architecture is refused."""
    try:
        import gguf
    except ImportError as absent:
        raise MissingExtra("reading a GGUF file", "distill") from absent
    try:
        reader = gguf.GGUFReader(str(path))
    except (OSError, ValueError) as fault:
        raise BtError(f"cannot read {path}: {fault}", "name a GGUF file that btr distill made") from fault
    told = {name: field.contents() for name, field in reader.fields.items()}
    if told.get("general.architecture") != "llama" or "distill.command" not in told:
        raise BtError(f"{path} was not made by btr distill", "only such files have the shape that training knows")
    size = Size(
        width=int(told["llama.embedding_length"]),
        layers=int(told["llama.block_count"]),
        heads=int(told["llama.attention.head_count"]),
        kv_heads=int(told["llama.attention.head_count_kv"]),
        feed_forward=int(told["llama.feed_forward_length"]),
        vocab=int(told["llama.vocab_size"]),
        context=int(told["llama.context_length"]),
        base=float(told["llama.rope.freq_base"]),
        epsilon=_short(told["llama.attention.layer_norm_rms_epsilon"]),
    )
    found = {
        tensor.name: torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy()).float()
        for tensor in reader.tensors
    }
    pairs = [tuple(merge.split(" ", 1)) for merge in told["tokenizer.ggml.merges"]]
    words = tokenizer.of_tables(told["tokenizer.ggml.tokens"], pairs)
    return Pretrained(size, dict(_weights(found, size)), words)


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
