"""A run as a `.btlog` of BehaviorTree.CPP 4: the tree as XML, then nine bytes for each change of a status.

Layout, little-endian: the magic word and a protocol byte, the XML's length and the XML, the start in microseconds since
1970, then records of microseconds since the start (6 bytes), node number (2) and status (1).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bt_robots.btcpp import document, tree_xml
from bt_robots.btcpp.document import Bounds, Element
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

MAGIC = b"BTCPP4-FileLogger2\x01"
MOST = 0xFFFF  # nodes: their numbers have two bytes
RECORD = 9  # bytes
MOST_READ = 256_000_000  # bytes of a file that is read: some twenty-eight million changes
_BOUNDS = Bounds(bytes=MOST_READ, elements=4 * MOST, depth=5_000)  # a log names each node, and each model
_HEAD = len(MAGIC) + 4
STATUS = {"INVALID": 0, "RUNNING": 1, "SUCCESS": 2, "FAILURE": 3}
Place = tuple[int, str, str, str]  # number, path, kind, name: a parent before its children
Change = tuple[float, int, str]  # seconds since 1970, node number, status


def write(tree: str, nodes: Sequence[Place], changes: Iterable[Change], started: float, path: Path) -> int:
    """Writes the log; returns the number of changes written."""
    if len(nodes) > MOST:
        raise BtError(f"a .btlog has room for {MOST:,} nodes, and this run had {len(nodes):,}", "export it as mcap")
    xml = tree_xml.text(tree, rows(nodes))
    start, count = int(started * 1e6), 0
    with disk.draft(path) as made, made.open("wb") as out:
        out.write(MAGIC + struct.pack("<i", len(xml)) + xml + struct.pack("<q", start))
        for at, number, status in changes:
            if number > MOST:
                raise BtError(
                    f"a .btlog has room for {MOST:,} nodes, and this run had node {number:,}", "export it as mcap"
                )
            since = max(0, int(at * 1e6) - start)
            out.write(struct.pack("<Q", since)[:6] + struct.pack("<HB", number, STATUS[status]))
            count += 1
    return count


def rows(nodes: Sequence[Place]) -> list[tree_xml.Row]:
    """Yields the rows of a tree. A guard has the path of the node that it guards, and precedes it."""
    places: dict[str, int] = {}
    found = []
    for number, path, kind, name in nodes:
        above = places.get(path, places.get(parent_of(path), -1))
        found.append(tree_xml.Row(number, above, kind, "" if name == kind else name, path))
        places[path] = number
    return found


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]


class Log(NamedTuple):
    """The content of a log file, ours or BehaviorTree.CPP's."""

    tree: Element
    started: float  # seconds since 1970
    changes: Sequence[Change]

    @property
    def name(self) -> str:
        blocks = [each for each in self.tree.children if each.tag == "BehaviorTree"]
        return self.tree.get("main_tree_to_execute") or (blocks[0].get("ID") if blocks else "") or "tree"


def read(path: Path) -> Log:
    """Reads a log. A last record that was cut off is ignored."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_READ + 1)
    except OSError as error:
        raise BtError(f"{path} cannot be read: {error.strerror}", "name a .btlog file") from error
    if len(data) > MOST_READ:
        raise BtError(f"{path} is longer than {MOST_READ:,} bytes", "cut it into several runs where it was written")
    if not data.startswith(MAGIC) or len(data) < _HEAD:
        raise BtError(f"{path} is not a .btlog of BehaviorTree.CPP 4", "`btr runs export --format btlog` writes one")
    (size,) = struct.unpack_from("<i", data, len(MAGIC))
    body = _HEAD + size + 8
    try:
        if size < 0 or body > len(data):
            raise BtError("it is cut off", "write it anew")
        tree = document.parse(data[_HEAD : _HEAD + size], "XML", _BOUNDS)
    except BtError as error:
        raise BtError(f"the tree in {path} cannot be read: {error.message}", "the file is damaged") from error
    (start,) = struct.unpack_from("<q", data, _HEAD + size)
    return Log(tree, start / 1e6, list(_changes(data, body, start / 1e6)))


def _changes(data: bytes, at: int, started: float) -> Iterator[Change]:
    names = {code: name for name, code in STATUS.items()}
    for place in range(at, len(data) - RECORD + 1, RECORD):
        micros = int.from_bytes(data[place : place + 6], "little")
        number, code = struct.unpack_from("<HB", data, place + 6)
        yield started + micros / 1e6, number, names.get(code, "INVALID")  # a skipped node has no result
