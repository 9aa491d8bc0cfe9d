"""Where async skills run: the event loop in which the tree is ticked, or one of the run's own in a thread.

Two runs never share a loop of their own: a skill that blocks holds up its own run alone.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

JOIN = 1.0  # seconds that the end of a loop without work may take


class Work:
    """A coroutine on a loop: begun there, told to stop there, and over when its last `finally` is."""

    def __init__(
        self, work: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop, wake: Callable[[], None]
    ) -> None:
        self.loop = loop
        self.end: Future[Any] = Future()
        self._work, self._wake = work, wake
        self._task: asyncio.Task[None] | None = None
        self._told = False
        self._inside = False  # a task that is cancelled before its first step never enters what it was made of
        _soon(loop, self._begin)

    def cancel(self) -> None:
        self._told = True
        _soon(self.loop, self._cancel)

    def _begin(self) -> None:
        if self._told:
            self._work.close()  # it has done nothing yet
            self._ended(_cancelled())
        else:
            self._task = self.loop.create_task(self._run())
            self._task.add_done_callback(self._dropped)

    def _cancel(self) -> None:
        if self._inside and self._task is not None:
            self._task.cancel()

    def _dropped(self, task: asyncio.Task[None]) -> None:
        """Its loop ended before it could begin."""
        if not self.end.done():
            self._work.close()
            self._ended(_cancelled())

    async def _run(self) -> None:
        self._inside = True
        if self._told:
            self._work.close()
            self._ended(_cancelled())
            return
        try:
            value = await self._work
        except BaseException as error:
            self._ended(error)
        else:
            self.end.set_result(value)
            self._wake()

    def _ended(self, error: BaseException) -> None:
        self.end.set_exception(as_exception(error))
        self._wake()


def _cancelled() -> BaseException:
    import asyncio

    return asyncio.CancelledError()


def as_exception(error: BaseException) -> Exception:
    """What a skill broke with: its sys.exit() is no reason to leave the run."""
    return error if isinstance(error, Exception) else RuntimeError(f"the skill left by {type(error).__name__}: {error}")


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    if running() is loop:
        call()
        return
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:
        call()  # that loop was closed: nothing runs on it any more


class Loop:
    """One a run; its thread is started by the first async skill that needs it."""

    def __init__(self) -> None:
        self.own_only = False  # while something blocks the loop in which the tree is ticked
        self._own: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def begin(self, work: Coroutine[Any, Any, Any], wake: Callable[[], None]) -> Work:
        return Work(work, self._here() or self._alone(), wake)

    def close(self) -> None:
        """Ends the thread, if nothing runs on it any more; what would not stop keeps it."""
        own, thread = self._own, self._thread
        if own is None or thread is None or not own.is_running():
            return
        import asyncio

        if asyncio.all_tasks(own):
            return
        self._own = self._thread = None
        own.call_soon_threadsafe(own.stop)
        if thread is not threading.current_thread():
            thread.join(JOIN)

    def _here(self) -> asyncio.AbstractEventLoop | None:
        return None if self.own_only else running()

    def _alone(self) -> asyncio.AbstractEventLoop:
        if self._own is None:
            import asyncio

            self._own = loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_forever, args=(loop,), name="bt-async", daemon=True)
            self._thread.start()
        return self._own


def running() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread: none where nobody has loaded any, which takes eight megabytes."""
    known = sys.modules.get("asyncio")
    if known is None:
        return None
    try:
        loop: asyncio.AbstractEventLoop = known.get_running_loop()
        return loop
    except RuntimeError:
        return None


def _forever(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
