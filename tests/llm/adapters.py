"""LoRA adapters for tests: as GGUF files, and added to the weights themselves."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np


def drawn(seed: int, model: Path, rank: int = 4, size: float = 0.05) -> dict[str, tuple[Any, Any]]:
    """Random (A, B) for the matrices of every layer."""
    rng = np.random.default_rng(seed)
    found = {}
    for tensor in gguf.GGUFReader(model).tensors:
        if tensor.name.startswith("blk.") and "norm" not in tensor.name:
            inner, outer = (int(n) for n in tensor.shape)
            a, b = rng.standard_normal((rank, inner)), rng.standard_normal((outer, rank))
            found[tensor.name] = tuple((size * x).astype(np.float32) for x in (a, b))
    return found


def write_adapter(path: Path, pairs: Mapping[str, tuple[Any, Any]], alpha: float, architecture: str = "llama") -> Path:
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for name, (a, b) in pairs.items():
        writer.add_tensor(f"{name}.lora_a", a)
        writer.add_tensor(f"{name}.lora_b", b)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def merged(path: Path, model: Path, pairs: Mapping[str, tuple[Any, Any]], scale: float) -> Path:
    """A whole model (f32) whose matrices are W + scale·B·A."""
    shutil.copy(model, path)
    for tensor in gguf.GGUFReader(path, "r+").tensors:
        if tensor.name in pairs:
            a, b = pairs[tensor.name]
            tensor.data[:] = tensor.data + np.float32(scale) * (b @ a)
    return path
