"""Event loops of async skills: the loop that ticks the tree, or the run's own loop in a thread.

Runs never share their own loop: a blocking skill holds up its own run alone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

LOOK = 0.002  # seconds between two looks at a clean-up that is let finish
JOIN = 1.0  # seconds that the end of a loop without work may take


class Work:
    """A coroutine on a loop, started and cancelled there. It has ended when its last `finally` has."""

    def __init__(
        self, work: Coroutine[Any, Any, object], loop: asyncio.AbstractEventLoop, wake: Callable[[], None]
    ) -> None:
        self.loop = loop
        self.end: Future[object] = Future()
        self._work, self._wake = work, wake
        self._task: asyncio.Task[None] | None = None
        self._told = False
        self._inside = False  # a task that is cancelled before its first step never enters what it was made of
        _soon(loop, self._begin)

    def cancel(self) -> None:
        self._told = True
        with suppress(RuntimeError):  # the loop was closed: nothing runs on it any more
            self.loop.call_soon_threadsafe(self._cancel)  # never in the tick: it may read a source file

    def _begin(self) -> None:
        if self._told:
            self._work.close()  # the coroutine has not begun
            self._ended(_cancelled())
        else:
            self._task = self.loop.create_task(self._run())
            self._task.add_done_callback(self._dropped)

    def _cancel(self) -> None:
        """Cancels the coroutine, but not inside its own `finally`: the clean-up ends first, and nothing after it
        runs."""
        if not self._inside or self._task is None or self._task.done():
            return
        from bt_runtime.skills.cleanup import cleaning_up  # imported only when something is cancelled

        if cleaning_up(self._work):
            self.loop.call_later(LOOK, self._cancel)
        else:
            self._task.cancel()

    def _dropped(self, task: asyncio.Task[None]) -> None:
        """Handles a task whose loop ended before the task began."""
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
    """The skill's exception; its sys.exit() becomes an error too, because it must not end the run."""
    return error if isinstance(error, Exception) else RuntimeError(f"the skill left by {type(error).__name__}: {error}")


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    if running() is loop:
        call()
        return
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:
        call()  # the loop was closed: nothing runs on it any more


class Loop:
    """A run's own loop; the first async skill that needs it starts its thread."""

    def __init__(self) -> None:
        self.own_only = False  # true while something blocks the loop in which the tree is ticked
        self._own: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def begin(self, work: Coroutine[Any, Any, object], wake: Callable[[], None]) -> Work:
        return Work(work, self._here() or self._alone(), wake)

    def close(self) -> None:
        """Ends the thread when nothing runs on it; a coroutine that does not stop keeps it."""
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
    """The event loop running in this thread; None when asyncio was never imported."""
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
