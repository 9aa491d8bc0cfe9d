"""Computes what a model needs on this machine before anything is loaded: context, room for prompts, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.local.header import ModelHeader
from bt_runtime.llm.local.offload import MARGIN
from bt_runtime.llm.settings import WorkerSettings, usable_cores

_USUAL = 8192  # tokens of context when nobody says; longer ones cost memory that few agents use
_PROMPTS = 4  # how many whole contexts are held at once when nobody says
_LANES = 16  # conversations of a small model, each in a cache of its own
_SMALL = 32 << 20  # bytes of weights that stay in a processor's cache: reading them again costs next to nothing
# of one value of the cache, its block's scale included
CACHE_BITS = {"f32": 32.0, "f16": 16.0, "q8_0": 8.5, "q5_1": 6.0, "q5_0": 5.5, "q4_1": 5.0, "q4_0": 4.5}
_KEEP = 512  # MiB of prompts' states on disk, for files larger than those
_SHARE = 0.5  # share of the free memory for the cache, by default


@dataclass(frozen=True, slots=True)
class Fit:
    context: int
    room: int  # tokens of all lanes together
    lanes: int
    chunk: int
    cache_bytes: int
    logits_bytes: int
    keep: int = 0  # MiB of prompts' states on disk
    aside_bytes: int = 0  # memory for prompts that leave the cache
    batches: int = 1  # computed at the same time, each on cores of its own

    @property
    def lane(self) -> int:
        """The number of cache cells of one lane, or of one batch."""
        return _whole(self.room // (self.lanes * self.batches))


def fit(header: ModelHeader, settings: WorkerSettings, available: int, gpus: Sequence[int] = ()) -> Fit:
    """Computes the sizes to use. A BtError names a number that would work. `available`: bytes for everything, weights
    included; `gpus`: free bytes of each. Room that was not asked for shrinks to one context before a layer leaves the
    GPUs."""
    gpu = bool(gpus)
    if not gpu and header.weights > available:
        raise BtError(
            f"the weights of {header.path.name} take {size(header.weights)}, and {size(available)} are free",
            "take a smaller model or a smaller quantisation",
        )
    available -= 0 if gpu else header.weights
    trained = header.trained_context or _USUAL
    context = settings.context or min(trained, _USUAL)
    if context > trained:
        raise BtError(
            f"a context of {context} tokens is longer than {header.path.name} was trained for ({trained})",
            f"use a context of at most {trained}",
        )
    each = max(1, int(header.bytes_per_token() * CACHE_BITS[settings.cache_type] / 16))
    logits = header.vocab * 4 * 512
    most = _whole(int(available * 0.9) // each)
    lanes = settings.lanes or (_LANES if header.size <= _SMALL else 1)
    alone = gpu or settings.repeatable or settings.quantised or header.keeps_state or header.slides
    lanes = 1 if alone else lanes
    held = lanes * (context + context // 4) if lanes > 1 else _PROMPTS * context
    room = max(settings.room or min(held, int(available * _SHARE) // each), context)
    if gpu and not settings.room:
        spare = sum(max(0, free - MARGIN) for free in gpus) - header.weights - logits
        room = max(context, min(room, spare // each - 255))
    if room > most:
        what = f"a context of {context} tokens" if context > most else f"room for {room} tokens"
        raise BtError(
            f"{what} takes {size(room * each)}, and {size(available)} are free",
            f"{'a context' if context > most else 'a room'} of at most {most} tokens would work",
        )
    room = _whole(room + 255)
    lanes = max(1, min(lanes, room // _whole(context + 511)))  # beside a whole prompt, room for branches
    chunk = settings.chunk or _chunk(header, gpu)
    usual = _KEEP if header.size > _SMALL else 0
    keep = 0 if header.slides or header.keeps_state else usual if settings.keep is None else settings.keep
    batches = (
        1 if alone or lanes > 1 else settings.batches or (2 if settings.threads == 0 and usable_cores() == 2 else 1)
    )
    batches = max(1, min(batches, room // _whole(context + 511)))
    apart = alone or lanes > 1 or settings.flash  # flash attention passes over what others hold
    aside = 0 if apart else max(0, min(room // 2, most - room)) * each
    return Fit(context, room, lanes, chunk, room * each, logits, keep, aside, batches)


def _whole(cells: int) -> int:
    return cells // 256 * 256  # llama.cpp counts cells in blocks of 256


def _chunk(header: ModelHeader, gpu: bool) -> int:
    """Tokens per batch: fewer for large models, so that a batch ends, and a cancel takes effect, in bounded time."""
    gigabytes = header.size / 1e9
    if gpu:
        return 256
    return 256 if gigabytes < 0.3 else 128 if gigabytes < 3 else 64 if gigabytes < 12 else 32


def size(number: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit in ("B", "kB") else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def free_memory() -> int:
    """Bytes that can be had without swapping; a guess of 4 GB where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return min(int(line.split()[1]) * 1024, _group_limit())
    except (OSError, ValueError, IndexError):
        pass
    return 4 << 30


def _group_limit() -> int:
    """The memory limit of this process's control group (a container), or None."""
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = (group / "memory.max").read_text().strip(), (group / "memory.current").read_text().strip()
        return int(limit) - int(used)
    except (OSError, ValueError):
        return 1 << 62
