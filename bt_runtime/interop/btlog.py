"""A run as a `.btlog` of BehaviorTree.CPP 4: the tree as XML, then nine bytes for each change of a status.

Layout, little-endian: the magic word and a protocol byte, the XML's length and the XML, the start in microseconds since
1970, then records of microseconds since the start (6 bytes), node number (2) and status (1).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from bt_runtime.faults.diagnostic import BtError

MAGIC = b"BTCPP4-FileLogger2\x01"
MOST = 0xFFFF  # nodes: their numbers have two bytes
STATUS = {"INVALID": 0, "RUNNING": 1, "SUCCESS": 2, "FAILURE": 3}
_KINDS = {
    "sequence": "Sequence", "fallback": "Fallback", "reactive_sequence": "ReactiveSequence",
    "reactive_fallback": "ReactiveFallback", "sequence_with_memory": "SequenceWithMemory", "parallel": "Parallel",
    "invert": "Inverter", "retry": "RetryUntilSuccessful", "repeat": "Repeat", "timeout": "Timeout", "delay": "Delay",
    "once": "RunOnce", "succeed": "AlwaysSuccess", "fail": "AlwaysFailure",
}  # fmt: skip

Place = tuple[int, str, str, str]  # number, path, kind, name: a parent before its children
Change = tuple[float, int, str]  # seconds since 1970, node number, status


def write(tree: str, nodes: Sequence[Place], changes: Iterable[Change], started: float, path: Path) -> int:
    """How many changes were written."""
    if len(nodes) > MOST:
        raise BtError(f"a .btlog has room for {MOST:,} nodes, and this run had {len(nodes):,}", "export it as mcap")
    xml = tostring(document(tree, nodes), encoding="utf-8", xml_declaration=True)
    start, count = int(started * 1e6), 0
    with path.open("wb") as out:
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


def document(tree: str, nodes: Sequence[Place]) -> Element:
    """The tree with every node that it ever had, each with its number."""
    tree, nodes = _told(tree), [(number, _told(path), _told(kind), _told(name)) for number, path, kind, name in nodes]
    root = Element("root", BTCPP_format="4", main_tree_to_execute=tree)
    body = SubElement(root, "BehaviorTree", ID=tree, _fullpath="")
    parents = {parent_of(path) for _, path, _, _ in nodes}
    places: dict[str, Element] = {}
    for number, path, kind, name in nodes:
        above = places.get(path, places.get(parent_of(path), body))  # a guard stands at the path of what it guards
        tag = _KINDS.get(kind, "Control" if path in parents else "Action")
        element = SubElement(above, tag, name=name, _uid=str(number), _fullpath=path.lstrip("/"))
        if tag in ("Control", "Action"):
            element.set("ID", kind)
        places[path] = element
    model = SubElement(root, "TreeNodesModel")
    for tag, kind in sorted({(e.tag, e.get("ID") or "") for e in body.iter() if e.tag in ("Control", "Action")}):
        SubElement(model, tag, ID=kind)
    return root


def _told(text: str) -> str:
    """XML has no room for control characters and halves of characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]
