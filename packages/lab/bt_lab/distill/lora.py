"""Low-rank adapters (LoRA): a finished network is frozen, and two small matrices beside each of its large ones learn.
An adapter is written as a GGUF file that llama.cpp lays over the model's own file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bt_lab.distill.gguf_file import paired
from bt_lab.distill.network import Network
from bt_lab.distill.size import Size
from bt_lab.distill.torch_imports import nn, torch
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import disk
from bt_runtime.types import Json

PARTS = ("qkv", "out", "gate_up", "down")  # parts of a layer
LEARNT = (".a", ".b")  # ends of the adapters' names


class Adapted(nn.Module):  # type: ignore[misc]
    """A frozen matrix with an adapter of rank `rank`. Initially the adapter adds nothing."""

    def __init__(self, base: Any, rank: int, alpha: float) -> None:
        super().__init__()
        self.base, self.scale = base, alpha / rank
        self.a = nn.Parameter(torch.randn(rank, base.in_features) * base.in_features**-0.5)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: Any) -> Any:
        return self.base(x) + self.scale * (x @ self.a.T) @ self.b.T


def adapt(network: Network, rank: int, alpha: float, seed: int, layers: int = 0) -> None:
    """Freezes a network and adds adapters to its last `layers`, or to all of them. Layers before the first adapter need
    no gradients."""
    torch.manual_seed(seed)
    network.requires_grad_(False)
    for block in network.blocks[-layers:] if layers else network.blocks:
        for part in PARTS:
            setattr(block, part, Adapted(getattr(block, part), rank, alpha))


def learnt(network: Network) -> dict[str, Any]:
    """Returns the adapters' weights by name."""
    return {name: value for name, value in network.state_dict().items() if name.endswith(LEARNT)}


def write(path: Path, weights: dict[str, Any], size: Size, alpha: float, about: dict[str, Json]) -> Path:
    """Writes the adapter as a GGUF file of 16 bits a weight, which appears under its name when it is complete."""
    with Extra("distill", "writing a GGUF file"):
        import gguf
    weights = {name: value.detach().to("cpu", torch.float16) for name, value in weights.items()}
    if not all(bool(torch.isfinite(value).all()) for value in weights.values()):
        raise BtError("the adapter holds what is not a number", "train again with a lower --rate")
    path.parent.mkdir(parents=True, exist_ok=True)
    with disk.draft(path) as partial:
        writer = gguf.GGUFWriter(str(partial), size.architecture)
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", alpha)
        writer.add_name(path.stem)
        for key, value in about.items():
            writer.add_string(key if "." in key else f"finetune.{key}", str(value))
        for name, value in tensors(weights, size):
            writer.add_tensor(name, value.contiguous().numpy())
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return path


def tensors(weights: dict[str, Any], size: Size) -> Iterator[tuple[str, Any]]:
    """Yields the adapters under llama.cpp's names. Where llama.cpp splits one of our matrices, the parts share its
    `a`."""
    kv = size.head * size.kv_heads
    for i in range(size.layers):
        for part in PARTS if f"blocks.{i}.{PARTS[0]}.a" in weights else ():
            a, b = weights[f"blocks.{i}.{part}.a"], weights[f"blocks.{i}.{part}.b"]
            if part == "qkv":
                q, k, v = b.split([size.head * size.heads, kv, kv])
                if size.paired:
                    q, k = paired(q, size.heads), paired(k, size.kv_heads)
                named = {"attn_q": q, "attn_k": k, "attn_v": v}
            elif part == "gate_up":
                named = dict(zip(("ffn_gate", "ffn_up"), b.chunk(2), strict=True))
            else:
                named = {"attn_output" if part == "out" else "ffn_down": b}
            for name, value in named.items():
                yield f"blk.{i}.{name}.weight.lora_a", a
                yield f"blk.{i}.{name}.weight.lora_b", value
