"""Decides how many layers go to the GPUs: all that fit, then half, finally none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bt_runtime.language.faults.diagnostic import BtError

T = TypeVar("T")
MARGIN = 1 << 30  # per GPU, for work buffers and for whoever else draws on the screen


@dataclass(frozen=True, slots=True)
class Need:
    """The bytes that a model takes."""

    layers: int
    weights: int
    cache: int  # the key-value cache of all layers
    logits: int

    @property
    def everything(self) -> int:
        return self.weights + self.cache + self.logits


def layers_that_fit(need: Need, free: Sequence[int], margin: int = MARGIN) -> int:
    """Returns how many layers to offload for each GPU's free memory. One more than the layers includes the output."""
    usable = [max(0, f - margin) for f in free]
    if not usable or not any(usable):
        return 0
    if need.everything <= sum(usable):
        return need.layers + 1
    per_layer = max(1, (need.weights + need.cache) // (need.layers + 1))
    # a layer is never split between two GPUs
    return min(need.layers, sum(max(0, u - need.logits // len(usable)) // per_layer for u in usable))


def halving(first: int) -> Iterator[int]:
    """The layer counts to try, halved each time; the last is 0, the processor alone."""
    while first > 0:
        yield first
        first //= 2
    yield 0


def load(first: int, attempt: Callable[[int], T], say: Callable[[str], None]) -> tuple[T, int]:
    """Returns the result and the layer count of the first attempt that succeeds. `attempt` raises BtError when the
    layers do not fit."""
    for layers in halving(first):
        try:
            return attempt(layers), layers
        except BtError as fault:
            if layers == 0:
                raise
            say(f"{layers} layers on the GPU did not work ({fault.message}); trying {layers // 2}")
    raise AssertionError("halving ends at 0")
