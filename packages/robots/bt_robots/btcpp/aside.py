"""Keeps XML data without meaning for a tick in comments: editor attributes, metadata, and IDs that are no valid
names.

`# btcpp: _collapsed="true"` above a node, or at the head of a tree; `# btcpp-model: <Metadata … />` at the head, for
its model; `# btcpp-ids: Open_it="Open it"` at the head, for skills. `btr export` puts them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element as Out
from xml.etree.ElementTree import SubElement, tostring
from xml.sax.saxutils import quoteattr

from bt_robots.btcpp import document
from bt_robots.btcpp.document import Element
from bt_runtime.language.faults.diagnostic import BtError

NODE, MODEL, IDS = "btcpp:", "btcpp-model:", "btcpp-ids:"
KEPT = "kept in a comment, and put back by `btr export`"


def attributes(given: Mapping[str, str], mark: str = NODE) -> list[str]:
    """Writes attributes that we cannot express into a comment, if there are any."""
    said = " ".join(f"{name}={quoteattr(text)}" for name, text in given.items())
    return [f"{mark} {_line(said)}"] if said else []


def parts(elements: Iterable[Element]) -> list[str]:
    """Writes the parts of a model besides its ports into comments."""
    return [f"{MODEL} {_line(tostring(_copied(each), encoding='unicode'))}" for each in elements]


def _line(xml: str) -> str:
    """Returns the XML on one line; escapes line breaks and invisible characters by number."""
    return "".join(c if c.isprintable() else f"&#{ord(c)};" for c in xml)


def _copied(element: Element) -> Out:
    made = Out(element.tag, dict(element.attributes))
    made.text = " ".join(element.text.split()) or None
    made.extend(map(_copied, element.children))
    return made


def is_kept(comment: str) -> bool:
    return comment.startswith((NODE, MODEL, IDS))


def read(comments: Iterable[str], mark: str = NODE) -> dict[str, str]:
    """Reads the attributes that a comment keeps; "" for a comment that somebody has edited."""
    found: dict[str, str] = {}
    for comment in comments:
        if comment.startswith(mark):
            try:
                found |= document.parse(f"<a {comment.removeprefix(mark)}/>").attributes
            except BtError:
                continue
    return found


class Head(NamedTuple):
    """The comments at the head of a tree that restore its XML."""

    attributes: dict[str, str]
    ids: dict[str, str]  # skill's kind → ID
    model: list[Element]


def head(text: str) -> Head:
    """Reads the comments at the head of a tree's file."""
    comments: list[str] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        comments.append(line[1:].strip())
    model: list[Element] = []
    for comment in comments:
        if comment.startswith(MODEL):
            try:
                model.append(document.parse(comment.removeprefix(MODEL).strip()))
            except BtError:
                continue
    return Head(read(comments), read(comments, IDS), model)


def put(into: Out, element: Element) -> None:
    """Restores an element of a model."""
    made = SubElement(into, element.tag, element.attributes)
    made.text = element.text or None
    for child in element.children:
        put(made, child)
