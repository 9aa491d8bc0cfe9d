"""The skills of a run by name and by sentence: those of its trees, and those that the project's world carries out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bt_runtime.language.sentence import Sentence

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind


class Skills:
    def __init__(self) -> None:
        self.kinds: dict[str, Kind] = {}

    def know(self, kinds: Iterable[Kind]) -> None:
        for kind in kinds:
            if "entry" in kind.data:
                self.kinds.setdefault(kind.name, kind)

    def named(self, name: str) -> Kind | None:
        return self.kinds.get(name)

    def meant(self, sentence: str) -> Kind | None:
        """Returns the world's skill that a sentence starts."""
        for kind in self.kinds.values():
            entry = kind.data["entry"]
            if entry.impl == "world" and Sentence(entry.sentence, entry.types).parse(sentence) is not None:
                return kind
        return None
