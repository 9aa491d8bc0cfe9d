"""A unit vector as bytes: little-endian float32, the store's format."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from operator import mul
from pathlib import Path
from zlib import crc32

from bt_runtime.language.faults.diagnostic import BtError

WIDEST = 65_536  # numbers of a vector
OTHER = "use another embedder, such as `hashing`"
STEPS = 10**6  # scores are whole numbers of such steps; in the same step is a tie


def pack(vector: Sequence[float]) -> bytes:
    """Normalises the vector and packs it; a zero vector is refused."""
    try:
        packed = array("f", vector)
    except (TypeError, OverflowError) as fault:
        raise BtError("the embedder gave a vector of what is not a number", OTHER) from fault
    length = math.sqrt(sum(map(mul, packed, packed)))
    if not math.isfinite(length) or length < 1e-12:
        raise BtError("the embedder gave a vector without a direction (zero, infinite or not a number)", OTHER)
    if abs(length - 1.0) > 1e-6:
        packed = array("f", [x / length for x in packed])
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def seal(goal: int, blob: bytes) -> int:
    """A checksum of a vector and its goal, stored beside it: detects a changed bit and a vector under another goal's
    number."""
    return crc32(blob, goal & 0xFFFFFFFF)


def unpack(blob: bytes) -> array[float]:
    found = array("f")
    found.frombytes(blob)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def check_seals(path: Path, rows: Iterable[tuple[int, bytes, int]], dim: int) -> None:
    size, blobs = 4 * dim, list[bytes]()
    for goal, blob, kept in rows:  # `seal` written out: this is a third of the time of opening a large store
        try:
            whole = crc32(blob, goal & 0xFFFFFFFF) == kept and len(blob) == size
        except TypeError:  # a cell may hold what it likes
            whole = False
        if not whole:
            raise damaged(path, f"the vector of goal {goal} is not the one that was written")
        blobs.append(blob)
    if not math.isfinite(_square(b"".join(blobs))):  # a seal is no proof of who wrote it
        raise damaged(path, "there are vectors in it that are no numbers (NaN or infinity)")


def _square(blob: bytes) -> float:
    """Returns the sum of all squares, by numpy if it is installed."""
    try:
        import numpy as np
    except ImportError:
        numbers = unpack(blob)
        return float(sum(map(mul, numbers, numbers)))
    found = np.frombuffer(blob, dtype="<f4")
    return float(np.dot(found, found))


def damaged(path: Path, how: str) -> BtError:
    mend = f"btr memory reembed --store {path} --embedder NAME"
    return BtError(f"{path} is damaged: {how}", f"the experiences may well be whole; make the vectors anew: {mend}")
