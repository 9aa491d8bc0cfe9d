"""A decoder of the Llama architecture, and its sizes. Documents stand in one long row and do not see each other.

A row holds whole documents one after another; all that works on single tokens runs over the row at once, and only
attention runs document by document. So nothing is padded, and positions are what they are at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bt_runtime.diagnose import BtError
from bt_runtime.distill.beginning import begin
from bt_runtime.distill.needs import functional, nn, torch


@dataclass(frozen=True, slots=True)
class Size:
    width: int
    layers: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocab: int = 2048
    context: int = 2048
    base: float = 1_000_000.0  # of the rotary positions: half of them hardly turn within a context
    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        if self.width % self.heads or self.heads % self.kv_heads or (self.width // self.heads) % 2:
            raise BtError(f"{self.heads} heads with {self.kv_heads} keys do not divide a width of {self.width}")

    @property
    def head(self) -> int:
        return self.width // self.heads

    @property
    def parameters(self) -> int:
        kv = self.head * self.kv_heads
        layer = 2 * self.width * (self.width + kv) + 3 * self.width * self.feed_forward + 2 * self.width
        return self.vocab * self.width + self.layers * layer + self.width


SIZES = {
    "toy": Size(64, 2, 2, 1, 128),
    "tiny": Size(128, 4, 2, 1, 384),
    "small": Size(192, 6, 3, 3, 512),
    "base": Size(256, 8, 4, 4, 704),
    "large": Size(384, 8, 6, 6, 1024),
}


class Norm(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Any) -> Any:
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.epsilon)).to(x.dtype) * self.weight


class Block(nn.Module):  # type: ignore[misc]
    """One layer, in the two parts that stand before and after attention: each is compiled by itself."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        kv = size.head * size.kv_heads
        self.size = size
        self.attention_norm = Norm(size.width, size.epsilon)
        self.qkv = nn.Linear(size.width, size.width + 2 * kv, bias=False)
        self.out = nn.Linear(size.width, size.width, bias=False)
        self.feed_norm = Norm(size.width, size.epsilon)
        self.gate_up = nn.Linear(size.width, 2 * size.feed_forward, bias=False)
        self.down = nn.Linear(size.feed_forward, size.width, bias=False)

    def before(self, x: Any, cosine: Any, sine: Any) -> tuple[Any, Any, Any]:
        """Queries, keys and values by head: (heads, tokens, head)."""
        size = self.size
        kv = size.head * size.kv_heads
        q, k, v = self.qkv(self.attention_norm(x)).split([size.width, kv, kv], dim=-1)
        q = turned(q.view(-1, size.heads, size.head), cosine, sine)
        k = turned(k.view(-1, size.kv_heads, size.head), cosine, sine)
        return q.transpose(0, 1), k.transpose(0, 1), v.view(-1, size.kv_heads, size.head).transpose(0, 1)

    def after(self, x: Any, attended: Any) -> Any:
        x = x + self.out(attended)
        gate, up = self.gate_up(self.feed_norm(x)).chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


def turned(x: Any, cosine: Any, sine: Any) -> Any:
    """Rotary positions; the first half of a head turns with the second (the file's layout is another one)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


ALIKE = 64  # lengths are rounded up to this: for every new one the kernels would be made anew


def attend(q: Any, k: Any, v: Any, lengths: Sequence[int]) -> Any:
    """Causal attention within each document; what stands behind the last document is nobody's."""
    parts, heads, tokens = [], q.shape[0], q.shape[1]
    start = 0
    for length in (*lengths, tokens - sum(lengths)):
        if length:
            end = min(tokens, start + -(-length // ALIKE) * ALIKE)  # what follows is seen by nothing before it
            seen = functional.scaled_dot_product_attention(
                q[None, :, start:end],
                k[None, :, start:end],
                v[None, :, start:end],
                is_causal=True,
                enable_gqa=heads != k.shape[0],
            )
            parts.append(seen[0, :, :length].transpose(0, 1).reshape(-1, heads * q.shape[2]))
            start += length
    return torch.cat(parts)


class Network(nn.Module):  # type: ignore[misc]
    def __init__(self, size: Size, seed: int = 0) -> None:
        super().__init__()
        self.size = size
        self.embedding = nn.Embedding(size.vocab, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = Norm(size.width, size.epsilon)
        self.before: Callable[..., Any] = Block.before
        self.after: Callable[..., Any] = Block.after
        turns = torch.outer(torch.arange(size.context), size.base ** -(torch.arange(0, size.head, 2) / size.head))
        self.register_buffer("cosine", turns.cos(), persistent=False)
        self.register_buffer("sine", turns.sin(), persistent=False)
        begin(self, seed)

    def compile(self) -> None:
        """All but attention as machine code for this processor."""
        self.before = torch.compile(Block.before, dynamic=False)
        self.after = torch.compile(Block.after, dynamic=False)

    def forward(self, tokens: Any, lengths: Sequence[int]) -> Any:
        """The last layer's output at every token of a row."""
        places = torch.cat([torch.arange(n) for n in (*lengths, len(tokens) - sum(lengths))]).to(tokens.device)
        places = places % self.size.context  # behind the last document nothing counts
        cosine, sine = self.cosine[places][:, None], self.sine[places][:, None]
        x = self.embedding(tokens)
        for block in self.blocks:
            q, k, v = self.before(block, x, cosine, sine)
            x = self.after(block, x, attend(q, k, v, lengths))
        return self.norm(x)

    def logits(self, hidden: Any) -> Any:
        return functional.linear(hidden, self.embedding.weight)
