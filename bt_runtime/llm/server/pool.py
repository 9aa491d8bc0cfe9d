"""A few daemon threads for requests, so that a request that hangs does not keep the process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue


class RequestPool:
    """Runs at most `most` jobs at once, the others in order of arrival. Threads start on demand."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self.closed = False

    def submit(self, work: Callable[[], None]) -> bool:
        """False when the pool is closed. `work` does not raise."""
        with self._lock:
            if self.closed:
                return False
            if self._idle:
                self._idle -= 1
            elif len(self._threads) < self._most:
                name = f"{self._name}-{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._run, name=name, daemon=True))
                self._threads[-1].start()
            self._work.put(work)
            return True

    def close(self) -> None:
        """Ends the threads once they have done what they are at. Work that waits is done first: it finds itself cut."""
        with self._lock:
            if not self.closed:
                self.closed = True
                for _ in self._threads:
                    self._work.put(None)

    def join(self, seconds: float) -> bool:
        """Waits for the threads; returns True when all have ended in time."""
        for thread in self._threads:
            thread.join(seconds)
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            del work  # drops references while waiting for the next job
            with self._lock:
                if self._work.empty():
                    self._idle += 1
