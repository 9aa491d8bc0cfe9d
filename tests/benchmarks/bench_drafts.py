"""What drafts could gain at most: the time of a decode that checks several proposed tokens, beside one token.

A draft that is always right and costs nothing saves as much as this; every wrong token is computed in vain. One thread,
behind a prompt of 512 tokens, the quickest of some runs. MODEL (smollm2).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from rows import Row

from bt_runtime import BtError
from bt_runtime.llm.settings import NAMED_FILES

MODEL = os.environ.get("MODEL") or "smollm2"
BEFORE, PIECE, ROUNDS = 512, 128, 9
PROPOSED = (4, 8, 16)


def rows() -> Iterator[Row]:
    try:
        file = str(NAMED_FILES[MODEL]() if MODEL in NAMED_FILES else MODEL)
    except BtError as fault:
        yield Row("drafts", str(fault), None, "")
        return
    from bt_runtime.llm.local.context import SequenceCache, TokenFeed
    from bt_runtime.llm.local.llama import Weights, begin

    begin()
    weights = Weights(file, 0)
    for flash in (True, False):
        context = SequenceCache(weights, 2 * BEFORE, PIECE, 1, flash=flash)
        for start in range(0, BEFORE, PIECE):
            context.decode([TokenFeed([*range(5, 5 + PIECE)], start, (0,), 0)])

        def took(count: int, context: SequenceCache = context) -> float:
            times = []
            for _ in range(ROUNDS):
                start = time.thread_time()
                context.decode([TokenFeed([7] * count, BEFORE, (0,), count)])
                times.append(time.thread_time() - start)
                context.cut(0, BEFORE)
            return min(times)

        one = took(1)
        for count in PROPOSED:
            several = took(count)
            figures = f"{several * 1e3:.0f} ms against {count} × {one * 1e3:.1f} ms"
            yield Row(
                f"{MODEL}, {count} proposed tokens, flash: {flash}".lower(), figures, count * one / several, "≥ 2 ×"
            )
        context.close()
    weights.close()
