"""What a run that is led back to its last state notes meanwhile: buffered, and written once it goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from bt_runtime.journal.lines import Following
from bt_runtime.journal.store import Ticket
from bt_runtime.journal.writer import Queued, Writer
from bt_runtime.tree.clock import Alarm


class Backlog(Writer):
    """Buffers instead of a writer. A failed replay leaves its journal unchanged."""

    def __init__(self, following: Following) -> None:
        self.following = following
        self.queue: deque[Queued] = deque()
        self.noted = self.taken = 0
        self.flooded = False
        self.wanted = Alarm()
        self.broken, self.closing = "", False

    def durable(self, wake: Callable[[], None] = lambda: None) -> Ticket:
        ticket = Ticket(wake)
        ticket.settle()
        return ticket

    def keep_up(self) -> None:
        """No-op."""

    def close(self) -> None:
        self.closing = True

    def hand_over(self, writer: Writer) -> Writer:
        writer.queue.extend(self.queue)
        writer.noted += self.noted
        writer.flush_at_boundary()
        return writer
