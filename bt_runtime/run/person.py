"""The person whom agents and skills with `confirm` ask. The first answer counts."""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING

from bt_runtime.events import Answered, Asked, Notice
from bt_runtime.language.faults.diagnostic import BtError

if TYPE_CHECKING:
    from bt_runtime.tree.context import Context


class Reply:
    """A question that is open or answered."""

    wakes = True

    def __init__(self, person: Person, number: int, question: str, confirms: bool = False) -> None:
        self.person, self.number, self.question = person, number, question
        self.confirms = confirms  # does a yes let a skill begin
        self.answer: str | None = None

    def poll(self) -> str | None:
        return self.answer

    def cancel(self, reason: str) -> None:
        self.person.closed(self, "")


class Person:
    """A run's service `person`: each question stays open until somebody answers it, on the run's page for instance."""

    def __init__(self) -> None:
        self.context: Context | None = None
        self.open: dict[int, Reply] = {}  # the oldest first
        self.numbers = count(1)
        self.lock = threading.Lock()

    def joins(self, context: Context) -> None:
        """Returns the person's view for the run that asks."""
        self.context = context

    def ask(self, question: str) -> Reply:
        return self.put(Reply(self, next(self.numbers), question))

    def confirm(self, question: str) -> Reply:
        """Asks for consent before a skill that requires it."""
        return self.put(Reply(self, next(self.numbers), question, True))

    def put(self, reply: Reply) -> Reply:
        context = self._context()
        with self.lock:
            self.open[reply.number] = reply
        context.emit(Notice("", "warning", f"asks: {self.shown(reply)}"))
        context.emit(Asked(reply.number, reply.question))
        return reply

    def shown(self, reply: Reply) -> str:
        """Formats the question for the log."""
        return reply.question

    def answer(self, number: int, text: str) -> None:
        """Answers a question. Callable from any thread."""
        reply = self.open.get(number)
        if reply is None or not self.closed(reply, text):
            raise BtError("this question was already answered or withdrawn", "answer one of the open questions")
        self._context().wake()

    def closed(self, reply: Reply, text: str) -> bool:
        """Closes a question; returns False when it was closed before."""
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
