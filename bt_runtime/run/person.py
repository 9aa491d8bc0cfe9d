"""Somebody who can be asked: by agents, and before skills that want it. Whoever is first to answer has answered."""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING

from bt_runtime.events import Answered, Asked, Notice
from bt_runtime.faults.diagnostic import BtError

if TYPE_CHECKING:
    from bt_runtime.tree.context import Context


class Reply:
    """A question that was put."""

    wakes = True

    def __init__(self, person: Person, number: int, question: str) -> None:
        self.person, self.number, self.question = person, number, question
        self.answer: str | None = None

    def poll(self) -> str | None:
        return self.answer

    def cancel(self, reason: str) -> None:
        self.person.closed(self, "")


class Person:
    """A run's service `person`: its questions stand open until somebody answers, on the run's page for instance."""

    def __init__(self) -> None:
        self.context: Context | None = None
        self.open: dict[int, Reply] = {}  # the oldest first
        self.numbers = count(1)
        self.lock = threading.Lock()

    def joins(self, context: Context) -> None:
        """The run that asks."""
        self.context = context

    def ask(self, question: str) -> Reply:
        context = self._context()
        reply = Reply(self, next(self.numbers), question)
        with self.lock:
            self.open[reply.number] = reply
        context.emit(Notice("", "warning", f"asks: {question}"))
        context.emit(Asked(reply.number, question))
        return reply

    def answer(self, number: int, text: str) -> None:
        """From any thread."""
        reply = self.open.get(number)
        if reply is None or not self.closed(reply, text):
            raise BtError("this question was answered already, or is not meant any more", "look at those that are open")
        self._context().wake()

    def closed(self, reply: Reply, text: str) -> bool:
        """False when it was before."""
        with self.lock:
            if self.open.pop(reply.number, None) is None:
                return False
            reply.answer = text
        self._context().emit(Answered(reply.number, text))
        return True

    def _context(self) -> Context:
        if self.context is None:
            raise BtError("nobody can be asked outside a run", "Run(tree, services={'person': Person()})")
        return self.context
