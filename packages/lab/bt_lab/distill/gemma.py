"""Gemma 3's network beside the plain Llama: heads of a size of their own, a norm on each query and key and behind each
half of a layer, and five layers of six that look back no further than a window."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bt_lab.distill.network import Attention, Block, Network, Norm, Piece, places_of, rotations, turned
from bt_lab.distill.size import Size
from bt_lab.distill.torch_imports import functional, nn, torch

ARCHITECTURE = "gemma3"
_NEAR = 10_000.0  # the base of the positions in layers with a window
_EACH = 6  # every sixth layer has no window
TENSORS = ("token_embd.weight", "output_norm.weight")
_NORMS = {"q_norm": "attn_q_norm", "k_norm": "attn_k_norm", "attended_norm": "post_attention_norm",
          "fed_norm": "post_ffw_norm", "attention_norm": "attn_norm", "feed_norm": "ffn_norm"}  # fmt: skip
LAYER = re.compile(
    r"blk\.\d+\.(attn_(norm|q|k|v|output|q_norm|k_norm)|ffn_(norm|gate|up|down)|post_(attention|ffw)_norm)\.weight"
)


@dataclass(frozen=True, slots=True)
class GemmaSize(Size):
    head_size: int = 256
    window: int = 512

    architecture = ARCHITECTURE
    paired = False

    def __post_init__(self) -> None:
        """Heads need not divide the width."""

    @property
    def head(self) -> int:
        return self.head_size


class GemmaBlock(Block):
    def __init__(self, size: GemmaSize, window: int) -> None:
        super().__init__(size)
        self.window = window
        self.q_norm, self.k_norm = Norm(size.head, size.epsilon), Norm(size.head, size.epsilon)
        self.attended_norm, self.fed_norm = Norm(size.width, size.epsilon), Norm(size.width, size.epsilon)

    def before(self, x: Any, cosine: Any, sine: Any) -> tuple[Any, Any, Any]:
        q, k, v = self.parted(x)
        q, k = turned(self.q_norm(q), cosine, sine).to(v.dtype), turned(self.k_norm(k), cosine, sine).to(v.dtype)
        return q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1)

    def after(self, x: Any, attended: Any) -> Any:
        x = x + self.attended_norm(self.out(attended))
        gate, up = self.gate_up(self.feed_norm(x)).chunk(2, dim=-1)
        return x + self.fed_norm(self.down(functional.gelu(gate, approximate="tanh") * up))


class Gemma(Network):
    def __init__(self, size: GemmaSize) -> None:
        super().__init__(size, None)
        windows = [size.window if (i + 1) % _EACH else 0 for i in range(size.layers)]
        self.blocks = nn.ModuleList(GemmaBlock(size, window) for window in windows)
        self.before, self.after = GemmaBlock.before, GemmaBlock.after
        self.near = rotations(size.context, size.head, _NEAR)

    def forward(self, tokens: Any, pieces: Sequence[Piece]) -> Any:
        places = places_of(pieces, len(tokens), self.size.context)
        far, near = (
            tuple(table[places].to(tokens.device)[:, None] for table in tables)
            for tables in (self.rotations, self.near)
        )
        x = self.embedding(tokens) * self.size.width**0.5
        for block in self.blocks:
            q, k, v = self.before(block, x, *(near if block.window else far))
            x = self.after(block, x, Attention.apply(q, k, v, pieces, block.window))
        return self.norm(x)


def odd_heads(told: Mapping[str, Any]) -> bool:
    """True when its keys and values are of different sizes: our heads have one."""
    return bool(told[f"{ARCHITECTURE}.attention.key_length"] != told[f"{ARCHITECTURE}.attention.value_length"])


def size_of(told: Mapping[str, Any], context: int) -> GemmaSize:
    def number(key: str) -> Any:
        return told[f"{ARCHITECTURE}.{key}"]

    return GemmaSize(
        width=int(number("embedding_length")), layers=int(number("block_count")),
        heads=int(number("attention.head_count")), kv_heads=int(number("attention.head_count_kv")),
        feed_forward=int(number("feed_forward_length")), vocab=len(told["tokenizer.ggml.tokens"]), context=context,
        base=float(told.get(f"{ARCHITECTURE}.rope.freq_base", 1_000_000.0)),
        epsilon=float(f"{number('attention.layer_norm_rms_epsilon'):.6g}"),
        head_size=int(number("attention.key_length")), window=int(number("attention.sliding_window")),
    )  # fmt: skip


def weights_of(found: Mapping[str, Any], size: GemmaSize) -> dict[str, Any]:
    """The weights under our network's names. The file's norms have the 1 in them that the papers add."""
    weights = {"embedding.weight": found["token_embd.weight"], "norm.weight": found["output_norm.weight"]}
    for i in range(size.layers):
        of, theirs = f"blocks.{i}", f"blk.{i}"
        weights |= {f"{of}.{name}.weight": found[f"{theirs}.{file}.weight"] for name, file in _NORMS.items()}
        weights |= {
            f"{of}.qkv.weight": torch.cat([found[f"{theirs}.attn_{part}.weight"] for part in "qkv"]),
            f"{of}.out.weight": found[f"{theirs}.attn_output.weight"],
            f"{of}.gate_up.weight": torch.cat([found[f"{theirs}.ffn_{part}.weight"] for part in ("gate", "up")]),
            f"{of}.down.weight": found[f"{theirs}.ffn_down.weight"],
        }
    return weights
