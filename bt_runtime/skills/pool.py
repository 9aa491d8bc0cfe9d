"""Threads for functions that take their time. One thread does job after job, as long as each is quick.

No job waits for another: who takes one and leaves others behind has called a second thread before it begins. Threads
are kept a while for what comes next, and are daemons: a function that never returns keeps nobody from leaving.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

IDLE = 10.0  # seconds that a thread without work waits for some

Job = Callable[[], object]


class Pool:
    """Never blocks; grows as far as jobs take their time, by one thread at once."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._idle: list[threading.Lock] = []  # a thread each, which waits for its lock; the latest is taken first
        self._called = False  # is one on its way to look for jobs: then none is called besides
        self._lock = threading.Lock()

    def run(self, job: Job) -> None:
        """In a thread, as soon as one gets there. Raises RuntimeError when there is none and none can be started."""
        with self._lock:
            self._jobs.append(job)
            if not self._called:
                try:
                    self._call()
                except RuntimeError:
                    self._jobs.pop()
                    raise

    def _call(self) -> None:
        if self._idle:
            self._idle.pop().release()
        else:
            threading.Thread(target=self._work, name="bt-skill", daemon=True).start()
        self._called = True

    def _work(self) -> None:
        bell = threading.Lock()
        bell.acquire()
        while True:
            self._do_all(bell)
            if not bell.acquire(timeout=IDLE):
                with self._lock:
                    if bell in self._idle:
                        self._idle.remove(bell)
                        return
                bell.acquire()  # called at the last moment

    def _do_all(self, bell: threading.Lock) -> None:
        """It was called: looks for jobs until there are none."""
        called = True
        while (job := self._next(bell, called)) is not None:
            job()
            called = False

    def _next(self, bell: threading.Lock, called: bool) -> Job | None:
        with self._lock:
            if called:
                self._called = False
            if not self._jobs:
                self._idle.append(bell)
                return None
            job = self._jobs.popleft()
            if self._jobs and not self._called:  # this job may take long
                with suppress(RuntimeError):  # no more threads: the others wait for one of those that are there
                    self._call()
            return job


POOL = Pool()
