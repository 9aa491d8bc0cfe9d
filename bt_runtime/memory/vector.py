"""A unit vector as bytes: little-endian float32, as it lies in the store."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence

from bt_runtime.diagnose import BtError

DIGITS = 6  # scores equal to this many digits are a tie


def pack(vector: Sequence[float]) -> bytes:
    """Made a unit vector; what has no direction is refused."""
    length = math.sqrt(math.fsum(float(x) * float(x) for x in vector))
    if not math.isfinite(length) or length == 0.0:
        raise BtError("the embedder gave a vector without a direction (zero, infinite or not a number)")
    packed = array("f", (float(x) / length for x in vector))
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack(blob: bytes) -> array[float]:
    found = array("f")
    found.frombytes(blob)
    if sys.byteorder == "big":
        found.byteswap()
    return found
