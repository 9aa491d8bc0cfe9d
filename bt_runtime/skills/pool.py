"""Threads for functions that take long. A thread does job after job, as long as each is quick. No job waits for
another: a thread that takes one while others wait starts a second thread first. Idle threads are kept for a while.
All are daemons, so a function that never returns does not keep the process alive."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

IDLE = 10.0  # seconds that a thread without work waits for some
LONG = 0.005  # seconds that a job waits for its thread before tickers give way
MOST_CALLED = 8  # threads on their way at once

Job = Callable[[], object]


class Pool:
    """A pool of threads that never blocks the caller. It adds a thread when jobs take long, and several when jobs
    wait."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._jobs: deque[tuple[float, Job]] = deque()  # (waiting since, job)
        self._idle: list[threading.Lock] = []  # a thread each, which waits for its lock; the latest is taken first
        self._called = 0  # threads on their way to look for jobs
        self._lock = threading.Lock()
        self._now = now

    def run(self, job: Job) -> None:
        """Runs the job in the next available thread. Raises RuntimeError when no thread can be started."""
        waiting = (self._now(), job)
        with self._lock:
            self._jobs.append(waiting)
            start = not self._called and self._call()
        if start:
            try:
                self._start()
            except RuntimeError:
                with self._lock:
                    if waiting not in self._jobs:  # another thread has taken the job
                        return
                    self._jobs.remove(waiting)
                raise

    def starved(self) -> bool:
        """True when a job waits long for its thread: more threads are started, and tickers should yield the
        processor."""
        try:
            since = self._jobs[0][0]
        except IndexError:
            return False
        if not self._called or self._now() - since < LONG:
            return False
        with self._lock:
            more = self._called < min(len(self._jobs), MOST_CALLED)
            start = more and self._call()
        if start:
            with suppress(RuntimeError):
                self._start()
        return True

    def _call(self) -> bool:
        """Calls an idle thread, or returns True: one is to be started, outside the lock, since that takes time."""
        self._called += 1
        if not self._idle:
            return True
        self._idle.pop().release()
        return False

    def _start(self) -> None:
        try:
            threading.Thread(target=self._work, name="bt-skill", daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._called -= 1
            raise

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
        """Runs jobs in a called thread until none is left."""
        called = True
        while (job := self._next(bell, called)) is not None:
            job()
            called = False

    def _next(self, bell: threading.Lock, called: bool) -> Job | None:
        with self._lock:
            if called:
                self._called -= 1
            if not self._jobs:
                self._idle.append(bell)
                return None
            _, job = self._jobs.popleft()
            start = bool(self._jobs) and not self._called and self._call()  # a further thread: this job may take long
        if start:
            with suppress(RuntimeError):  # no more threads: the others wait for one of those that are there
                self._start()
        return job


POOL = Pool()
