"""The history of gestures over all files, for undo and redo without limit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class TextChange(NamedTuple):
    """One gesture: the text of each file before and after. None: the file did not exist, or was removed."""

    label: str
    texts: Mapping[Path, tuple[str | None, str | None]]


class History:
    def __init__(self) -> None:
        self.done: list[TextChange] = []
        self.undone: list[TextChange] = []

    def add(self, change: TextChange) -> None:
        """Adds a gesture; nothing can be redone after it."""
        self.done.append(change)
        self.undone.clear()

    def back(self) -> TextChange | None:
        """Returns the last gesture, which is to be undone."""
        if not self.done:
            return None
        self.undone.append(self.done.pop())
        return self.undone[-1]

    def again(self) -> TextChange | None:
        if not self.undone:
            return None
        self.done.append(self.undone.pop())
        return self.done[-1]

    def forget(self, path: Path) -> None:
        """Called when somebody else changed a file: earlier gestures on it can no longer be undone."""
        self.done = [c for c in self.done if path not in c.texts]
        self.undone = [c for c in self.undone if path not in c.texts]
