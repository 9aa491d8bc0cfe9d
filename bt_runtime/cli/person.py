"""The person at the terminal: asked by agents, and before skills that want it; a line typed is the answer."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from bt_runtime.events import Notice
from bt_runtime.tree.node import path_of

if TYPE_CHECKING:
    from bt_runtime.run.run import Run, Tree

SILENCE = ""  # what is answered once nothing more can be typed


class Reply:
    """A question that was put."""

    wakes = True

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.answer: str | None = None
        self.cancelled = False

    def poll(self) -> str | None:
        return self.answer

    def cancel(self, reason: str) -> None:
        self.cancelled = True

    def give(self, answer: str) -> None:
        self.answer = answer
        self.wake()


class Asked:
    """One question after another, in the order in which they came; the tick waits for none."""

    def __init__(self, lines: TextIO | None = None) -> None:
        self.lines = lines or sys.stdin
        self.run: Run | None = None
        self.open: deque[Reply] = deque()
        self.reader: threading.Thread | None = None
        self.put = threading.Semaphore(0)

    def ask(self, question: str) -> Reply:
        assert self.run is not None
        reply = Reply(self.run.context.wake)
        self.run.context.emit(Notice(path_of(self.run.root), "warning", f"asks: {question}"))
        self.open.append(reply)
        self.put.release()
        if self.reader is None:
            self.reader = threading.Thread(target=self.read, name="bt-person", daemon=True)
            self.reader.start()
        return reply

    def read(self) -> None:
        """A line a question; once nothing more can be typed, that is every answer."""
        while True:
            self.put.acquire()
            self.answered(self.lines.readline().strip() or SILENCE)

    def answered(self, line: str) -> None:
        """The oldest question that is still meant; a line that nobody asked for is dropped."""
        while self.open:
            reply = self.open.popleft()
            if not reply.cancelled:
                reply.give(line)
                return


def at_hand(tree: Tree) -> dict[str, Any]:
    """For a run's services: somebody to ask, where a terminal is there and the tree may want it."""
    return {"person": Asked()} if sys.stdin.isatty() and sys.stderr.isatty() and asks(tree) else {}


def asks(tree: Tree) -> bool:
    """Has it a skill that wants a yes, or an agent that may ask?"""
    for spec in filter(None, (tree.spec, *tree.first.loaded.values())):
        if any(kind.data["entry"].acting.confirm for kind in spec.registry if "entry" in kind.data):
            return True
        if any("ask" in (node.values.get("moves") or ()) for node in spec.root.walk() if node.kind.family == "agent"):
            return True
    return False
