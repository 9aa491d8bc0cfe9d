"""A read-write lock: FAISS crashes when it is searched while it grows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class RWLock:
    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._inside = 0
        self._waiting = 0  # who wants to be alone goes before newcomers, else a busy reader starves it

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._turn:
            while self._waiting or self._inside < 0:
                self._turn.wait()
            self._inside += 1
        try:
            yield
        finally:
            with self._turn:
                self._inside -= 1
                self._turn.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._turn:
            self._waiting += 1
            try:
                while self._inside:
                    self._turn.wait()
                self._inside = -1
            finally:
                self._waiting -= 1
        try:
            yield
        finally:
            with self._turn:
                self._inside = 0
                self._turn.notify_all()
