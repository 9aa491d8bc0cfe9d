"""What was changed, in order, over all files: undone and done again without end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Change(NamedTuple):
    """One gesture: for each file its text before and after; None: there was, or is, no such file."""

    label: str
    texts: Mapping[Path, tuple[str | None, str | None]]


class History:
    def __init__(self) -> None:
        self.done: list[Change] = []
        self.undone: list[Change] = []

    def add(self, change: Change) -> None:
        """A new gesture ends what could be done again."""
        self.done.append(change)
        self.undone.clear()

    def back(self) -> Change | None:
        """The last gesture, to be taken back."""
        if not self.done:
            return None
        self.undone.append(self.done.pop())
        return self.undone[-1]

    def again(self) -> Change | None:
        if not self.undone:
            return None
        self.done.append(self.undone.pop())
        return self.done[-1]

    def moved(self, path: Path, base: str, now: str) -> None:
        """Somebody else changed a file: what was done before cannot be taken back through that."""
        del base, now
        self.done = [c for c in self.done if path not in c.texts]
        self.undone = [c for c in self.undone if path not in c.texts]
