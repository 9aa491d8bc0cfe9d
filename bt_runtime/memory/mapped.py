"""A large store's codes in a file beside it, mapped at opening instead of computed. The file is only a cache: when
it is damaged or of another store, it is made again. It holds the lists of all cells (codes, then goals, as FAISS
lays them out), a table of sizes and checksums, a JSON head, and the lengths and digest of these two. A cell's
checksum is verified at its first use."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import disk

LAYOUT = 1
MOST_HEAD = 1 << 20  # bytes
_END = struct.Struct("<8sQQ16s")  # magic, bytes of the table, bytes of the head, their digest
_MAGIC = b"btrcells"


class Torn(Exception):
    """Raised when a cell of the file fails its checksum."""


class Head(NamedTuple):
    """Identifies the store that the file was computed from."""

    layout: int
    store: str  # its identity
    fingerprint: str
    centres: int  # checksum
    goals: int  # how many
    last: int  # the newest row of `vectors` in it
    goal: int  # the newest goal in it
    witnesses: list[list[int]]  # some rows: id, goal, seal


def supported() -> bool:
    """True where FAISS can map a file; it cannot on Windows."""
    import faiss

    return hasattr(faiss, "OnDiskInvertedLists")


def beside(store: Path) -> Path:
    return store.with_name(store.name + ".cells")


def write(path: Path, head: Head, cells: Iterable[tuple[bytes, bytes]]) -> bool:
    """Writes the whole file or nothing; returns False without space or permission."""
    try:
        with disk.draft(path) as draft, draft.open("wb") as file:
            table = b""
            for codes, goals in cells:
                file.write(codes)
                file.write(goals)
                table += struct.pack("<II", len(goals) // 8, crc32(goals, crc32(codes)))
            told = json.dumps(head._asdict()).encode()
            file.write(table + told + _END.pack(_MAGIC, len(table), len(told), _digest(table + told)))
    except (OSError, BtError):
        return False
    return True


def forget(store: Path) -> None:
    beside(store).unlink(missing_ok=True)


class Mapped:
    """The lists of a mapped file, read only; FAISS uses them like lists in memory."""

    def __init__(self, path: Path, head: Head, table: Any, code_size: int) -> None:
        import faiss
        import numpy

        self.head, self._faiss = head, faiss
        self.sizes, self._sums = table[:, 0].astype(numpy.int64), table[:, 1]
        self._seen: Any = numpy.zeros(len(table), dtype=bool)
        self._bytes = self.sizes * (code_size + 8)
        self.lists = faiss.OnDiskInvertedLists(len(table), code_size, "")
        self.lists.filename, self.lists.read_only = str(path), True
        self.lists.prefetch_nthread = 0  # a fork after its threads hangs
        wide = self.sizes.astype(numpy.uint64)  # a name, since FAISS is given its address only
        self.lists.set_all_lists_sizes(faiss.swig_ptr(wide))
        self.lists.totsize = int(self._bytes.sum())
        self.lists.do_mmap()

    def check(self, cells: Sequence[int]) -> None:
        for cell in cells:
            if not self._seen[cell]:
                raw = self._faiss.rev_swig_ptr(self.lists.get_codes(cell), int(self._bytes[cell]))
                if crc32(raw.data) != int(self._sums[cell]):
                    raise Torn
                self._seen[cell] = True


def read(path: Path, code_size: int, cells: int) -> Mapped | None:
    """Opens the file; returns None when it is incomplete or belongs to another store."""
    import numpy as np

    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(size - _END.size)
            magic, table_size, head_size, digest = _END.unpack(file.read(_END.size))
            lists_end = size - _END.size - table_size - head_size
            if magic != _MAGIC or table_size != 8 * cells or head_size > MOST_HEAD or lists_end < 1:
                return None
            file.seek(lists_end)
            rest = file.read(table_size + head_size)
        if _digest(rest) != digest:
            return None
        head = Head(**json.loads(rest[table_size:]))
        if not _sound(head):
            return None
    except (OSError, ValueError, TypeError, RecursionError, struct.error):
        return None
    table = np.frombuffer(rest[:table_size], dtype="<u4").reshape(cells, 2)
    if head.layout != LAYOUT or int(table[:, 0].astype(np.int64).sum()) * (code_size + 8) != lists_end:
        return None
    return Mapped(path, head, table, code_size)


def _sound(head: Head) -> bool:
    """Checks that the head's numbers are within the bounds of a row or a layout."""
    seen = [n for row, goal, seal in head.witnesses for n in (row, goal, seal)]
    numbers = [head.layout, head.goals, head.last, head.goal, *seen]
    return set(map(type, numbers)) == {int} and 0 <= min(numbers) <= max(numbers) < 2**63


def _digest(blob: bytes) -> bytes:
    return blake2b(blob, digest_size=16).digest()
