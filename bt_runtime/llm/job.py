"""A job that someone else finishes: the tick only looks whether it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from bt_runtime.faults.diagnostic import BtError

T = TypeVar("T")


class Spent(NamedTuple):
    """What an answer took; goes to the journal."""

    prompt: int = 0  # tokens of the prompt
    reused: int = 0  # of them, those that were in the cache
    computed: int = 0  # tokens run through the model, answer included
    seconds: float = 0.0  # from the first token to the last
    waited: float = 0.0  # before that, for room or for another's prefix

    def plus(self, other: Spent) -> Spent:
        return Spent(
            self.prompt + other.prompt,
            self.reused + other.reused,
            self.computed + other.computed,
            self.seconds + other.seconds,
            self.waited + other.waited,
        )


class Cancelled(BtError):
    """Asked of a job that was cancelled; carries who stopped it and why."""


class Answer(Generic[T]):
    """One job of a model. `poll` and `cancel` never block; `wait` is for scripts without a tick."""

    def __init__(self, cancel: Callable[[Answer[T]], None], wake: Callable[[], None] | None = None) -> None:
        self._cancel, self._wake = cancel, wake
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._value: T | None = None
        self._error: BaseException | None = None
        self.spent = Spent()

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
        if self.finish(error=Cancelled(f"cancelled: {reason}"), wake=False):
            self._cancel(self)

    def wait(self, timeout: float | None = None) -> T:
        """Block until the answer is there. Not for a tick."""
        if not self._done.wait(timeout):
            raise TimeoutError(f"no answer within {timeout} s")
        value: Any = self.poll()
        return value  # type: ignore[no-any-return]

    def finish(
        self, value: T | None = None, error: BaseException | None = None, spent: Spent | None = None, wake: bool = True
    ) -> bool:
        """The first call decides; later ones are dropped. Tells whether it was the first."""
        with self._lock:
            if self._done.is_set():
                return False
            self._value, self._error = value, error
            self.spent = spent or self.spent
            self._done.set()
        if wake and self._wake is not None:
            self._wake()
        return True
