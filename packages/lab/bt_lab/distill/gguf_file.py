"""Exports the trained network as a GGUF file: weights, tokenizer, chat template, and the origin of all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bt_lab.distill import gguf_writer
from bt_lab.distill.size import Size
from bt_lab.distill.tokenizer import END, Tokenizer
from bt_lab.distill.torch_imports import torch
from bt_runtime.types import Json

_NORMAL, _CONTROL = 1, 3  # types of tokens, as the format numbers them
# A system text and what is asked, as `agents.prompt` writes them for a base model: both ways in give the same text.
CHAT_TEMPLATE = (
    "{% for message in messages %}{% if message['content'] %}"
    "{{ message['content'] + ('\\n\\n' if message['role'] == 'system' else '\\n') }}"
    "{% endif %}{% endfor %}"
)


def write(
    path: Path,
    weights: Mapping[str, Any],
    size: Size,
    tokenizer: Tokenizer,
    kind: str = "q8_0",
    about: Mapping[str, Json] | None = None,
) -> Path:
    """Writes the file; it appears under its name when it is complete. `about` is stored under `distill.*`."""
    about = about or {}
    words = vocabulary(tokenizer)

    def extra(writer: Any) -> None:
        writer.add_license("Apache-2.0")
        writer.add_description("A small planner of behaviour trees, made by `btr lab distill`")
        writer.add_pad_token_id(tokenizer.end)
        writer.add_chat_template(CHAT_TEMPLATE)
        for key, value in about.items():
            if key != "name":
                told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                writer.add_string(f"distill.{key}", told)

    return gguf_writer.write(
        path, size, kind, words, tensors(weights, size),
        name=str(about.get("name", "distilled")), epsilon=size.epsilon, base=size.base, extra=extra,
    )  # fmt: skip


def vocabulary(tokenizer: Tokenizer) -> gguf_writer.Vocabulary:
    tokens, merges = tokenizer.tables()
    kinds = [_CONTROL if token == END else _NORMAL for token in tokens]
    return gguf_writer.Vocabulary("gpt2", tokens, kinds, [" ".join(pair) for pair in merges], (), tokenizer.end)


def tensors(weights: Mapping[str, Any], size: Size) -> Iterator[tuple[str, Any]]:
    """Yields our weights under llama.cpp's names; the embedding is also the output matrix."""
    kv = size.head * size.kv_heads

    def plain(tensor: Any) -> Any:
        return tensor.detach().to("cpu", torch.float32).contiguous().numpy()

    yield "token_embd.weight", plain(weights["embedding.weight"])
    for i in range(size.layers):
        of = f"blocks.{i}"
        q, k, v = weights[f"{of}.qkv.weight"].split([size.width, kv, kv])
        gate, up = weights[f"{of}.gate_up.weight"].chunk(2)
        yield f"blk.{i}.attn_norm.weight", plain(weights[f"{of}.attention_norm.weight"])
        yield f"blk.{i}.attn_q.weight", plain(paired(q, size.heads))
        yield f"blk.{i}.attn_k.weight", plain(paired(k, size.kv_heads))
        yield f"blk.{i}.attn_v.weight", plain(v)
        yield f"blk.{i}.attn_output.weight", plain(weights[f"{of}.out.weight"])
        yield f"blk.{i}.ffn_norm.weight", plain(weights[f"{of}.feed_norm.weight"])
        yield f"blk.{i}.ffn_gate.weight", plain(gate)
        yield f"blk.{i}.ffn_up.weight", plain(up)
        yield f"blk.{i}.ffn_down.weight", plain(weights[f"{of}.down.weight"])
    yield "output_norm.weight", plain(weights["norm.weight"])


def paired(weight: Any, heads: int) -> Any:
    """Reorders the rows of queries or keys: llama.cpp rotates neighbouring rows, we rotate the halves of a head."""
    rows, width = weight.shape
    return weight.view(heads, 2, rows // heads // 2, width).transpose(1, 2).reshape(rows, width)
