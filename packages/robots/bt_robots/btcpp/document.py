"""XML as elements with line numbers. Entities are refused, sizes are bounded, every fault names its place. A raw `<`
or `&` inside an attribute is accepted, as in BehaviorTree.CPP's own parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from bt_robots.imports.report import Place, fault
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

MOST_BYTES = 4_000_000  # most bytes in one file
MOST_ELEMENTS = 50_000
MOST_DEPTH = 256
MOST_ATTRIBUTES = 200  # most attributes of one element


class Element:
    """An XML element. `comments` precede it, `after` precede its end tag."""

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
        """Returns an attribute's place."""
        return self.places.get(name, self.place)

    def walk(self) -> Iterator[Element]:
        todo = [self]
        while todo:
            yield (each := todo.pop())
            todo.extend(reversed(each.children))


def read(path: Path, shown: str = "") -> Element:
    return parse(disk.begin(path, MOST_BYTES + 1), shown or str(path))


class Bounds(NamedTuple):
    """The limits on reading a document."""

    bytes: int = MOST_BYTES
    elements: int = MOST_ELEMENTS
    depth: int = MOST_DEPTH


def parse(data: bytes | str, name: str = "tree.xml", bounds: Bounds | None = None) -> Element:
    """Parses a document; returns the root. Raises BtError with line and column."""
    bounds = bounds or Bounds()
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(data) > bounds.bytes:
        raise BtError(f"{name} holds more than {bounds.bytes:,} bytes", "split it into files that include each other")
    try:
        return _Reader(data, name, bounds).root()
    except _Malformed as first:
        mended, signs = _with_raw_signs(data)
        if not signs:
            raise first.fault from None
        try:
            return _Reader(mended, name, bounds, signs).root()
        except _Malformed as second:
            raise second.fault from None


class _Malformed(Exception):
    def __init__(self, fault: BtError) -> None:
        self.fault = fault


def _with_raw_signs(data: bytes) -> tuple[bytes, dict[int, str]]:
    """Replaces each raw `<` and `&` in an attribute by a private character, so that positions stay. Returns the
    document and the replaced characters; none when the document is not UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data, {}
    free = [code for code in range(0xE000, 0xE100) if chr(code) not in text][:2]
    if len(free) < 2:
        return data, {}
    less, and_ = map(chr, free)

    def value(found: re.Match[str]) -> str:
        return _BARE.sub(and_, found[0]).replace("<", less)

    mended = _PART.sub(lambda part: _VALUE.sub(value, part[0]) if part["tag"] else part[0], text)
    return mended.encode(), {ord(less): "<", ord(and_): "&"} if mended != text else {}


class _Reader:
    def __init__(self, data: bytes, name: str, bounds: Bounds, signs: dict[int, str] | None = None) -> None:
        self.data, self.name, self.bounds, self.signs = data, name, bounds, signs
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
            raise _Malformed(
                fault(at, f"this is no well-formed XML: {said}", "mend it there, or save it anew in its editor")
            ) from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not know
            raise fault(self.here(), f"this is no XML that can be read: {error}", "save it as UTF-8") from None
        assert self.top is not None
        self.top.after += self.comments
        return self.top

    def refused(self, *_: object) -> None:
        raise fault(self.here(), "a DOCTYPE, or an entity of its own, has no place in a tree", "leave it out")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > self.bounds.elements:
            raise fault(self.here(), f"more than {self.bounds.elements:,} elements", "split it into several files")
        if len(self.open) >= self.bounds.depth:
            raise fault(self.here(), f"elements stand more than {self.bounds.depth} deep", "make a SubTree of a part")
        if len(attributes) > MOST_ATTRIBUTES:
            raise fault(self.here(), f"an element with more than {MOST_ATTRIBUTES} attributes", "leave some out")
        if self.signs:
            attributes = {name: text.translate(self.signs) for name, text in attributes.items()}
        element = Element(tag, attributes, self.here(), self.placed(attributes))
        element.comments, self.comments = self.comments, []
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.top = element
        self.open.append(element)

    def placed(self, attributes: dict[str, str]) -> dict[str, Place]:
        """Finds each attribute's place in the tag's text, outside quotes."""
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


_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)")
_VALUE = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_PART = re.compile(  # the last alternative takes the rest, so that the whole is read once
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![^>]*+>|</[^>]*+>"
    r"|(?P<tag><[^\s/>!?](?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+>)|<.*+",
    re.DOTALL,
)
_TAG = re.compile(rb"<[^\s/>]++(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+>")
_ATTRIBUTE = re.compile(rb"\s([^\s=\"'/<>]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
