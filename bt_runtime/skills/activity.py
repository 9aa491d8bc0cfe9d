"""A skill at work: started once, polled by the tick, cancelled when the tree moves on. Nothing here waits.

A function runs in a thread, an async function on a loop of its own, a generator one step a tick, a Skill as it says.
What it returns becomes the result: a Status as it is, False is FAILURE, anything else SUCCESS.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from typing import Any, NamedTuple, Protocol

from py_trees.common import Status

from bt_runtime.skills.skill import Skill
from bt_runtime.types import Observation


class Ended(NamedTuple):
    status: Status
    value: Any = None  # what the skill returned besides its status
    feedback: str = ""


class Activity(Protocol):
    wakes: bool  # does it say when it has finished (or must it be looked at again and again)

    def poll(self) -> Ended | None: ...
    def cancel(self, reason: str) -> None: ...


def ended(value: Any) -> Ended:
    if value is Status.RUNNING or value is Status.INVALID or inspect.isawaitable(value) or inspect.isgenerator(value):
        raise TypeError(f"a skill that has returned must have ended: SUCCESS, FAILURE or a value, not {value!r}")
    if isinstance(value, Status):
        return Ended(value)
    if isinstance(value, Observation):
        return Ended(Status.SUCCESS if value.ok else Status.FAILURE, value, value.text)
    return Ended(Status.FAILURE if value is False else Status.SUCCESS, value)


def begin(target: Any, params: dict[str, Any], wake: Callable[[], None]) -> Activity:
    """Starts a skill of any of the four forms."""
    if isinstance(target, Skill) or hasattr(target, "poll"):
        return _OfSkill(target, params)
    if inspect.iscoroutinefunction(target):
        return _OfCoroutine(target(**params), wake)
    if inspect.isgeneratorfunction(target):
        return _OfGenerator(target(**params))
    return InThread(target, params, wake)


class _OfSkill:
    wakes = False

    def __init__(self, target: Any, params: dict[str, Any]) -> None:
        self.target = target
        try:
            target.start(**params)
        except BaseException:
            with suppress(Exception):
                target.cancel()  # it may have begun to move
            raise

    def poll(self) -> Ended | None:
        status = self.target.poll()
        if not isinstance(status, Status) or status is Status.INVALID:
            raise TypeError(f"poll() of a skill must return RUNNING, SUCCESS or FAILURE, not {status!r}")
        if status is Status.RUNNING:
            return None
        return Ended(status, getattr(self.target, "result", None), getattr(self.target, "feedback", ""))

    def cancel(self, reason: str) -> None:
        self.target.cancel()


class _OfGenerator:
    wakes = False

    def __init__(self, generator: Generator[Any, None, Any]) -> None:
        self.generator = generator

    def poll(self) -> Ended | None:
        try:
            next(self.generator)
        except StopIteration as stop:
            return ended(stop.value)
        return None

    def cancel(self, reason: str) -> None:
        self.generator.close()


class _OfFuture:
    wakes = True
    future: Future[Any]

    def poll(self) -> Ended | None:
        return ended(self.future.result()) if self.future.done() else None

    def cancel(self, reason: str) -> None:
        self.future.cancel()  # a thread that runs goes on; its late answer is dropped with this object


class InThread(_OfFuture):
    """A plain function in a daemon thread, so that one that never returns keeps nobody from leaving.

    With a `turn`, functions that share it run one at a time (a world takes one action after another).
    """

    def __init__(
        self,
        target: Callable[..., Any],
        params: dict[str, Any],
        wake: Callable[[], None],
        turn: threading.Lock | None = None,
    ) -> None:
        self.future = Future()
        self.future.add_done_callback(lambda _: wake())
        self.work = (target, params, turn)
        threading.Thread(target=self.run, name=f"bt-{getattr(target, '__name__', 'skill')}", daemon=True).start()

    def run(self) -> None:
        target, params, turn = self.work
        with turn or nullcontext():
            if not self.future.set_running_or_notify_cancel():
                return  # cancelled while it waited for its turn
            try:
                self.future.set_result(target(**params))
            except Exception as error:
                self.future.set_exception(error)
            except BaseException as error:  # sys.exit() of a skill is no reason to leave the run
                self.future.set_exception(RuntimeError(f"the skill left by {type(error).__name__}: {error}"))


class Opening:
    """Something that is opened in a thread, because that may take long. What comes too late is closed again."""

    def __init__(self, make: Callable[[], Any], wake: Callable[[], None]) -> None:
        self.future = InThread(make, {}, wake).future

    def poll(self) -> Any:
        return self.future.result() if self.future.done() else None

    def cancel(self, reason: str) -> None:
        self.future.add_done_callback(lambda done: None if done.exception() else done.result().close())


class _OfCoroutine(_OfFuture):
    def __init__(self, work: Coroutine[Any, Any, Any], wake: Callable[[], None]) -> None:
        self.future = asyncio.run_coroutine_threadsafe(work, _loop())
        self.future.add_done_callback(lambda _: wake())


_lock = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def _loop() -> asyncio.AbstractEventLoop:
    """The one loop of this process on which async skills run, in a daemon thread."""
    with _lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="bt-async", daemon=True).start()
            _loops.append(loop)
        return _loops[0]
