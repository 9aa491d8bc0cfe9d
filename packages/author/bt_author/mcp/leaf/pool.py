"""The servers of one run: an event loop in a thread of its own, and calls that a tick starts, polls and cancels."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from bt_author.mcp.leaf.config import ServerConfig

if TYPE_CHECKING:
    from bt_author.mcp.leaf.link import Link

CLOSING = 10.0  # seconds that all servers together have to end
MOST_WAITING = 8  # questions of a server that wait for the person


Answered = tuple[str, Mapping[str, Any]]  # accept, decline or cancel; the form's fields
DECLINED: Answered = ("decline", {})


class Question(NamedTuple):
    """What a server asks the person; `answer` takes it from any thread."""

    message: str
    form: dict[str, Any]
    answer: Callable[[Answered], None]


class Call:
    """One call of a tool, as the tick sees it."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.said = ""  # the last progress
        self.questions: deque[Question] = deque()
        self.end: Future[Any] = Future()
        self.task: asyncio.Task[None] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.over = False  # cancelled before it began

    def cancel(self) -> None:
        self.over = True
        if self.loop is not None:
            with suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        share = f"{progress:g}/{total:g}" if total else f"{progress:g}"
        self.said = f"{share} {message[:200]}" if message else share
        self.wake()

    async def elicit(self, message: str, form: Any) -> Answered:
        """Hands a question to the tick, which asks the person; waits for the answer."""
        if not isinstance(form, dict) or len(self.questions) >= MOST_WAITING:
            return DECLINED
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Answered] = loop.create_future()

        def put(result: Answered) -> None:
            if not answered.done():
                answered.set_result(result)

        self.questions.append(Question(message, form, lambda result: _soon(loop, lambda: put(result))))
        self.wake()
        return await answered


def _soon(loop: asyncio.AbstractEventLoop, do: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # that loop was closed
        loop.call_soon_threadsafe(do)


class Pool:
    """All servers that the skills of one run use."""

    def __init__(self) -> None:
        self.links: dict[str, Link] = {}
        self.started = threading.Event()
        self.thread = threading.Thread(target=self._run, name="bt-mcp", daemon=True)
        self.loop: asyncio.AbstractEventLoop
        self.thread.start()
        self.started.wait()

    def _run(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.call_soon(self.started.set)
        try:
            self.loop.run_forever()
        finally:
            with suppress(Exception):
                self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    def call(
        self, config: ServerConfig, tool: str, given: dict[str, Any], seen: str, timeout: float,
        wake: Callable[[], None],
    ) -> Call:  # fmt: skip
        """Starts a call; returns at once."""
        call = Call(wake)
        call.loop = self.loop
        self.loop.call_soon_threadsafe(self._begin, call, config, tool, given, seen, timeout)
        return call

    def _begin(self, call: Call, config: ServerConfig, *given: Any) -> None:
        if not call.over:
            call.task = self.loop.create_task(self._do(call, config, *given))

    async def _do(
        self, call: Call, config: ServerConfig, tool: str, given: dict[str, Any], seen: str, timeout: float
    ) -> None:
        from bt_author.mcp.leaf.link import Link

        try:
            link = self.links.get(config.name)
            if link is None:
                link = self.links[config.name] = Link(config)
            call.end.set_result(await link.call(tool, given, seen, timeout, call.progress, call.elicit))
        except asyncio.CancelledError:
            call.end.cancel()
        except BaseException as error:
            call.end.set_exception(error)
        finally:
            call.wake()

    def close(self) -> None:
        """Ends all servers, with their process groups; bounded in time."""
        if not self.thread.is_alive():
            return
        ending = asyncio.run_coroutine_threadsafe(self._close(), self.loop)
        with suppress(Exception):
            ending.result(CLOSING)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(CLOSING)
        for link in self.links.values():
            if link.pipe is not None:
                link.pipe.end()  # whatever broke on the way, no process is left

    async def _close(self) -> None:
        mine = asyncio.current_task()
        for task in asyncio.all_tasks():
            if task is not mine and task.get_coro().__name__ == "_do":  # type: ignore[union-attr]
                task.cancel()
        await asyncio.gather(*(link.close() for link in self.links.values()), return_exceptions=True)
