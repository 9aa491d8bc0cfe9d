"""A running skill: started once, polled by the tick, cancelled when the tree moves on. No call blocks. A function
runs in a thread, an async function on an event loop, a generator one step a tick, a Skill by its own methods. Its
return value becomes the result: a Status unchanged, False is FAILURE, anything else SUCCESS."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from py_trees.common import Status

from bt_runtime.skills.loop import Loop, Work, as_exception
from bt_runtime.skills.pool import POOL
from bt_runtime.skills.resources import Stopping
from bt_runtime.skills.skill import Skill
from bt_runtime.types import Job, Observation

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
RUNNING, SUCCESS, FAILURE = Status.RUNNING, Status.SUCCESS, Status.FAILURE


class Ended(NamedTuple):
    status: Status
    value: object = None  # what the skill returned besides its status
    feedback: str = ""


class News(NamedTuple):
    """A running activity's report: new feedback text, or values for its outputs (None: none)."""

    value: object = None
    feedback: str = ""


class Activity(Stopping, Protocol):
    """A started skill: polled at each tick until it has ended or was cancelled."""

    @property
    def lingers(self) -> bool:
        """True when it may take its time to stop."""

    @property
    def in_thread(self) -> bool:
        """True when nothing can stop it."""

    def follow(self, values: dict[str, object]) -> None:
        """Passes on the present values of the inputs that it follows."""

    @property
    def wakes(self) -> bool:
        """True when the activity reports its end by itself; otherwise it is polled at each tick."""

    def poll(self) -> Ended | News | None: ...
    def cancel(self, reason: str) -> None: ...


class Stops:
    """The base of activities that stop as soon as they are cancelled and follow no inputs."""

    lingers = False  # may it take its time to stop
    in_thread = False  # can nothing stop it
    loop_of: asyncio.AbstractEventLoop | None = None  # on which it stops

    def follow(self, values: dict[str, object]) -> None:
        """Passes the present inputs to an activity that asked to follow them."""

    def stopped(self) -> bool:
        """True when the activity has stopped after `cancel`."""
        return True

    def settled(self) -> bool:
        """Returns `stopped()`, asked at the end of a run."""
        return self.stopped()


def ended(value: object) -> Ended:
    if isinstance(value, Status):
        if value is RUNNING or value is Status.INVALID:
            raise _no_end(value)
        return Ended(value)
    if value is None or value is True:
        return Ended(SUCCESS, value)
    if isinstance(value, Observation):
        return Ended(SUCCESS if value.ok else FAILURE, value, value.text)
    if inspect.isawaitable(value) or inspect.isgenerator(value):
        raise _no_end(value)
    if type(value) is tuple and len(value) == 2 and isinstance(value[0], Status):
        return ended(value[0])._replace(value=value[1])
    return Ended(FAILURE if value is False else SUCCESS, value)


def _no_end(value: object) -> TypeError:
    return TypeError(f"a skill that has returned must have ended: SUCCESS, FAILURE or a value, not {value!r}")


def form_of(target: object) -> type[OfSkill | _OfCoroutine | _OfGenerator | InThread]:
    """Returns the activity class for the target's form: object, coroutine, generator or plain function."""
    if isinstance(target, Skill) or hasattr(target, "poll"):
        return OfSkill
    if inspect.iscoroutinefunction(target):
        return _OfCoroutine
    return _OfGenerator if inspect.isgeneratorfunction(target) else InThread


def lingers(target: object) -> bool:
    """True when stopping an activity of this target may take more than one tick."""
    own = getattr(type(target), "stopping", None)
    slow = inspect.iscoroutinefunction(getattr(target, "cancel", None)) or own not in (None, Skill.stopping)
    return inspect.iscoroutinefunction(target) or slow


class OfSkill(Stops):
    def __init__(self, target: Any, params: dict[str, object], wake: Callable[[], None], loop: Loop | None) -> None:
        self.target = target
        self.wake, self.loop = wake, loop
        self.lingers = lingers(target)
        self.stop: Work | None = None  # of an async `cancel`
        self.start(params)

    @property
    def wakes(self) -> bool:
        """True when polling is unnecessary, as for a test double that runs for ever."""
        return getattr(self.target, "wakes", False) is True

    def start(self, params: dict[str, object]) -> None:
        target = self.target
        self.feedback, self.value = "", _seen(getattr(target, "result", None))  # what was told already
        try:
            target.start(**params)
        except BaseException:
            with suppress(Exception):
                self.cancel("")  # it may have begun to move
            raise

    def poll(self) -> Ended | News | None:
        return self.told(self.target.poll())

    def told(self, status: object) -> Ended | News | None:
        target = self.target
        if status is RUNNING:
            return self._news()
        if status is not SUCCESS and status is not FAILURE:
            raise TypeError(f"poll() of a skill must return RUNNING, SUCCESS or FAILURE, not {status!r}")
        value = getattr(target, "result", None)
        if status is FAILURE and value == self.value:
            value = None  # of an earlier start, or told while it was running
        return Ended(status, value, getattr(target, "feedback", ""))

    def _news(self) -> News | None:
        target = self.target
        feedback, value = getattr(target, "feedback", ""), getattr(target, "result", None)
        if feedback == self.feedback and (value is None or value == self.value):
            return None
        news = News(None if value is None or value == self.value else value, feedback)
        self.feedback, self.value = feedback, _seen(value)
        return news

    def follow(self, values: dict[str, object]) -> None:
        changed = getattr(self.target, "changed", None)
        if changed is not None:
            changed(**values)
        else:
            vars(self.target).update(values)

    def cancel(self, reason: str) -> None:
        told = self.target.cancel()
        if inspect.iscoroutine(told):
            self.stop = (self.loop or Loop()).begin(told, self.wake)
            self.loop_of = self.stop.loop

    def stopped(self) -> bool:
        if self.stop is not None:
            return self.stop.end.done()
        stopping = getattr(self.target, "stopping", None)
        return stopping is None or not stopping()


def _seen(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


class _OfGenerator(Stops):
    """Runs a generator skill. A step may yield text to show, or a mapping of outputs, and receives the inputs that
    it follows."""

    wakes = False

    def __init__(self, target: Any, params: dict[str, object], wake: Callable[[], None], loop: Loop | None) -> None:
        self.generator: Generator[object, object, object] = target(**params)
        self.begun, self.said = False, ""  # the text yielded last is its feedback, as of an object
        self.values: dict[str, object] | None = None

    def poll(self) -> Ended | News | None:
        values, self.values = self.values if self.begun else None, None
        self.begun = True
        try:
            said = self.generator.send(values)
        except StopIteration as stop:
            done = ended(stop.value)
            return done._replace(feedback=self.said) if isinstance(done.value, bool | None) else done
        if isinstance(said, str):
            self.said = said
            return News(None, said)
        return News(said) if isinstance(said, Mapping) else None

    def follow(self, values: dict[str, object]) -> None:
        self.values = values

    def cancel(self, reason: str) -> None:
        self.generator.close()


class InThread(Stops):
    """A plain function in a thread, so that one that never returns blocks nobody. Functions that share a `turn` run
    one at a time (a world takes one action after another)."""

    wakes = True
    in_thread = True

    def __init__(
        self,
        target: Callable[..., object],
        params: dict[str, object],
        wake: Callable[[], None],
        loop: Loop | None = None,
        turn: threading.Lock | None = None,
    ) -> None:
        self.target, self.params, self.wake, self.turn = target, params, wake, turn
        self.future: Future[object] = Future()  # a journal hears of what comes too late
        self.over = False
        POOL.run(self.run)

    def run(self) -> None:
        try:
            if self.turn is None:
                self.call()
            else:
                with self.turn:
                    self.call()
        finally:
            self.over = True
            self.wake()

    def call(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return  # cancelled while it waited for its turn
        try:
            self.future.set_result(self.target(**self.params))
        except BaseException as error:
            self.future.set_exception(as_exception(error))

    def poll(self) -> Ended | None:
        return ended(self.future.result()) if self.future.done() else None

    def cancel(self, reason: str) -> None:
        self.future.cancel()  # a thread that runs goes on; its late answer is dropped with this object

    def stopped(self) -> bool:
        """True when the function has returned; a thread cannot be stopped, so its resources stay locked until then."""
        return self.over

    def settled(self) -> bool:
        return True  # it was never told


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


class _OfCoroutine(Stops):
    wakes = True
    lingers = True

    def __init__(self, target: Any, params: dict[str, object], wake: Callable[[], None], loop: Loop | None) -> None:
        self.work = (loop or Loop()).begin(target(**params), wake)
        self.end, self.loop_of = self.work.end, self.work.loop

    def poll(self) -> Ended | None:
        return ended(self.end.result()) if self.end.done() else None

    def cancel(self, reason: str) -> None:
        self.work.cancel()

    def stopped(self) -> bool:
        return self.end.done()
