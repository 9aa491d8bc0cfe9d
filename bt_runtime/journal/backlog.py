"""What is noted while a run is still led back to where it stood: kept, and written when it goes on from there."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from bt_runtime.journal.following import Following
from bt_runtime.journal.writer import Ticket, Writer


class Backlog(Writer):
    """In place of a writer. A run that cannot be led back leaves its journal as it was."""

    def __init__(self, following: Following) -> None:
        self.following = following
        self.queue: deque[tuple[Any, ...]] = deque()
        self.wanted = threading.Event()
        self.broken, self.closing = "", False

    def durable(self, wake: Callable[[], None] = lambda: None) -> Ticket:
        ticket = Ticket(wake)
        ticket.settle()
        return ticket

    def keep_up(self) -> None:
        """Nobody writes yet."""

    def close(self) -> None:
        self.closing = True

    def hand_over(self, writer: Writer) -> Writer:
        writer.queue.extend(self.queue)
        writer.soon()
        return writer
