"""Small random models whose attention is not plain: a sliding window in every other layer (Gemma 2), in five layers of
six and with norms on queries and keys (Gemma 3), and latent keys and values (DeepSeek 2's MLA)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.support.random_models import MICRO, Shape, vocabulary

Tensors = Iterator[tuple[str, Any]]
Draw = Callable[..., Any]
WINDOW = 32  # tokens that a sliding layer sees
_ROPE, _LATENT = 8, 16


def make_attending(path: Path, architecture: str, shape: Shape = MICRO) -> Path:
    import gguf
    import numpy as np

    rng = np.random.default_rng(shape.seed)

    def draw(*size: int, scale: float = 0.0) -> Any:
        return rng.standard_normal(size, dtype=np.float32) * (scale or size[-1] ** -0.5)

    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_name(f"random {architecture}")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(1e6 if architecture == "gemma3" else 10_000.0)  # Gemma 3's windows have 10,000
    writer.add_vocab_size(shape.vocab)
    writer.add_file_type(0)
    vocabulary(writer, shape)
    tensors = _ATTENDING[architecture](writer, shape, draw)
    writer.add_tensor("token_embd.weight", draw(shape.vocab, shape.width, scale=shape.width**-0.5))
    writer.add_tensor("output_norm.weight", np.ones(shape.width, dtype=np.float32))
    for name, values in tensors:
        writer.add_tensor(name, np.ascontiguousarray(values, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _feeds_forward(shape: Shape, at: str, draw: Draw) -> Tensors:
    yield at + "ffn_norm.weight", 1 + 0 * draw(shape.width)
    yield at + "ffn_gate.weight", draw(shape.feed_forward, shape.width)
    yield at + "ffn_up.weight", draw(shape.feed_forward, shape.width)
    yield at + "ffn_down.weight", draw(shape.width, shape.feed_forward)


def _gemma2(writer: Any, shape: Shape, draw: Draw) -> Tensors:
    wide, head = shape.width, shape.width // shape.heads
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_sliding_window(WINDOW)
    for i in range(shape.layers):
        at = f"blk.{i}."
        yield at + "attn_norm.weight", 1 + 0 * draw(wide)
        yield at + "attn_q.weight", draw(wide, wide)
        yield at + "attn_k.weight", draw(head * shape.kv_heads, wide)
        yield at + "attn_v.weight", draw(head * shape.kv_heads, wide)
        yield at + "attn_output.weight", draw(wide, wide)
        yield at + "post_attention_norm.weight", 1 + 0 * draw(wide)
        yield from _feeds_forward(shape, at, draw)
        yield at + "post_ffw_norm.weight", 1 + 0 * draw(wide)


def _gemma3(writer: Any, shape: Shape, draw: Draw) -> Tensors:
    """The first layer, with a window, and the sixth, without, say nearly all: where each layer of a random network adds
    much, the last digits are multiplied from layer to layer."""
    for name, values in _gemma2(writer, shape, draw):
        quiet = "post_" in name and not name.startswith(("blk.0.", "blk.5."))
        yield name, values * (0.1 if quiet else 1)
    for i in range(shape.layers):
        for norm in ("attn_q_norm", "attn_k_norm"):
            yield f"blk.{i}.{norm}.weight", 1 + 0 * draw(shape.width // shape.heads)


def _deepseek2(writer: Any, shape: Shape, draw: Draw) -> Tensors:
    wide, heads, plain = shape.width, shape.heads, shape.width // shape.heads
    writer.add_head_count_kv(1)
    writer.add_q_lora_rank(_LATENT)
    writer.add_kv_lora_rank(_LATENT)
    writer.add_key_length(_LATENT + _ROPE)
    writer.add_value_length(_LATENT)
    writer.add_key_length_mla(plain + _ROPE)
    writer.add_value_length_mla(plain)
    writer.add_rope_dimension_count(_ROPE)
    writer.add_leading_dense_block_count(shape.layers)
    writer.add_expert_feed_forward_length(shape.feed_forward)
    writer.add_expert_count(0)
    writer.add_expert_used_count(0)
    writer.add_expert_shared_count(0)
    yield "output.weight", draw(shape.vocab, wide, scale=shape.peak * wide**-0.5)
    for i in range(shape.layers):
        at = f"blk.{i}."
        yield at + "attn_norm.weight", 1 + 0 * draw(wide)
        yield at + "attn_q_a.weight", draw(_LATENT, wide)
        yield at + "attn_q_a_norm.weight", 1 + 0 * draw(_LATENT)
        yield at + "attn_q_b.weight", draw(heads * (plain + _ROPE), _LATENT)
        yield at + "attn_kv_a_mqa.weight", draw(_LATENT + _ROPE, wide)
        yield at + "attn_kv_a_norm.weight", 1 + 0 * draw(_LATENT)
        yield at + "attn_k_b.weight", draw(heads, _LATENT, plain)
        yield at + "attn_v_b.weight", draw(heads, plain, _LATENT)
        yield at + "attn_output.weight", draw(wide, heads * plain)
        yield from _feeds_forward(shape, at, draw)


_ATTENDING: dict[str, Callable[[Any, Shape, Draw], Tensors]] = {
    "gemma2": _gemma2, "gemma3": _gemma3, "deepseek2": _deepseek2,
}  # fmt: skip
ATTENDING = ("gemma2", "deepseek2")
