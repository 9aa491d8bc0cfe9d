"""XML as elements that know where they stand. Entities are refused, sizes are bounded, every fault names its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from bt_runtime.faults.diagnostic import BtError

MOST_BYTES = 4_000_000  # of one file
MOST_ELEMENTS = 50_000
MOST_DEPTH = 256
MOST_ATTRIBUTES = 200  # of one element


class Place(NamedTuple):
    file: str
    line: int
    column: int  # from 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def fault(place: Place, message: str, hint: str = "") -> BtError:
    return BtError(f"{place}: {message}", hint)


class Element:
    """One element; `comments` stood before it, `after` before its end."""

    __slots__ = ("after", "attributes", "children", "comments", "place", "places", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], place: Place, places: dict[str, Place]) -> None:
        self.tag, self.attributes, self.place, self.places = tag, attributes, place, places
        self.children: list[Element] = []
        self.comments: list[str] = []
        self.after: list[str] = []
        self.text = ""

    def get(self, name: str, default: str = "") -> str:
        return self.attributes.get(name, default)

    def at(self, name: str) -> Place:
        """Where an attribute stands."""
        return self.places.get(name, self.place)

    def walk(self) -> Iterator[Element]:
        todo = [self]
        while todo:
            yield (each := todo.pop())
            todo.extend(reversed(each.children))


def read(path: Path, shown: str = "") -> Element:
    with path.open("rb") as file:
        return parse(file.read(MOST_BYTES + 1), shown or str(path))


def parse(data: bytes | str, name: str = "tree.xml") -> Element:
    """The root. Raises BtError, with line and column."""
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(data) > MOST_BYTES:
        raise BtError(f"{name} holds more than {MOST_BYTES:,} bytes", "split it into files that include each other")
    return _Reader(data, name).root()


class _Reader:
    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        self.parser = parser = expat.ParserCreate()
        self.open: list[Element] = []
        self.top: Element | None = None
        self.comments: list[str] = []
        self.count = 0
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CommentHandler, parser.CharacterDataHandler = self.comment, self.characters
        parser.StartDoctypeDeclHandler = self.refused
        parser.EntityDeclHandler = self.refused
        parser.buffer_text = True

    def here(self) -> Place:
        return Place(self.name, self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def root(self) -> Element:
        try:
            self.parser.Parse(self.data, True)
        except expat.ExpatError as error:
            said = expat.ErrorString(error.code) or "no XML"
            at = Place(self.name, error.lineno, error.offset + 1)
            raise fault(at, f"this is no well-formed XML: {said}") from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not know
            raise fault(self.here(), f"this is no XML that can be read: {error}", "save it as UTF-8") from None
        assert self.top is not None
        self.top.after += self.comments
        return self.top

    def refused(self, *_: object) -> None:
        raise fault(self.here(), "a DOCTYPE, or an entity of its own, has no place in a tree", "leave it out")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise fault(self.here(), f"more than {MOST_ELEMENTS:,} elements", "split it into several files")
        if len(self.open) >= MOST_DEPTH:
            raise fault(self.here(), f"elements stand more than {MOST_DEPTH} deep", "make a SubTree of a part")
        if len(attributes) > MOST_ATTRIBUTES:
            raise fault(self.here(), f"an element with more than {MOST_ATTRIBUTES} attributes")
        element = Element(tag, attributes, self.here(), self.placed(attributes))
        element.comments, self.comments = self.comments, []
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.top = element
        self.open.append(element)

    def placed(self, attributes: dict[str, str]) -> dict[str, Place]:
        """Where each attribute stands: looked for in the text of the tag, by what quotes leave over."""
        if not attributes:
            return {}
        line, column, start = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber, 0
        found: dict[str, Place] = {}
        tag = _TAG.match(self.data, self.parser.CurrentByteIndex)
        for each in _ATTRIBUTE.finditer(tag[0]) if tag else ():
            before = tag[0][start : each.start(1)] if tag else b""
            line += before.count(b"\n")
            last = before.rpartition(b"\n")[2].decode("utf-8", "replace")
            column = len(last) + (0 if b"\n" in before else column)
            start = each.start(1)
            found[each[1].decode("utf-8", "replace")] = Place(self.name, line, column + 1)
        return found

    def end(self, tag: str) -> None:
        element = self.open.pop()
        element.after, self.comments = [*element.after, *self.comments], []

    def comment(self, text: str) -> None:
        lines = [" ".join(line.split()) for line in text.strip().splitlines()]
        self.comments += lines

    def characters(self, text: str) -> None:
        if self.open and text.strip():
            self.open[-1].text += text


_TAG = re.compile(rb"<[^\s/>]++(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+>")
_ATTRIBUTE = re.compile(rb"\s([^\s=\"'/<>]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
