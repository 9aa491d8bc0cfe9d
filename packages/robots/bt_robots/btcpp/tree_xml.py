"""Writes a tree as the XML that BehaviorTree.CPP 4 writes for a running tree, for log files and monitors. Subtrees are
separate blocks, every node has its number, and each kind in use is declared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.kinds.registry import KINDS, installed

FAMILIES = {"control": "Control", "decorator": "Decorator"}
_TAKEN = {"root", "BehaviorTree", "TreeNodesModel", "Action", "Condition", "Control", "Decorator"}
_TAKEN |= {"SubTree", "SubTreePlus", "include", *(kind.twin.tag for kind in KINDS if kind.twin is not None)}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class Row(NamedTuple):
    number: int
    parent: int  # the number of the node above; one that is not among the rows: none
    kind: str
    name: str  # "" when it has none of its own
    path: str
    family: str = ""  # "": that of the registry


def document(tree: str, rows: Sequence[Row]) -> Element:
    """Writes the document; parents precede their children, and children keep their order."""
    tree = told(tree)
    root = Element("root", BTCPP_format="4", main_tree_to_execute=tree)
    body = SubElement(root, "BehaviorTree", ID=tree, _fullpath="")
    parents = {row.parent for row in rows}
    places: dict[int, Element] = {}
    models: dict[str, str] = {}
    for row in rows:
        kind = installed().get(row.kind)
        below, tag = row.number in parents, kind.twin.tag if kind is not None and kind.twin is not None else ""
        above = places.get(row.parent, body)
        if kind is not None and kind.includes and below:
            places[row.number] = _subtree(root, above, row, rows)
            continue
        model = models[tag or row.kind] = _family(row, kind, below or models.get(row.kind) == "Control")
        own = tag or (row.kind if _NAME.fullmatch(row.kind) and row.kind not in _TAKEN else model)
        named = {"ID": told(row.kind)} if own == model else {}
        name = told(row.name or row.kind if not tag else row.name or tag)
        places[row.number] = SubElement(above, own, {**named, "name": name, "_uid": str(row.number)})
    model_part = SubElement(root, "TreeNodesModel")
    for id, family in sorted(models.items()):
        SubElement(model_part, family, ID=told(id))
    return root


def _subtree(root: Element, above: Element, row: Row, rows: Sequence[Row]) -> Element:
    """Adds a subtree's block and a reference to it; returns the block for its nodes."""
    inner = next(each for each in rows if each.parent == row.number)
    name, place = told(inner.path.rpartition("/")[2]), told(row.path.lstrip("/"))
    SubElement(above, "SubTree", ID=name, _fullpath=place, _uid=str(row.number))
    return SubElement(root, "BehaviorTree", ID=name, _fullpath=place)


def _family(row: Row, kind: Kind | None, below: bool) -> str:
    if row.kind == "check":
        return "Condition"
    return FAMILIES.get(row.family or (kind.family if kind is not None else ""), "Control" if below else "Action")


def text(tree: str, rows: Sequence[Row]) -> bytes:
    made = document(tree, rows)
    indent(made, "    ")
    return bytes(tostring(made, encoding="utf-8", xml_declaration=True))


def told(words: str) -> str:
    """Removes control characters and unpaired surrogates, which XML cannot hold."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
