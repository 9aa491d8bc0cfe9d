"""Pictures and a projector for tests: PNG files of random pixels, random weights in the form of a LLaVA projector."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path
from typing import Any

WIDTH, HEADS, INNER, LAYERS, SIDE, PATCH = 32, 2, 64, 2, 32, 8
TOKENS = (SIDE // PATCH) ** 2  # of a picture


def png(seed: int, side: int = 24) -> bytes:
    """A picture of random pixels in RGB."""
    rng = random.Random(seed)
    rows = b"".join(b"\0" + rng.randbytes(3 * side) for _ in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def make_projector(path: Path, width: int, seed: int = 0) -> Path:
    """Writes a random projector for a model of this width."""
    import gguf
    import numpy as np

    rng = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(str(path), "clip")
    writer.add_type("mmproj")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_bool("clip.has_llava_projector", True)
    writer.add_string("clip.projector_type", "mlp")
    for name, number in (
        ("image_size", SIDE), ("patch_size", PATCH), ("embedding_length", WIDTH), ("feed_forward_length", INNER),
        ("block_count", LAYERS), ("projection_dim", width), ("attention.head_count", HEADS),
    ):  # fmt: skip
        writer.add_uint32(f"clip.vision.{name}", number)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
    writer.add_bool("clip.use_gelu", True)

    def add(name: str, *shape: int) -> None:
        scale = shape[-1] ** -0.5 if len(shape) == 2 else 0.1
        values: Any = rng.standard_normal(shape, dtype=np.float32) * scale
        writer.add_tensor(name, values)

    add("v.patch_embd.weight", WIDTH, 3, PATCH, PATCH)
    add("v.position_embd.weight", TOKENS, WIDTH)
    for n in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
            add(f"v.blk.{n}.{part}.weight", WIDTH, WIDTH)
            add(f"v.blk.{n}.{part}.bias", WIDTH)
        for part in ("ln1", "ln2"):
            writer.add_tensor(f"v.blk.{n}.{part}.weight", np.ones(WIDTH, np.float32))
            add(f"v.blk.{n}.{part}.bias", WIDTH)
        add(f"v.blk.{n}.ffn_up.weight", INNER, WIDTH)
        add(f"v.blk.{n}.ffn_up.bias", INNER)
        add(f"v.blk.{n}.ffn_down.weight", WIDTH, INNER)
        add(f"v.blk.{n}.ffn_down.bias", WIDTH)
    add("mm.0.weight", width, WIDTH)
    add("mm.0.bias", width)
    add("mm.2.weight", width, width)
    add("mm.2.bias", width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def jpeg() -> bytes:
    """A JPEG of 8 × 8 grey pixels, all equal: one block whose only coefficient is coded by a code of one bit."""
    parts = [
        (0xDB, b"\0" + bytes([1] * 64)), (0xC0, struct.pack(">BHHBBBB", 8, 8, 8, 1, 1, 0x11, 0)),
        (0xC4, b"\x00" + bytes([1, *[0] * 15]) + b"\0"), (0xC4, b"\x10" + bytes([1, *[0] * 15]) + b"\0"),
        (0xDA, b"\x01\x01\x00\x00\x3f\x00"),
    ]  # fmt: skip
    told = b"".join(b"\xff" + bytes([mark]) + struct.pack(">H", len(body) + 2) + body for mark, body in parts)
    return b"\xff\xd8" + told + b"\x3f" + b"\xff\xd9"
