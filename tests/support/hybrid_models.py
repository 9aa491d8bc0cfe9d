"""Small random models that keep a state besides (or instead of) a cache of tokens: Mamba, LFM2, Granite 4's hybrid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.support.random_models import MICRO, Shape, vocabulary

Tensors = Iterator[tuple[str, Any]]
Draw = Callable[..., Any]

_STATE, _CONV, _HEADS, _GROUPS = 16, 4, 4, 1
ATTENTION = (1,)  # the layers of a hybrid that attend; the others keep a state


def make_hybrid(path: Path, architecture: str, shape: Shape = MICRO) -> Path:
    """`mamba` keeps a state alone; `lfm2` and `granitehybrid` keep one in every layer that does not attend."""
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
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(shape.vocab)
    writer.add_file_type(0)
    vocabulary(writer, shape)
    tensors = _HEADERS[architecture](writer, shape, draw)
    writer.add_tensor("token_embd.weight", draw(shape.vocab, shape.width, scale=1.0))
    norm = "token_embd_norm.weight" if architecture == "lfm2" else "output_norm.weight"
    writer.add_tensor(norm, np.ones(shape.width, dtype=np.float32))
    writer.add_tensor("output.weight", draw(shape.vocab, shape.width, scale=shape.peak * shape.width**-0.5))
    for name, values in tensors:
        writer.add_tensor(name, np.ascontiguousarray(values, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _mamba(writer: Any, shape: Shape, draw: Draw) -> Tensors:
    inner, rank = 2 * shape.width, 4
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_ssm_conv_kernel(_CONV)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(_STATE)
    writer.add_ssm_time_step_rank(rank)
    for i in range(shape.layers):
        at = f"blk.{i}."
        yield at + "attn_norm.weight", 1 + 0 * draw(shape.width)
        yield at + "ssm_in.weight", draw(2 * inner, shape.width)
        yield at + "ssm_conv1d.weight", draw(inner, _CONV)
        yield at + "ssm_conv1d.bias", 0 * draw(inner)
        yield at + "ssm_x.weight", draw(rank + 2 * _STATE, inner)
        yield at + "ssm_dt.weight", draw(inner, rank)
        yield at + "ssm_dt.bias", 0 * draw(inner)
        yield at + "ssm_a", -abs(draw(inner, _STATE, scale=1.0))
        yield at + "ssm_d", draw(inner, scale=1.0)
        yield at + "ssm_out.weight", draw(shape.width, inner)


def _attends(shape: Shape, at: str, draw: Draw) -> Tensors:
    wide, kv = shape.width, shape.width * shape.kv_heads // shape.heads
    yield at + "attn_q.weight", draw(wide, wide)
    yield at + "attn_k.weight", draw(kv, wide)
    yield at + "attn_v.weight", draw(kv, wide)
    yield at + "attn_output.weight", draw(wide, wide)


def _feeds_forward(shape: Shape, at: str, draw: Draw) -> Tensors:
    yield at + "ffn_norm.weight", 1 + 0 * draw(shape.width)
    yield at + "ffn_gate.weight", draw(shape.feed_forward, shape.width)
    yield at + "ffn_up.weight", draw(shape.feed_forward, shape.width)
    yield at + "ffn_down.weight", draw(shape.width, shape.feed_forward)


def _heads(writer: Any, shape: Shape) -> None:
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv([shape.kv_heads if i in ATTENTION else 0 for i in range(shape.layers)])
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_rope_freq_base(10_000.0)


def _lfm2(writer: Any, shape: Shape, draw: Draw) -> Tensors:
    wide, head = shape.width, shape.width // shape.heads
    _heads(writer, shape)
    writer.add_shortconv_l_cache(3)
    for i in range(shape.layers):
        at = f"blk.{i}."
        yield at + "attn_norm.weight", 1 + 0 * draw(wide)
        yield from _feeds_forward(shape, at, draw)
        if i in ATTENTION:
            yield at + "attn_q_norm.weight", 1 + 0 * draw(head)
            yield at + "attn_k_norm.weight", 1 + 0 * draw(head)
            yield from _attends(shape, at, draw)
        else:
            yield at + "shortconv.conv.weight", draw(wide, 3)
            yield at + "shortconv.in_proj.weight", draw(3 * wide, wide)
            yield at + "shortconv.out_proj.weight", draw(wide, wide)


def _granite(writer: Any, shape: Shape, draw: Draw) -> Tensors:
    wide, inner = shape.width, 2 * shape.width
    mixed = inner + 2 * _GROUPS * _STATE
    _heads(writer, shape)
    writer.add_ssm_conv_kernel(_CONV)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(_STATE)
    writer.add_ssm_time_step_rank(_HEADS)
    writer.add_ssm_group_count(_GROUPS)
    for i in range(shape.layers):
        at = f"blk.{i}."
        yield at + "attn_norm.weight", 1 + 0 * draw(wide)
        yield from _feeds_forward(shape, at, draw)
        if i in ATTENTION:
            yield from _attends(shape, at, draw)
        else:
            yield at + "ssm_in.weight", draw(2 * inner + 2 * _GROUPS * _STATE + _HEADS, wide)
            yield at + "ssm_conv1d.weight", draw(mixed, _CONV)
            yield at + "ssm_conv1d.bias", 0 * draw(mixed)
            yield at + "ssm_dt.bias", 0 * draw(_HEADS)
            yield at + "ssm_a", -abs(draw(_HEADS, 1, scale=1.0))
            yield at + "ssm_d", draw(_HEADS, 1, scale=1.0)
            yield at + "ssm_norm.weight", 1 + 0 * draw(_GROUPS, inner // _GROUPS)
            yield at + "ssm_out.weight", draw(wide, inner)


_HEADERS: dict[str, Callable[[Any, Shape, Draw], Tensors]] = {
    "mamba": _mamba,
    "lfm2": _lfm2,
    "granitehybrid": _granite,
}
HYBRIDS = tuple(_HEADERS)
