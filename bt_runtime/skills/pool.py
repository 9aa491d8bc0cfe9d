"""Threads for functions that take their time: as many as are needed at once, kept a while for the next ones.

They are daemons: a function that never returns keeps nobody from leaving.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue

IDLE = 10.0  # seconds that a thread without work waits for some


class _Worker:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.work: SimpleQueue[Callable[[], object]] = SimpleQueue()
        threading.Thread(target=self.run, name="bt-skill", daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                job = self.work.get(timeout=IDLE)
            except Empty:
                if self.pool.forget(self):
                    return
                continue  # work has come at the last moment
            job()
            del job
            self.pool.idle.append(self)


class Pool:
    """Never blocks, and never lets a job wait for another one."""

    def __init__(self) -> None:
        self.idle: deque[_Worker] = deque()  # the one that worked last is taken first

    def run(self, job: Callable[[], object]) -> None:
        try:
            worker = self.idle.pop()
        except IndexError:
            worker = _Worker(self)
        worker.work.put(job)

    def forget(self, worker: _Worker) -> bool:
        try:
            self.idle.remove(worker)
        except ValueError:
            return False  # it was just taken
        return True


POOL = Pool()
