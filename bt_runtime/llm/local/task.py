"""A job as the batch sees it: a generator that yields work and is resumed when the work is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bt_runtime.types import Spent


@dataclass(slots=True)
class TaskWork:
    tokens: Sequence[int]
    start: int
    seqs: tuple[int, ...]
    want: int  # logits of that many last tokens
    read: Callable[[int, Any], None]  # called with the number of the row and the row, which is gone afterwards
    done: int = 0


Run = Generator[list[TaskWork], None, Any]


@dataclass(slots=True, eq=False)
class LocalTask:
    """A running job. `seq` holds its prompt, and at the end the part worth caching."""

    id: int
    prompt: list[int]
    extra: int  # cells that it may use beyond its prompt
    start: Callable[[LocalTask, Any], Run]  # the second is the batch that it is in
    asked: float = 0.0
    begun: float = 0.0
    seq: int = -1
    spare: list[int] = field(default_factory=list)  # sequences of its own, not in use
    run: Run | None = None
    works: list[TaskWork] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)  # tokens in `seq` after the prompt
    marks: list[int] = field(default_factory=list)  # lengths of its prompt at which its state is kept, next one last
    reused: int = 0
    ready: int = 0  # tokens of the prompt that are in the cache
    computed: int = 0
    fault: BaseException | None = None
    looked_up: bool = False  # on disk, for its beginning
    row: Any = None  # the logits after the prompt, when they are known from an earlier job

    def spent(self) -> Spent:
        now = time.monotonic()
        return Spent(len(self.prompt), self.reused, self.computed, now - self.begun, self.begun - self.asked)
