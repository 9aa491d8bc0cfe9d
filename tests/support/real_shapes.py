"""Files with made-up weights in the shapes of models that people run, for sizing and speed alone. The sizes are facts
of the makers' published configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bt_lab.distill.gguf_writer import speak
from tests.support.random_models import Shape as Words
from tests.support.random_models import spoken

Tensor = tuple[str, tuple[int, ...], str]  # name, size, type
Header = Mapping[str, int | float | list[int]]
_SCALES = {"q4_0": 0.004, "q8_0": 0.0003}  # of a block, so that what a layer gives is about as large as what it takes
_EXPONENT = 121  # … of a block of mxfp4: 2 to the power of -6
_PATTERN = 1 << 22  # bytes of one pattern, which is repeated


class RealShape(NamedTuple):
    architecture: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    head: int
    feed_forward: int
    vocab: int
    context: int
    tied: bool = False
    more: Header = MappingProxyType({})


SHAPES = {
    "Qwen3-8B": RealShape("qwen3", 36, 4096, 32, 8, 128, 12288, 151_936, 40_960),
    "Llama-3.1-8B": RealShape("llama", 32, 4096, 32, 8, 128, 14336, 128_256, 131_072),
    "gpt-oss-20b": RealShape(
        "gpt-oss", 24, 2880, 64, 8, 64, 2880, 201_088, 131_072, False,
        {"expert_count": 32, "expert_used_count": 4, "expert_feed_forward_length": 2880,
         "attention.sliding_window": 128},
    ),
    "Qwen3.5-4B": RealShape(
        "qwen35", 32, 2560, 16, 4, 256, 9216, 248_320, 262_144, True,
        {"full_attention_interval": 4, "rope.dimension_count": 64, "rope.dimension_sections": [11, 11, 10, 0],
         "ssm.conv_kernel": 4, "ssm.state_size": 128, "ssm.group_count": 16, "ssm.time_step_rank": 32,
         "ssm.inner_size": 4096},
    ),
    "Gemma-3-4B": RealShape(
        "gemma3", 34, 2560, 8, 4, 256, 10240, 262_144, 131_072, True, {"attention.sliding_window": 1024}
    ),
}  # fmt: skip


def smaller(shape: RealShape) -> RealShape:
    """The same architecture in a few megabytes."""
    small = {"expert_feed_forward_length": 64, "expert_count": 4, "expert_used_count": 2, "ssm.group_count": 2,
             "ssm.time_step_rank": 4, "ssm.state_size": 32, "ssm.inner_size": 128}  # fmt: skip
    return shape._replace(
        layers=4, width=128, heads=4, kv_heads=2, head=min(shape.head, 128), feed_forward=64, vocab=8448, context=2048,
        more={key: small.get(key, value) for key, value in shape.more.items()},
    )  # fmt: skip


def make_shape(path: Path, shape: RealShape) -> Path:
    """Writes the file. Weights have 4 bits, experts MXFP4, as such models are mostly run."""
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(str(path), shape.architecture)
    for key, value in header_of(shape).items():
        name = f"{shape.architecture}.{key}"
        if isinstance(value, list):
            writer.add_array(name, value)
        else:
            (writer.add_float32 if isinstance(value, float) else writer.add_uint32)(name, value)
    writer.add_file_type(2)
    speak(writer, _vocabulary(shape.vocab))
    tensors = [*_tensors(shape)]
    types = {name: getattr(gguf.GGMLQuantizationType, name.upper()) for name in ("f32", *_SCALES, "mxfp4")}
    sizes = []
    for name, size, kind in tensors:
        block, per = gguf.GGML_QUANT_SIZES[types[kind]]
        sizes.append(int(np.prod(size)) // block * per)
        writer.add_tensor_info(name, size, np.dtype(np.float32), sizes[-1], types[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    rng = np.random.default_rng(0)
    patterns = {kind: _pattern(kind, gguf.GGML_QUANT_SIZES[types[kind]][1], rng) for kind in (*_SCALES, "mxfp4")}
    for (name, size, kind), bytes_ in zip(tensors, sizes, strict=True):
        if kind == "f32":
            values = np.ones(size, np.float32) if "norm" in name else rng.standard_normal(size, dtype=np.float32) / 50
            writer.write_tensor_data(-np.abs(values) - 1 if name.endswith("ssm_a") else values)
        else:
            writer.write_tensor_data(np.resize(patterns[kind], bytes_))
    writer.close()
    return path


def _pattern(kind: str, per: int, rng: Any) -> Any:
    """Random blocks of this type, each `per` bytes with a scale that is the same in all."""
    import numpy as np

    blocks = rng.integers(0, 256, (_PATTERN // per, per), dtype=np.uint8)
    if kind == "mxfp4":
        blocks[:, 0] = _EXPONENT
    else:
        blocks[:, :2] = np.frombuffer(np.float16(_SCALES[kind]).tobytes(), np.uint8)
    return blocks.reshape(-1)


def header_of(shape: RealShape) -> Header:
    return {
        "context_length": shape.context, "embedding_length": shape.width, "block_count": shape.layers,
        "feed_forward_length": shape.feed_forward, "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads, "attention.key_length": shape.head,
        "attention.value_length": shape.head, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1e6,
        "vocab_size": shape.vocab, **shape.more,
    }  # fmt: skip


def _vocabulary(size: int) -> Any:
    """A few thousand words, and more up to the size that no text has."""
    known = spoken(Words(vocab=8192))
    unused = [f"unused{number}" for number in range(size - len(known.tokens))]
    return known._replace(tokens=[*known.tokens, *unused], types=[*known.types, *[1] * len(unused)])


def _tensors(shape: RealShape) -> Iterator[Tensor]:
    large = "q4_0" if shape.architecture != "gpt-oss" else "q8_0"
    yield "token_embd.weight", (shape.vocab, shape.width), large
    for i in range(shape.layers):
        for name, size, kind in _LAYERS[shape.architecture](shape, i):
            yield f"blk.{i}.{name}", size, kind
    yield "output_norm.weight", (shape.width,), "f32"
    if not shape.tied:
        yield "output.weight", (shape.vocab, shape.width), "q8_0"


def _attends(shape: RealShape, gates: int = 1, kind: str = "q4_0") -> Iterator[Tensor]:
    """`gates`: 2 where queries come with a gate."""
    wide, kv = shape.heads * shape.head, shape.kv_heads * shape.head
    yield "attn_q.weight", (gates * wide, shape.width), kind
    yield "attn_k.weight", (kv, shape.width), kind
    yield "attn_v.weight", (kv, shape.width), kind
    yield "attn_output.weight", (shape.width, wide), kind


def _normed(*names: str, size: int) -> Iterator[Tensor]:
    yield from ((f"{name}.weight", (size,), "f32") for name in names)


def _feeds_forward(shape: RealShape) -> Iterator[Tensor]:
    yield "ffn_gate.weight", (shape.feed_forward, shape.width), "q4_0"
    yield "ffn_up.weight", (shape.feed_forward, shape.width), "q4_0"
    yield "ffn_down.weight", (shape.width, shape.feed_forward), "q4_0"


def _llama(shape: RealShape, _i: int) -> Iterator[Tensor]:
    yield from _normed("attn_norm", "ffn_norm", size=shape.width)
    yield from _attends(shape)
    yield from _feeds_forward(shape)


def _qwen3(shape: RealShape, i: int) -> Iterator[Tensor]:
    yield from _llama(shape, i)
    yield from _normed("attn_q_norm", "attn_k_norm", size=shape.head)


def _gemma3(shape: RealShape, i: int) -> Iterator[Tensor]:
    yield from _qwen3(shape, i)
    yield from _normed("post_attention_norm", "post_ffw_norm", size=shape.width)


def _gpt_oss(shape: RealShape, _i: int) -> Iterator[Tensor]:
    wide, kv, experts = shape.heads * shape.head, shape.kv_heads * shape.head, int(shape.more["expert_count"])  # type: ignore[arg-type]
    inner, width = shape.feed_forward, shape.width
    yield from _normed("attn_norm", "post_attention_norm", size=width)
    yield from _attends(shape, kind="q8_0")
    for name, size in (("q", wide), ("k", kv), ("v", kv), ("output", width)):
        yield f"attn_{name}.bias", (size,), "f32"
    yield "attn_sinks.weight", (shape.heads,), "f32"
    yield "ffn_gate_inp.weight", (experts, width), "f32"
    yield "ffn_gate_inp.bias", (experts,), "f32"
    for name, out, into in (("gate", inner, width), ("up", inner, width), ("down", width, inner)):
        yield f"ffn_{name}_exps.weight", (experts, out, into), "mxfp4"
        yield f"ffn_{name}_exps.bias", (experts, out), "f32"


def _qwen35(shape: RealShape, i: int) -> Iterator[Tensor]:
    """Every fourth layer attends; the others keep a state."""
    more: Any = shape.more
    state, values, width = more["ssm.state_size"], more["ssm.time_step_rank"], shape.width
    mixed, inner = 2 * state * more["ssm.group_count"] + state * values, state * values
    yield from _normed("attn_norm", "post_attention_norm", size=width)
    yield from _feeds_forward(shape)
    if (i + 1) % more["full_attention_interval"] == 0:
        yield from _attends(shape, gates=2)
        yield from _normed("attn_q_norm", "attn_k_norm", size=shape.head)
        return
    yield "attn_qkv.weight", (mixed, width), "q4_0"
    yield "attn_gate.weight", (inner, width), "q4_0"
    yield "ssm_conv1d.weight", (mixed, more["ssm.conv_kernel"]), "f32"
    yield "ssm_dt.bias", (values,), "f32"
    yield "ssm_a", (values,), "f32"
    yield "ssm_beta.weight", (values, width), "q4_0"
    yield "ssm_alpha.weight", (values, width), "q4_0"
    yield from _normed("ssm_norm", size=state)
    yield "ssm_out.weight", (width, inner), "q4_0"


_LAYERS = {"llama": _llama, "qwen3": _qwen3, "gemma3": _gemma3, "gpt-oss": _gpt_oss, "qwen35": _qwen35}
