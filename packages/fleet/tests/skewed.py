"""`btr` with a clock that is wrong, and jumps while it runs: `python skewed.py SECONDS SEED WORD…`.

The wall clock of this process is up to SECONDS wrong, and wrong otherwise every half a minute or so.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable


def moved(real: Callable[[], float], mono: Callable[[], float], most: float, seed: int) -> Callable[[], float]:
    """Returns a clock beside `real` that jumps now and then, forwards and backwards."""
    dice = random.Random(seed)
    wrong, until = dice.uniform(-most, most), mono() + dice.expovariate(1 / 30)

    def now() -> float:
        nonlocal wrong, until
        if mono() > until:
            wrong, until = dice.uniform(-most, most), mono() + dice.expovariate(1 / 30)
        return real() + wrong

    return now


if __name__ == "__main__":
    time.time = moved(time.time, time.monotonic, float(sys.argv[1]), int(sys.argv[2]))
    from bt_runtime.cli import main

    raise SystemExit(main(sys.argv[3:]))
