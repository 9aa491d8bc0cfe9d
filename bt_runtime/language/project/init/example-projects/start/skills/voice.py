"""Skills are Python: a function, a generator, an async function, or a class with start, poll and cancel."""

import sys
import time


def say(text: str) -> bool:
    """Runs in a thread, so it may take its time. What it returns becomes the result: False is FAILURE."""
    time.sleep(0.2)
    print(f"(says) {text}", file=sys.stderr)
    return True
