"""Converts a skill's sentence to its parameters and back: `go to {place}` ↔ {"place": "fridge 1"}.

Parsing takes time proportional to length times slots for any input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from bt_runtime.types import Json

_SLOT = re.compile(r"\{(\w+)\}")
_READ: dict[str, Callable[[str], Json]] = {"integer": int, "number": float, "boolean": "true".__eq__}
_LONGEST_NUMBER = 64  # characters


class Sentence:
    """A template with named slots; `types` gives the type of each slot (string when absent)."""

    def __init__(self, template: str, types: Mapping[str, str] | None = None) -> None:
        self.template = template
        self.types = dict(types or {})
        self.slots = tuple(_SLOT.findall(template))
        self.pieces = tuple(_SLOT.split(template))  # text, slot, text, slot, …, text
        first, *rest = self.pieces
        self._first, self._after = first, rest[1::2]

    def say(self, params: Mapping[str, Json]) -> str:
        """The sentence with its slots filled; booleans as `true`/`false`. An optional parameter may be left out."""
        return _SLOT.sub(lambda m: spoken(params.get(m[1])), self.template)

    def parse(self, text: str) -> dict[str, Json] | None:
        """Returns the parameters with which the sentence equals this text; None when no parameters fit."""
        text = text.strip()
        if not text.startswith(self._first) or (self._after and not text.endswith(self._after[-1])):
            return None
        if not self._after:
            return {} if text == self._first else None
        return self._filled(text)

    def _filled(self, text: str) -> dict[str, Json] | None:
        """Finds the possible starts of each slot from last to first, then picks one parse from the first slot on."""
        may_end: list[bytearray] = []  # last slot first: after which character it may end
        following = bytearray(len(text) + 1)
        following[len(text)] = 1
        for name, after in zip(reversed(self.slots), reversed(self._after), strict=True):
            ends = bytearray(text.startswith(after, at) and following[at + len(after)] for at in range(len(text) + 1))
            may_end.append(ends)
            following = _Run(text, ends).begins(self.types.get(name, ""))
        return self._chosen(text, may_end[::-1]) if following[len(self._first)] else None

    def _chosen(self, text: str, may_end: list[bytearray]) -> dict[str, Json] | None:
        found: dict[str, Json] = {}
        at = len(self._first)
        for name, after, ends in zip(self.slots, self._after, may_end, strict=True):
            kind = self.types.get(name, "")
            end = next(end for end in _ends(kind, text, at) if ends[end])
            value = text[at:end]
            if kind in ("integer", "number") and len(value) > _LONGEST_NUMBER:
                return None
            read = _READ.get(kind, str)(value)
            if found.setdefault(name, read) != read:
                return None  # a slot that stands twice has one value
            at = end + len(after)
        return found


@lru_cache(maxsize=1024)
def sentence_of(template: str) -> Sentence:
    """Returns the sentence of a template, made once."""
    return Sentence(template)


class _Run:
    """Computes where a slot may begin so that it ends at a marked place."""

    def __init__(self, text: str, ends: bytearray) -> None:
        self.text = text
        self.ends = ends

    def begins(self, kind: str) -> bytearray:
        if kind == "boolean":
            return bytearray(any(self.ends[end] for end in _ends(kind, self.text, at)) for at in self.places())
        if kind in ("integer", "number"):
            return self.numbers(kind == "number")
        return self.words()

    def places(self) -> range:
        return range(len(self.text) + 1)

    def words(self) -> bytearray:
        """Marks the starts of one-line texts without blanks at either end."""
        found, near = bytearray(len(self.text) + 1), 0
        for at in reversed(range(len(self.text))):
            sign = self.text[at]
            if sign == "\n":
                near = 0
            elif not sign.isspace():
                near |= self.ends[at + 1]
                found[at] = near
        return found

    def numbers(self, real: bool) -> bytearray:
        text, found = self.text + " ", bytearray(len(self.text) + 1)
        whole = bytearray(len(text) + 1)  # digits from here on can end at a marked place
        part = near = 0
        for at in reversed(range(len(self.text))):
            if not text[at].isdecimal():
                near = 0
                signed = text[at] in "+-" and found[at + 1] and text[at + 1].isdecimal()
                found[at] = 1 if signed else 0
                continue
            if not text[at + 1].isdecimal():
                part = whole[at + 2] if real and text[at + 1] == "." and at + 2 < len(text) else 0
            near |= self.ends[at + 1]
            whole[at] = near
            found[at] = near | part
        return found


def _ends(kind: str, text: str, start: int) -> Iterator[int]:
    """Yields the possible ends of a slot, best first."""
    if kind == "boolean":
        yield from (start + len(word) for word in ("true", "false") if text.startswith(word, start))
    elif kind in ("integer", "number"):
        begin = start + text.startswith(("+", "-"), start)
        end = _digits(text, begin)
        if kind == "number" and end > begin and text.startswith(".", end):
            yield from range(_digits(text, end + 1), end + 1, -1)
        yield from range(end, begin, -1)
    else:
        # two characters and more before one alone; whatever it ends with is no blank
        line = text.find("\n", start)
        last = len(text) if line < 0 else line
        yield from (end for end in (*range(start + 2, last + 1), start + 1) if not text[end - 1].isspace())


def _digits(text: str, at: int) -> int:
    while at < len(text) and text[at].isdecimal():
        at += 1
    return at


def spoken(value: Json) -> str:
    """Formats a value for a sentence."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
