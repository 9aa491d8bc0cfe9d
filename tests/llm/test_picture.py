"""Pictures before any model: what is taken for one, and what is refused in words."""

from __future__ import annotations

import random
import struct
import zlib
from contextlib import suppress

import pytest

from bt_runtime import BtError
from bt_runtime.llm import picture
from bt_runtime.llm.question import sound
from bt_runtime.types import Question
from tests.support.projectors import chunk, jpeg, png

SIGN = b"\x89PNG\r\n\x1a\n"


def head(width: int, height: int) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))


def test_a_picture_is_known_by_its_first_bytes_and_its_digest():
    """PNG and JPEG, with their sizes; equal bytes have equal marks, and a mark is found again in a text."""
    one, same, other, photo = (picture.of(data) for data in (png(1), png(1), png(2, side=9), jpeg()))
    assert (one.kind, one.width, one.height) == ("png", 24, 24)
    assert (other.width, photo.kind, photo.width, photo.height) == (9, "jpg", 8, 8)
    assert one == same and one.mark != other.mark
    text = f"a {one.mark} b {other.mark} c [picture 12] d"
    assert picture.marks(text) == (one.digest, other.digest)
    assert picture.parts(text, [other.digest]) == [f"a {one.mark} b ", other.digest, " c [picture 12] d"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "neither PNG nor JPEG"), (b"GIF89a" + bytes(50), "neither PNG nor JPEG"), (b"<svg/>", "neither"),
        (SIGN, "cut off"), (png(1)[:-1], "cut off"), (png(1).replace(b"IDAT", b"IDAX"), "damaged"),
        (SIGN + head(4, 4) + chunk(b"IEND", b""), "damaged"), (b"\xff\xd8\xff", "cut off"),
        (SIGN + head(40_000, 1) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b""), "40000 × 1 pixels"),
        (SIGN + head(8000, 8000) + chunk(b"IDAT", zlib.compress(bytes(9))) + chunk(b"IEND", b""), "16 million"),
        (SIGN + head(0, 4) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b""), "0 × 4"),
        (SIGN + head(9, 9) + chunk(b"IDAT", zlib.compress(bytes(9))) + chunk(b"IEND", b""), "damaged"),
        (SIGN + head(9, 9) + chunk(b"IDAT", b"not deflated") + chunk(b"IEND", b""), "damaged"),
        (b"\xff\xd8\xff" + bytes(9 << 20), "larger than 8 MiB"), (jpeg()[:-2], "damaged"),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_refused_with_a_way_out(data, words):
    """Other kinds, cut and damaged files, and headers that promise more pixels than there are or than are taken."""
    with pytest.raises(BtError, match=words) as fault:
        picture.of(data)
    assert "viewer" in fault.value.hint


def test_no_damage_of_a_file_is_more_than_a_fault():
    """2,000 files with flipped, cut and repeated bytes are pictures or faults."""
    rng = random.Random(3)
    for _ in range(1000):
        for data in (png(1), jpeg()):
            spoiled = bytearray(data)
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(spoiled))
                spoiled[at : at + rng.choice((0, 1, 3))] = rng.randbytes(rng.choice((1, 2, 9)))
            with suppress(BtError):
                picture.of(bytes(spoiled[: rng.randint(1, len(spoiled))]))


def test_a_model_without_a_projector_refuses_a_picture():
    """So does every server: the fault says what to give, and who asked."""
    question = Question("choose", "look:", options=(" a", " b"), by="/look", pictures=("x.png",))
    with pytest.raises(BtError, match="/look shows a picture, and this model sees none") as fault:
        sound(question, "\n")
    assert "mmproj" in fault.value.hint
    with pytest.raises(BtError, match="17 pictures"):
        sound(question._replace(pictures=("x.png",) * 17), "\n", sees=True)
