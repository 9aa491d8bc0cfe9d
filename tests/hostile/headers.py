"""GGUF files whose header lies, and things that are no file."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import islice

from tests.hostile.case import Case, File
from tests.llm.hostile_headers import headers

NAME = "model.gguf"
BY_HAND = 400  # about so many of them are made by hand; the others are damage at random
THINGS = (
    File(NAME, b"/dev/zero", "link"),
    File(NAME, kind="pipe"),
    File(NAME, kind="folder"),
    File(NAME, NAME.encode(), "link"),
)
DOCTOR = 25  # every so manieth is loaded too, which takes a process of its own


@cache
def by_hand() -> tuple[bytes, ...]:
    return tuple(data for _, data in headers(BY_HAND))


def cases(seed: int, count: int) -> Iterator[Case]:
    """Half of them of those made by hand, in another order for each seed."""
    order = random.Random(f"headers/{seed}").sample(range(BY_HAND), BY_HAND)
    damaged = islice(headers(BY_HAND + count * 2, seed), BY_HAND, None)
    for number in range(count):
        if number < len(THINGS):
            made = THINGS[number]
        elif number % 2:
            made = File(NAME, by_hand()[order[number // 2 % BY_HAND]])
        else:
            made = File(NAME, next(damaged)[1])
        yield Case(f"headers/{seed}/{number}/read", (NAME,), (made,), call="tests.hostile.calls:header")
        if number % DOCTOR == 1:
            yield Case(f"headers/{seed}/{number}/doctor", ("doctor", NAME), (made,), executes=True)
