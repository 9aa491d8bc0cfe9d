"""A decoder of the Llama architecture. Documents are packed into one long row, and attention keeps them separate.

A row holds whole documents one after another; all that works on single tokens runs over the row at once, and only
attention runs piece by piece. So nothing is padded, and positions are what they are at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from bt_lab.distill.init_weights import init_weights
from bt_lab.distill.size import Size
from bt_lab.distill.torch_imports import functional, nn, torch


class Norm(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Any) -> Any:
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.epsilon)).to(x.dtype) * self.weight


class Block(nn.Module):  # type: ignore[misc]
    """One layer, split into the parts before and after attention, each of which is compiled."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        own, kv = size.head * size.heads, size.head * size.kv_heads
        self.size = size
        self.attention_norm = Norm(size.width, size.epsilon)
        self.qkv = nn.Linear(size.width, own + 2 * kv, bias=False)
        self.out = nn.Linear(own, size.width, bias=False)
        self.feed_norm = Norm(size.width, size.epsilon)
        self.gate_up = nn.Linear(size.width, 2 * size.feed_forward, bias=False)
        self.down = nn.Linear(size.feed_forward, size.width, bias=False)

    def before(self, x: Any, cosine: Any, sine: Any) -> tuple[Any, Any, Any]:
        """Queries, keys and values by head: (heads, tokens, head)."""
        q, k, v = self.parted(x)
        q, k = turned(q, cosine, sine).to(v.dtype), turned(k, cosine, sine).to(v.dtype)
        return q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1)

    def parted(self, x: Any) -> list[Any]:
        """Queries, keys and values by token: (tokens, heads, head)."""
        size = self.size
        kv = size.head * size.kv_heads
        parts = self.qkv(self.attention_norm(x)).split([size.head * size.heads, kv, kv], dim=-1)
        return [part.view(-1, part.shape[-1] // size.head, size.head) for part in parts]

    def after(self, x: Any, attended: Any) -> Any:
        x = x + self.out(attended)
        gate, up = self.gate_up(self.feed_norm(x)).chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


def turned(x: Any, cosine: Any, sine: Any) -> Any:
    """Applies rotary positions. The first half of a head is rotated with the second; the file's layout differs."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Piece(NamedTuple):
    """A span of a row: a document, or the rest of one that shares an opening with others."""

    length: int
    at: int = 0  # where the opening begins
    seen: int = 0  # how many tokens the opening has


ALIKE = 64  # lengths are rounded up to this: for every new one the kernels would be made anew
BLOCK = 512  # keys that the kernel takes at once, also those that causal hides: up to here a mask is faster


class Attention(torch.autograd.Function):  # type: ignore[misc]
    """Causal attention over packed pieces: each piece attends to itself and its opening. Padding after the last piece
    is ignored."""

    @staticmethod
    def forward(context: Any, q: Any, k: Any, v: Any, pieces: Sequence[Piece], window: int = 0) -> Any:
        """`window`: how many tokens a token sees, itself among them; 0: all before it."""
        heads, tokens, width = q.shape
        attended = q.new_zeros(tokens, heads * width)
        context.parts, start = [], 0
        for piece in pieces:
            length, at, seen = piece
            full = -(-(seen + length) // ALIKE) * ALIKE
            end = min(tokens, start + full - seen)  # causal: earlier tokens do not attend to later ones
            narrow = window if 0 < window < seen + length else 0
            shut = narrow > 0 or (seen > 0 and full <= BLOCK)
            behind = 0 if shut else seen  # without a mask queries have the opening too: causal is a square
            parts = ((q, behind), (k, seen), (v, seen))
            inner = queries, keys, values = [_part(x, at, n, start, end).requires_grad_() for x, n in parts]
            mask = _mask(end - start, seen, q.dtype, q.device, narrow) if shut else None
            with torch.enable_grad():
                found = functional.scaled_dot_product_attention(
                    queries, keys, values, attn_mask=mask, is_causal=not shut, enable_gqa=heads != k.shape[0]
                )
            attended[start : start + length] = _by_token(found.detach()[0, :, behind : behind + length])
            context.parts.append((piece, start, inner, found))
            start += length
        context.shapes = q.shape, k.shape, v.shape
        return attended

    @staticmethod
    def backward(context: Any, gradient: Any) -> tuple[Any, ...]:
        heads = context.shapes[0][0]
        sums = [gradient.new_zeros(shape) for shape in context.shapes]
        for (length, at, seen), start, inner, found in context.parts:
            outer, behind = torch.zeros_like(found), 0 if inner[0].shape[2] < inner[1].shape[2] else seen
            outer[0, :, behind : behind + length] = _by_head(gradient[start : start + length], heads)
            parts = torch.autograd.grad(found, inner, outer)
            for total, part, opening in zip(sums, parts, (behind, seen, seen), strict=True):
                total[:, start : start + length] += part[0, :, opening : opening + length]
                if opening:
                    total[:, at : at + opening] += part[0, :, :opening]
        return *sums, None, None


@lru_cache(256)
def _mask(length: int, seen: int, kind: Any, device: Any, window: int = 0) -> Any:
    """Lets `length` tokens see themselves and what is before them, and the `seen` tokens of the opening, as far as a
    window reaches."""
    every = torch.ones(length, seen + length, dtype=torch.bool, device=device)
    hidden = every.triu(seen + 1) | every.tril(seen - window) if window else every.triu(seen + 1)
    return torch.zeros(length, seen + length, dtype=kind, device=device).masked_fill(hidden, float("-inf"))


def _part(x: Any, at: int, seen: int, start: int, end: int) -> Any:
    """Attends the tokens from `start` to `end`, which also see the opening."""
    own = x.detach()[None, :, start:end]
    return torch.cat((x.detach()[None, :, at : at + seen], own), dim=2) if seen else own


def _by_head(x: Any, heads: int) -> Any:
    return x.unflatten(1, (heads, -1)).transpose(0, 1)


def _by_token(x: Any) -> Any:
    return x.transpose(0, 1).flatten(1)


class Network(nn.Module):  # type: ignore[misc]
    def __init__(self, size: Size, seed: int | None = 0, tied: bool = True) -> None:
        """`seed`: of the first weights; None: finished ones will be loaded. `tied`: the embedding is the output as
        well."""
        super().__init__()
        self.size = size
        self.embedding = nn.Embedding(size.vocab, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = Norm(size.width, size.epsilon)
        self.output = None if tied else nn.Linear(size.width, size.vocab, bias=False)
        self.before: Callable[..., Any] = Block.before
        self.after: Callable[..., Any] = Block.after
        self.rotations = rotations(size.context, size.head, size.base)
        if seed is not None:
            init_weights(self, size, seed)

    def compile(self) -> None:
        """All but attention as machine code for this processor. torch would cut it where a group exchanges gradients
        and refuses buckets of one gradient each (ddp.py); within the halves of a layer nothing is exchanged anyway."""
        torch._dynamo.config.optimize_ddp = False
        self.before = torch.compile(self.before, dynamic=False)
        self.after = torch.compile(self.after, dynamic=False)

    def forward(self, tokens: Any, pieces: Sequence[Piece]) -> Any:
        """Returns the last layer's output at every token of a row."""
        places = places_of(pieces, len(tokens), self.size.context)
        cosine, sine = (table[places].to(tokens.device)[:, None] for table in self.rotations)
        x = self.embedding(tokens)
        for block in self.blocks:
            q, k, v = self.before(block, x, cosine, sine)
            x = self.after(block, x, Attention.apply(q, k, v, pieces))
        return self.norm(x)

    def logits(self, hidden: Any) -> Any:
        return functional.linear(hidden, self.embedding.weight if self.output is None else self.output.weight)


def rotations(context: int, head: int, base: float) -> tuple[Any, Any]:
    """Cosines and sines of every place; no buffers, for every process has the same and none need be sent."""
    turns = torch.outer(torch.arange(context), base ** -(torch.arange(0, head, 2) / head))
    return turns.cos(), turns.sin()


def places_of(pieces: Sequence[Piece], tokens: int, context: int) -> Any:
    """The place of each token of a row in its own document; behind the last one nothing counts."""
    rest = Piece(tokens - sum(piece.length for piece in pieces))
    return torch.cat([torch.arange(p.seen, p.seen + p.length) for p in (*pieces, rest)]) % context
