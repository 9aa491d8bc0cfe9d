"""Pictures in prompts: a mark in the text names a picture by its digest; its file is checked before it is used."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

MOST_BYTES = 8 << 20  # bytes of a file
MOST_SIDE, MOST_PIXELS = 8192, 16_000_000
MOST_PICTURES = 16  # pictures in one prompt
_DIGITS = 32  # digits of a digest
_MARK = re.compile(rf"\[picture ([0-9a-f]{{{_DIGITS}}})\]")
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_HEAD = b"IHDR"
# a JPEG's markers that hold its size: all of 0xC0 to 0xCF but tables (C4), extensions (C8) and arithmetic ones (CC)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset((0x01, *range(0xD0, 0xD8)))  # markers without a length
WAY_OUT = "give a PNG or JPEG file that a viewer shows, saved anew and smaller if need be"


class Picture(NamedTuple):
    """A checked picture. `kind`: the suffix of its file."""

    digest: str
    kind: str
    width: int
    height: int

    @property
    def mark(self) -> str:
        return f"[picture {self.digest}]"

    @property
    def file(self) -> str:
        return f"{self.digest}.{self.kind}"


def marks(text: str) -> tuple[str, ...]:
    """Returns the digests of the marks in a text, in their order; one that repeats is named again."""
    return tuple(_MARK.findall(text)) if "[picture " in text else ()


def parts(text: str, known: Iterable[str]) -> list[str]:
    """Parts a prompt at its marks: text, digest, text, digest, …, text. A mark of an unknown digest stays text."""
    known = {*known}
    found, at = list[str](), 0
    for mark in _MARK.finditer(text):
        if mark[1] in known:
            found += [text[at : mark.start()], mark[1]]
            at = mark.end()
    return [*found, text[at:]]


def read(path: Path) -> tuple[Picture, bytes]:
    """Reads and checks a picture's file."""
    try:
        data = disk.read(path, MOST_BYTES)
    except OSError as fault:
        why = "is larger than 8 MiB" if isinstance(fault, disk.FileTooLarge) else f"cannot be read: {fault.strerror}"
        raise BtError(f"the picture {path} {why}", WAY_OUT) from fault
    try:
        return of(data), data
    except BtError as fault:
        raise BtError(f"the picture {path} {fault.message}", fault.hint) from fault


def of(data: bytes) -> Picture:
    """Checks the bytes of a picture: its kind by its first bytes, its size, and that it is whole."""
    if len(data) > MOST_BYTES:
        raise BtError("is larger than 8 MiB", WAY_OUT)
    try:
        if data.startswith(_PNG):
            kind, (width, height) = "png", _png(data)
        elif data.startswith(_JPEG):
            kind, (width, height) = "jpg", _jpeg(data)
        else:
            raise BtError("is neither PNG nor JPEG by its first bytes", WAY_OUT)
    except IndexError:
        raise BtError("is cut off or damaged", WAY_OUT) from None
    return Picture(blake2b(data, digest_size=_DIGITS // 2).hexdigest(), kind, width, height)


def _sized(width: int, height: int) -> tuple[int, int]:
    """Returns the size, or refuses it before any pixel is unpacked."""
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE and width * height <= MOST_PIXELS):
        raise BtError(f"has {width} × {height} pixels; at most 16 million, and {MOST_SIDE:,} a side", WAY_OUT)
    return width, height


def _png(data: bytes) -> tuple[int, int]:
    """Returns width and height of a PNG whose chunks are whole, and whose pixels unpack to what its header says."""
    at, size, pixels, packed = len(_PNG), (0, 0), zlib.decompressobj(), False
    left = 0
    while True:
        length = int.from_bytes(_cut(data, at, 4))
        name, body = _cut(data, at + 4, 4), _cut(data, at + 8, length)
        if zlib.crc32(body, zlib.crc32(name)) != int.from_bytes(_cut(data, at + 8 + length, 4)):
            raise IndexError
        if (name == _HEAD) != (at == len(_PNG)) or (name == _HEAD and length != 13):
            raise IndexError
        if name == _HEAD:
            size = _sized(int.from_bytes(body[:4]), int.from_bytes(body[4:8]))
            left = _unpacked(size[0], size[1], body)
        elif name == b"IDAT":
            packed = True
            left = _less(left, pixels, body)
        elif name == b"IEND":
            if not packed or left > 0:
                raise IndexError
            return size
        at += 12 + length


def _unpacked(width: int, height: int, head: bytes) -> int:
    """Returns the bytes that a PNG's pixels have at least, unpacked: interlaced ones have a little more."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}.get(head[9])
    if channels is None or head[8] not in (1, 2, 4, 8, 16):
        return 0  # the decoder refuses it
    return height * (1 + (width * channels * head[8] + 7) // 8)


def _less(left: int, pixels: zlib._Decompress, body: bytes) -> int:
    """Unpacks a part of a PNG's pixels, never more than a bound at once; returns the bytes that are still missing."""
    try:
        while body and left > 0:
            out = pixels.decompress(body, 1 << 20)
            left -= len(out)
            body = pixels.unconsumed_tail if out or pixels.unconsumed_tail != body else b""
    except zlib.error:
        raise IndexError from None
    return left


def _jpeg(data: bytes) -> tuple[int, int]:
    """Returns width and height of a JPEG whose markers are whole up to its pixels, and which has an end."""
    at, size = 2, (0, 0)
    while True:
        if _cut(data, at, 1) != b"\xff":
            raise IndexError
        marker = _cut(data, at + 1, 1)[0]
        if marker == 0xFF:  # a filler
            at += 1
            continue
        if marker in _ALONE:
            at += 2
            continue
        length = int.from_bytes(_cut(data, at + 2, 2))
        body = _cut(data, at + 4, length - 2) if length >= 2 else _cut(b"", 0, 1)
        if marker in _FRAMES:
            size = int.from_bytes(_cut(body, 3, 2)), int.from_bytes(_cut(body, 1, 2))
        if marker == 0xDA:  # the pixels begin
            if data.rfind(b"\xff\xd9") < at + 2 + length:
                raise IndexError
            return _sized(*size)
        at += 2 + length


def _cut(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise IndexError
    return data[at : at + size]
