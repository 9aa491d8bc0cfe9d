"""A job that another thread finishes; the tick only polls it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Job, Spent, Wake

T = TypeVar("T")


class Cancelled(BtError):
    """Raised for a cancelled job, with who cancelled it and why."""


class Answer(Job[T]):
    """A job that any thread can finish. `poll` and `cancel` never block; `wait` is for scripts without a tick."""

    def __init__(self, cancel: Callable[[Answer[T]], None] | None = None, wake: Wake | None = None) -> None:
        self._cancel, self._wake = cancel, wake
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._value: T | None = None
        self._error: BaseException | None = None
        self.wakes = wake is not None

    @classmethod
    def of(cls, value: T) -> Answer[T]:
        """Returns a job that is finished already."""
        job = cls()
        job.finish(value)
        return job

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def poll(self) -> T | None:
        if not self._done.is_set():
            return None
        if self._error is not None:
            raise self._error
        return self._value

    def cancel(self, reason: str) -> None:
        if self.finish(error=Cancelled(f"cancelled: {reason}"), wake=False) and self._cancel is not None:
            self._cancel(self)

    def wait(self, timeout: float | None = None) -> T:
        if not self._done.wait(timeout):
            raise TimeoutError(f"no answer within {timeout} s")
        value: Any = self.poll()
        return value  # type: ignore[no-any-return]

    def finish(
        self, value: T | None = None, error: BaseException | None = None, spent: Spent | None = None, wake: bool = True
    ) -> bool:
        """Sets the result; only the first call counts. Returns True for the first call."""
        with self._lock:
            if self._done.is_set():
                return False
            self._value, self._error = value, error
            self.spent = spent or self.spent
            self._done.set()
        if wake and self._wake is not None:
            self._wake()
        return True
