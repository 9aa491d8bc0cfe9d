"""A skill's sentence and its structured form, both ways: `go to {place}` ↔ {"place": "fridge 1"}."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bt_runtime.types import Json

_SLOT = re.compile(r"\{(\w+)\}")
# What a parameter of each type may look like inside a sentence.
_SHAPES = {"integer": r"[+-]?\d+", "number": r"[+-]?\d+(?:\.\d+)?", "boolean": r"true|false"}
_WORDS = r"\S(?:.*?\S)?"
_READ: dict[str, Callable[[str], Json]] = {"integer": int, "number": float, "boolean": "true".__eq__}


class Sentence:
    """A template with named slots; `types` gives the type of each slot (string when absent)."""

    def __init__(self, template: str, types: Mapping[str, str] | None = None) -> None:
        self.template = template
        self.types = dict(types or {})
        self.slots = tuple(_SLOT.findall(template))
        pieces = _SLOT.split(template)  # text, slot, text, slot, …, text
        pattern = "".join(
            f"(?P<{piece}>{_SHAPES.get(self.types.get(piece, ''), _WORDS)})" if i % 2 else re.escape(piece)
            for i, piece in enumerate(pieces)
        )
        self._pattern = re.compile(pattern)

    def say(self, params: Mapping[str, Json]) -> str:
        """The sentence with its slots filled; booleans as `true`/`false`."""
        return _SLOT.sub(lambda m: _spoken(params[m[1]]), self.template)

    def parse(self, text: str) -> dict[str, Json] | None:
        """The parameters that give this text, or None when it is another sentence."""
        found = self._pattern.fullmatch(text.strip())
        if found is None:
            return None
        return {name: _READ.get(self.types.get(name, ""), str)(value) for name, value in found.groupdict().items()}


def _spoken(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
