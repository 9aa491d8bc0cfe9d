"""The trained network as a GGUF file: weights, tokenizer, chat template, and where it all comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bt_runtime.diagnose import BtError, MissingExtra
from bt_runtime.distill.needs import torch
from bt_runtime.distill.network import Size
from bt_runtime.distill.tokenizer import END, Tokenizer
from bt_runtime.types import Json

TYPES = {"f32": 0, "f16": 1, "q8_0": 7}  # our name → the file type's number
# A system text and what is asked, as `agents.prompt` writes them for a base model: both ways in give the same text.
CHAT_TEMPLATE = (
    "{% for message in messages %}{% if message['content'] %}{{ message['content'] }}\n"
    "{% if message['role'] == 'system' %}\n{% endif %}{% endif %}{% endfor %}"
)


def write(
    path: Path,
    weights: Mapping[str, Any],
    size: Size,
    tokenizer: Tokenizer,
    kind: str = "q8_0",
    about: Mapping[str, Json] | None = None,
) -> Path:
    """Write the file; it appears under its name only when it is whole. `about` goes into it under `distill.*`."""
    try:
        import gguf
    except ImportError as absent:
        raise MissingExtra("writing a GGUF file", "distill") from absent
    if kind not in TYPES:
        raise BtError(f"there is no type `{kind}`", f"types: {', '.join(TYPES)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".gguf.tmp")
    writer = gguf.GGUFWriter(str(partial), "llama")
    _describe(writer, size, kind, about or {})
    _speak(writer, tokenizer, gguf.TokenType)
    for name, values in tensors(weights, size):
        if kind == "q8_0" and values.ndim > 1:
            packed = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(name, packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(name, values.astype("float16") if kind == "f16" and values.ndim > 1 else values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return partial.replace(path)


def _describe(writer: Any, size: Size, kind: str, about: Mapping[str, Json]) -> None:
    writer.add_name(str(about.get("name", "distilled")))
    writer.add_license("Apache-2.0")
    writer.add_description("A small planner of behaviour trees, made by `btr distill`")
    writer.add_context_length(size.context)
    writer.add_embedding_length(size.width)
    writer.add_block_count(size.layers)
    writer.add_feed_forward_length(size.feed_forward)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv(size.kv_heads)
    writer.add_layer_norm_rms_eps(size.epsilon)
    writer.add_rope_dimension_count(size.head)
    writer.add_rope_freq_base(size.base)
    writer.add_vocab_size(size.vocab)
    writer.add_file_type(TYPES[kind])
    for key, value in about.items():
        if key != "name":
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            writer.add_string(f"distill.{key}", told)


def _speak(writer: Any, tokenizer: Tokenizer, kind: Any) -> None:
    tokens, merges = tokenizer.tables()
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([kind.CONTROL if token == END else kind.NORMAL for token in tokens])
    writer.add_token_merges([f"{left} {right}" for left, right in merges])
    writer.add_eos_token_id(tokenizer.end)
    writer.add_pad_token_id(tokenizer.end)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def tensors(weights: Mapping[str, Any], size: Size) -> Iterator[tuple[str, Any]]:
    """Our weights by the names that llama.cpp gives them; the embedding is the output as well."""
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
    """Rows of queries or keys in llama.cpp's order: it turns neighbours with one another, we the halves of a head."""
    rows, width = weight.shape
    return weight.view(heads, 2, rows // heads // 2, width).transpose(1, 2).reshape(rows, width)
