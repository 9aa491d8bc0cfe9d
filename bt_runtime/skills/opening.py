"""Opens something that takes long, such as a world, in a thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from bt_runtime.skills.loop import as_exception
from bt_runtime.skills.pool import POOL
from bt_runtime.types import Job

T = TypeVar("T")


class Opening(Job[T]):
    """Opens something in a thread, because opening may take long. After a cancel, the result is closed at once."""

    def __init__(self, make: Callable[[], T], wake: Callable[[], None]) -> None:
        self.make, self.wake = make, wake
        self.future: Future[T] = Future()
        POOL.run(self.run)

    def run(self) -> None:
        try:
            self.future.set_result(self.make())
        except BaseException as error:
            self.future.set_exception(as_exception(error))
        self.wake()

    def poll(self) -> T | None:
        return self.future.result() if self.future.done() else None

    def cancel(self, reason: str) -> None:
        self.future.add_done_callback(_closed)


def _closed(done: Future[Any]) -> None:
    if not done.exception():
        done.result().close()
