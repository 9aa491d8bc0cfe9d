"""The recording wrappers of clock, person, world and jobs: every answer from outside goes through the tape."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bt_runtime.journal import codec
from bt_runtime.journal.parts import Taping
from bt_runtime.journal.tape import Tape, failure, result_of
from bt_runtime.tree.clock import behind
from bt_runtime.types import Doing, Instant, Job, Json, JsonValue, Lasting, Observation

if TYPE_CHECKING:
    from bt_runtime.tree.clock import Alarm, RunClock
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.services import Actor, PersonService

T = TypeVar("T")
_NEVER = {"act", "close"}  # methods that `has` never calls
CHANGING = frozenset({"restore", "reset", "act_as"})  # calls that change a world, besides `act`


class TapedClock:
    """A clock that stands still within a tick, so that one recorded number per tick suffices. The time between two
    processes does not count."""

    def __init__(self, tape: Tape, inner: RunClock, context: Context) -> None:
        self.tape, self.inner, self.context = tape, inner, context
        self.frozen: float | None = None  # the time of this tick, once somebody has asked
        self.time = 0.0
        self.ahead = 0.0  # seconds: the sum of the inner clock's jumps back
        self.gap = not tape.live

    def now(self) -> float:
        if self.frozen is not None:
            return self.frozen
        tape = self.tape
        if not self.context.ticking:
            return self.read() if tape.live else self.time
        if tape.writer is not None and not tape.events and not tape.broken:  # most often: be quick
            self.time = self.read() if self.gap else self.inner.now() + self.ahead
            tape.writer.clock(tape.tick(), self.time)
        else:
            self.time = float(tape.call("clock", {}, self.read))
        self.frozen = self.time
        return self.time

    def read(self) -> float:
        """Returns the time; after the recorded part it continues from the recorded time."""
        if self.gap:
            self.gap, self.ahead = False, self.time - self.inner.now()
        return self.inner.now() + self.ahead

    def go_on_from(self, time: float) -> None:
        """Sets the time of a run that begins in a state of its journal."""
        self.time, self.gap, self.ahead = time, True, 0.0

    def go_on(self) -> None:
        """Begins the time of the run that was led back: from here on it passes, also before the next tick."""
        if self.gap and self.tape.live:
            self.read()

    def wait(self, woken: Alarm, until: float) -> None:
        self.inner.wait(woken, behind(until, self.ahead))


class TapedJob(Job[T]):
    """A job with a recorded answer. An unanswered job is asked again when the run resumes."""

    wakes = True

    def __init__(
        self, tape: Taping, names: tuple[str, str], about: Mapping[str, JsonValue], texts: dict[str, str],
        ask: Callable[[], Job[T]], read: Callable[[Json], T], keep: Callable[[T], JsonValue] = codec.plain,
    ) -> None:  # fmt: skip
        self.tape, self.answers, self.ask, self.read, self.keep = tape, names[1], ask, read, keep
        self.number = tape.next_number()
        self.job: Job[T] | None = None
        self.since = time.perf_counter()
        self.dead = tape.broken
        if not self.dead and tape.take(names[0], {"job": self.number, **about, **texts}) is None:
            tape.put(names[0], {"job": self.number, **about}, texts)
            self.start()
        elif not self.dead:
            tape.called(self.number, "ask")

    def start(self) -> Job[T]:
        try:
            self.job = job = self.tape.calling(self.number, "ask", self.ask)
            return job
        except Exception as error:
            self.failed(error)
            raise

    def poll(self) -> T | None:
        job = self.job
        if job is None:
            self.tape.called(self.number, "poll")
            body = self.tape.answer(self.answers, self.number)
            if body is not None:
                return self.read(result_of(body))
            if self.dead or not self.tape.goes_on:
                return None
            self.since = time.perf_counter()
            job = self.start()
        try:
            answer = self.tape.calling(self.number, "poll", job.poll)
        except Exception as error:
            self.failed(error)
            raise
        if answer is None:
            return None
        kept = {"value": self.keep(answer), "seconds": round(time.perf_counter() - self.since, 6)}
        self.tape.put(self.answers, {"job": self.number, **kept})
        self.tape.boundary()
        return answer

    def failed(self, error: Exception) -> None:
        self.tape.put(self.answers, {"job": self.number, **failure(error)})

    def cancel(self, reason: str) -> None:
        if self.job is not None:
            self.tape.calling(self.number, "cancel", self.job.cancel, reason)
        else:
            self.tape.called(self.number, "cancel")


class TapedPerson:
    def __init__(self, tape: Taping, inner: PersonService | None) -> None:
        self.tape, self.inner = tape, inner

    @property
    def live(self) -> PersonService:
        """The person, behind the recorded part."""
        assert self.inner is not None, "a replay asks nobody"
        return self.inner

    def ask(self, question: str) -> TapedJob[str]:
        return self._asked(question, lambda: self.live.ask(question))

    def confirm(self, question: str) -> TapedJob[str]:
        return self._asked(question, lambda: getattr(self.live, "confirm", self.live.ask)(question))

    def _asked(self, question: str, ask: Callable[[], Job[str]]) -> TapedJob[str]:
        return _Question(self.tape, ("question", "reply"), {"question": question}, {}, ask, lambda a: a)


class _Question(TapedJob[str]):
    open = True

    def poll(self) -> str | None:
        answer = super().poll()
        self.open = self.open and answer is None
        return answer

    def cancel(self, reason: str) -> None:
        """Notes that the question was withdrawn, so that a list of runs no longer says that somebody is asked."""
        super().cancel(reason)
        if self.open:
            self.open = False
            self.tape.note("withdrawn", {"job": self.number})


class TapedWorld:
    """`has`: the methods that the world has. Without a world (`inner` None) only recorded answers are given."""

    def __init__(
        self, tape: Taping, inner: Actor | None, has: Sequence[str], instant: bool, lasting: bool, label: str = "world"
    ) -> None:
        for name in map(str, has):  # attributes, so that `isinstance` sees what it is able to do
            if not name.startswith("_") and not hasattr(TapedWorld, name):
                vars(self)[name] = partial(self._call, name)
        self.tape, self.inner = tape, inner
        self.instant, self.lasting, self.label = instant, lasting, label

    def act(self, sentence: str) -> Observation:
        """Acts directly: the caller records the action's start and end."""
        assert self.inner is not None, "a replay acts in no world"
        return self.inner.act(sentence)

    def skill(self, name: str, clock: RunClock) -> object:
        """One of the world's own skills, recorded likewise; without a world it does nothing. The clock that it reads is
        not recorded."""
        if self.inner is None:
            return _nothing
        return self.inner.skill(name, getattr(clock, "inner", clock)) if isinstance(self.inner, Doing) else None

    def _call(self, name: str, *args: object, **named: object) -> object:
        key = {"call": name, "args": codec.plain([*args, named] if named else list(args))}

        def make() -> object:
            return getattr(self.inner, name)(*args, **named)

        again = name in CHANGING and self.inner is not None and not self.lasting
        return self.tape.call("world", key, make, make if again else None)


def _nothing(**params: object) -> None:
    """In place of a skill of a world that is not there."""


def described(world: object) -> dict[str, Json]:
    """Returns the facts that allow replaying a world without it."""
    instant, lasting = isinstance(world, Instant) and world.instant, isinstance(world, Lasting) and world.lasting
    label = getattr(world, "label", "world")
    return {"has": callable_names(world), "instant": bool(instant), "lasting": bool(lasting), "label": str(label)}


def callable_names(world: object) -> list[str]:
    """Lists the names of a world that `has` may call."""
    return [n for n in dir(world) if not n.startswith("_") and n not in _NEVER and callable(getattr(world, n, None))]
