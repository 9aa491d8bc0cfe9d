"""A pretended stove. A generator is ticked: each `yield` hands the tick back to the tree."""

import time
from collections.abc import Generator

SECONDS = {"tea": 0.3, "toast": 0.6, "soup": 0.9}


def cook(dish: str) -> Generator[None, None, bool]:
    """What a generator returns in the end becomes the result; closing it is how the tree takes it back."""
    done = time.monotonic() + SECONDS.get(dish, 3.0)
    while time.monotonic() < done:
        yield
    return dish != "toast"  # this stove burns toast


def off() -> bool:
    return True
