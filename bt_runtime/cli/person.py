"""The person at the terminal: asked by agents, and before skills that want it; a line typed is the answer."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.person import Person, Reply

if TYPE_CHECKING:
    from bt_runtime.run.run import Tree

SILENCE = ""  # what is answered once nothing more can be typed


class AtTerminal(Person):
    """One question after another, in the order in which they came; the tick waits for none."""

    def __init__(self, lines: TextIO | None = None) -> None:
        super().__init__()
        self.lines = lines or sys.stdin
        self.reader: threading.Thread | None = None
        self.put = threading.Semaphore(0)

    def ask(self, question: str) -> Reply:
        reply = super().ask(question)
        self.put.release()
        if self.reader is None:
            self.reader = threading.Thread(target=self.read, name="bt-person", daemon=True)
            self.reader.start()
        return reply

    def read(self) -> None:
        """A line a question; once nothing more can be typed, that is every answer."""
        while True:
            self.put.acquire()
            self.typed(self.lines.readline().strip() or SILENCE)

    def typed(self, line: str) -> None:
        """The oldest question that is still open; a line that nobody asked for is dropped."""
        for number in [*self.open]:
            with suppress(BtError):  # answered on the page meanwhile
                self.answer(number, line)
                return


def at_hand(tree: Tree, page: bool = False) -> dict[str, Any]:
    """For a run's services: somebody to ask, where a terminal or a page is there and the tree may want it."""
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if not (terminal or page) or not asks(tree):
        return {}
    return {"person": AtTerminal() if terminal else Person()}


def asks(tree: Tree) -> bool:
    """Has it a skill that wants a yes, or an agent that may ask?"""
    for spec in filter(None, (tree.spec, *tree.first.loaded.values())):
        if any(kind.data["entry"].acting.confirm for kind in spec.registry if "entry" in kind.data):
            return True
        if any("ask" in (node.values.get("moves") or ()) for node in spec.root.walk() if node.kind.family == "agent"):
            return True
    return False
