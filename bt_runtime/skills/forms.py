"""The forms of skills as activities. A function runs in a thread, an async function on an event loop, a generator one
step a tick, a Skill by its own methods. `skills/answer.py` reads what they answer."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache
from typing import Any

from bt_runtime.language.kinds.data import PLAIN
from bt_runtime.skills.activity import BareActivity, Done
from bt_runtime.skills.answer import FAILURE, RUNNING, EndedAnswer, News, ended, standing
from bt_runtime.skills.loop import Loop, Work, as_exception
from bt_runtime.skills.pool import POOL
from bt_runtime.skills.skill import Skill


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
    if isinstance(target, Skill) and "cancel" not in target.__dict__:
        return _lasts(type(target).cancel, own)
    return inspect.iscoroutinefunction(target) or _lasts(getattr(target, "cancel", None), own)


@lru_cache(256)
def _lasts(cancel: object, stopping: object) -> bool:
    return inspect.iscoroutinefunction(cancel) or stopping not in (None, Skill.stopping)


class OfSkill(BareActivity):
    STATE = ("target", "feedback", "value")
    gives = False  # does the tree take any of its outputs
    answer: tuple[object] | BaseException | None = None  # the answer that `quiet` found, until `poll` tells it

    def __init__(
        self, target: Any, params: dict[str, object], wake: Callable[[], None], loop: Loop | None, declared: bool
    ) -> None:
        self.target = target
        self.wake, self.loop = wake, loop
        self.lingers = lingers(target)
        self.stop: Work | None = None  # a running async `cancel`
        self.start(params)

    @property
    def wakes(self) -> bool:
        """True when polling is unnecessary, as for a test double that runs for ever."""
        return getattr(self.target, "wakes", False) is True

    def start(self, params: dict[str, object]) -> None:
        target = self.target
        self.before()
        try:
            target.start(**params)
        except BaseException:
            with suppress(Exception):
                self.cancel("")  # the skill may have begun to move something
            raise

    def before(self) -> None:
        """Notes what was told before a start."""
        value = getattr(self.target, "result", None)
        self.feedback, self.value = "", value if value.__class__ in PLAIN else _seen(value)

    def poll(self) -> EndedAnswer | News | None:
        answer, self.answer = self.answer, None
        if isinstance(answer, BaseException):
            raise answer
        return self.told(self.target.poll() if answer is None else answer[0])

    def quiet(self) -> bool:
        target = self.target
        try:
            answer = target.poll()
        except BaseException as error:
            self.answer = error
            return False
        if answer is RUNNING and getattr(target, "feedback", "") == self.feedback:
            value = getattr(target, "result", None)
            if value is None or value == self.value:
                return True
        self.answer = (answer,)
        return False

    def told(self, status: object) -> EndedAnswer | News | None:
        target = self.target
        if status is RUNNING:
            return self._news()
        end = standing(status)
        value = getattr(target, "result", None)
        if end is FAILURE and value == self.value:
            value = None  # what an earlier start or a RUNNING poll returned
        return EndedAnswer(end, value, getattr(target, "feedback", ""))

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

    def stopped(self, at_end: bool = False) -> bool:
        if self.stop is not None:
            return self.stop.end.done()
        stopping = getattr(self.target, "stopping", None)
        try:
            return stopping is None or not stopping()
        except BaseException as error:
            if not at_end:
                raise
            from bt_runtime.skills.crash import crash_of

            crash_of(error)
            return False  # the end of a run waits for the others, and names this one


def _seen(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


class _OfGenerator(BareActivity):
    """Runs a generator skill. A step may yield text to show, or a mapping of outputs, and receives the inputs that
    it follows."""

    wakes = False

    def __init__(
        self, target: Any, params: dict[str, object], wake: Callable[[], None], loop: Loop | None, declared: bool
    ) -> None:
        self.generator: Generator[object, object, object] = target(**params)
        self.declared = declared
        self.begun, self.said = False, ""  # the text yielded last is its feedback, as of an object
        self.values: dict[str, object] | None = None

    def poll(self) -> EndedAnswer | News | None:
        values = None
        if self.begun:  # the first step of a generator takes no value
            values, self.values = self.values, None
        self.begun = True
        try:
            said = self.generator.send(values)
        except StopIteration as stop:
            done = ended(stop.value, self.declared)
            return done._replace(feedback=self.said) if isinstance(done.value, bool | None) else done
        if isinstance(said, str):
            self.said = said
            return News(None, said)
        return News(said) if isinstance(said, Mapping) else None

    def follow(self, values: dict[str, object]) -> None:
        self.values = values

    def cancel(self, reason: str) -> None:
        self.generator.close()


class InThread(BareActivity):
    """A plain function in a thread, so that one that never returns blocks nobody. Functions that share a `turn` run
    one at a time (a world takes one action after another)."""

    wakes = in_thread = True
    future: Any = None  # made at the start

    def __init__(
        self, target: Callable[..., object], params: dict[str, object], wake: Callable[[], None],
        loop: Loop | None = None, declared: bool = False, turn: threading.Lock | None = None,
    ) -> None:  # fmt: skip
        self.target, self.params, self.wake, self.turn = target, params, wake, turn
        self.declared = declared
        self.future = Future()  # a journal hears of what comes too late
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

    def poll(self) -> EndedAnswer | None:
        return ended(self.future.result(), self.declared) if self.future.done() else None

    def quiet(self) -> bool:
        return not self.future.done()

    def cancel(self, reason: str) -> None:
        self.future.cancel()  # a thread that runs goes on; its late answer is dropped with this object

    def stopped(self, at_end: bool = False) -> bool:
        """True when the function has returned: until then its resources stay locked. The end does not wait for what
        cannot be stopped."""
        return at_end or self.over


class _OfCoroutine(BareActivity):
    wakes = lingers = True

    def __init__(
        self, target: Any, params: dict[str, object], wake: Callable[[], None], loop: Loop | None, declared: bool
    ) -> None:
        self.work = (loop or Loop()).begin(target(**params), wake)
        self.end, self.loop_of = self.work.end, self.work.loop
        self.declared = declared

    def poll(self) -> EndedAnswer | None:
        return ended(self.end.result(), self.declared) if self.end.done() else None

    def quiet(self) -> bool:
        return not self.end.done()

    def cancel(self, reason: str) -> None:
        self.work.cancel()

    def stopped(self, at_end: bool = False) -> bool:
        return self.end.done()


def instantly(
    target: Callable[..., object], params: dict[str, object], wake: object, loop: object, declared: bool
) -> Done:
    """Calls an instant skill within the tick."""
    return Done(ended(target(**params), declared))
