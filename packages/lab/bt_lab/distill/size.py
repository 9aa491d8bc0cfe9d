"""The sizes of the network, by name."""

from __future__ import annotations

from dataclasses import dataclass

from bt_runtime.language.faults.diagnostic import BtError


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

    architecture = "llama"  # as llama.cpp names it
    paired = True  # do the file's heads turn neighbours, where ours turn halves

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
