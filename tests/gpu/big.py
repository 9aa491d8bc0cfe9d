"""A model of a 7B's shape in seconds: 8-bit weights written as bytes, and layers that share them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

from bt_lab.distill import gguf_writer
from tests.support import random_models as testing

SEVEN = testing.Shape(
    vocab=152_064, layers=28, width=3584, heads=28, kv_heads=4, feed_forward=18_944, context=32_768, dtype="q8_0"
)
SMALL = testing.Shape(
    vocab=8_192, layers=4, width=256, heads=4, kv_heads=2, feed_forward=512, context=32_768, dtype="q8_0"
)
_Q8 = gguf.GGMLQuantizationType.Q8_0
_SPREAD = 73  # the deviation of uniform signed bytes


def make(path: Path, shape: testing.Shape) -> Path:
    rng = np.random.default_rng(0)

    def weights(rows: int, columns: int, scale: float) -> Any:
        """A half-precision scale and 32 signed bytes a block; every 4,096 rows the same bytes, turned."""
        part = np.empty((min(rows, 4096), columns // 32, 34), np.uint8)
        part[..., 2:] = rng.integers(0, 256, (*part.shape[:2], 32), np.uint8)
        blocks = np.concatenate([np.roll(part, 7 * i, axis=1) for i in range(-(-rows // len(part)))])[:rows]
        blocks[..., :2] = np.frombuffer(np.float16(scale / _SPREAD).tobytes(), np.uint8)
        return blocks.reshape(rows, -1)

    wide, kv, inner = shape.width, shape.width * shape.kv_heads // shape.heads, shape.feed_forward
    scale = wide**-0.5
    square, narrow = weights(wide, wide, scale), weights(kv, wide, scale)
    up, down = weights(inner, wide, scale), weights(wide, inner, inner**-0.5)
    parts = {"attn_q": square, "attn_k": narrow, "attn_v": narrow, "attn_output": square, "ffn_gate": up, "ffn_up": up,
             "ffn_down": down}  # fmt: skip
    writer = gguf.GGUFWriter(str(path), "llama")
    gguf_writer._describe(writer, shape, "q8_0", path.stem, 1e-6, 1e6)
    gguf_writer.speak(writer, testing._vocabulary(shape, gguf.TokenType))
    writer.add_tensor("token_embd.weight", weights(shape.vocab, wide, 1.0), raw_dtype=_Q8)
    for number in range(shape.layers):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{number}.{name}.weight", np.ones(wide, np.float32))
        for name, values in parts.items():
            writer.add_tensor(f"blk.{number}.{name}.weight", values, raw_dtype=_Q8)
    writer.add_tensor("output_norm.weight", np.ones(wide, np.float32))
    writer.add_tensor("output.weight", weights(shape.vocab, wide, 3 * scale), raw_dtype=_Q8)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
