"""Texts that an assistant handed over, kept under short names: it need not send the same tree again with every call."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError

PREFIX = "draft:"
MOST = 32  # the oldest is forgotten
FIELDS = ("tree", "first", "second", "text")  # parameters that hold a whole text


@dataclass
class Drafts:
    texts: dict[str, str] = field(default_factory=dict)  # by name, the oldest first

    def keep(self, text: str) -> str:
        """The text's name: the same text has the same name, in every session."""
        name = PREFIX + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        self.texts.pop(name, None)
        self.texts[name] = text
        while len(self.texts) > MOST:
            del self.texts[next(iter(self.texts))]
        return name

    def filled(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call with the texts in the places of their names."""
        return {key: self._text(value) if key in FIELDS else value for key, value in given.items()}

    def _text(self, value: Any) -> Any:
        if not isinstance(value, str) or not value.startswith(PREFIX) or "\n" in value:
            return value
        if value not in self.texts:
            raise BtError(f"`{value:.40}` is kept no longer", "hand over the text again")
        return self.texts[value]

    def told(self, given: Mapping[str, Any], made: Any) -> str:
        """Names the newest text of a call, when it was not known: the one that was made, or else the one that was
        given."""
        texts = [given.get("tree"), made]
        text = next((each for each in reversed(texts) if isinstance(each, str) and "\n" in each), None)
        known = set(self.texts)
        name = self.keep(text) if text is not None else ""
        return f"\nkept as {name}" if name and name not in known else ""
