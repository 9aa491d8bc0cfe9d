"""A running skill: started once, polled by the tick, cancelled when the tree moves on. No call blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from bt_runtime.skills.answer import FAILURE, EndedAnswer, News
from bt_runtime.types import Observation

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future


class Activity(ABC):
    """A started skill, polled at each tick until it has ended or was cancelled.

    Nothing has a default: what does a skill's work is a `BareActivity`, what stands before a skill is a `Wrapping`."""

    STATE: ClassVar[tuple[str, ...] | None] = None  # attributes that a poll leaves; None: unknown

    @property
    @abstractmethod
    def wakes(self) -> bool:
        """True when the activity reports its end by itself; otherwise it is polled at each tick."""

    @property
    @abstractmethod
    def lingers(self) -> bool:
        """True when it may take its time to stop."""

    @property
    @abstractmethod
    def in_thread(self) -> bool:
        """True when nothing can stop it."""

    @property
    @abstractmethod
    def loop_of(self) -> asyncio.AbstractEventLoop | None:
        """Returns the event loop on which it stops; None when it needs none."""

    @property
    @abstractmethod
    def future(self) -> Future[object] | None:
        """Returns the future whose result may come after a cancel; None when nothing comes then."""

    @abstractmethod
    def poll(self) -> EndedAnswer | News | None: ...

    @abstractmethod
    def quiet(self) -> bool:
        """Polls quickly: True when it runs on with nothing to tell. After False, `poll` answers in the same tick."""

    @abstractmethod
    def follow(self, values: dict[str, object]) -> None:
        """Passes on the present values of the inputs that it follows."""

    @abstractmethod
    def cancel(self, reason: str) -> None: ...

    @abstractmethod
    def stopped(self, at_end: bool = False) -> bool:
        """True when it has stopped after `cancel`; `at_end`: when the end of a run need not wait for it."""


class Wrapping(Activity):
    """Stands before an activity and passes everything on; a subclass overrides what it changes. Until `begin`, `inner`
    is a `Pending`."""

    STATE: ClassVar[tuple[str, ...]] = ("inner",)
    inner: Activity

    @property
    def wakes(self) -> bool:
        return self.inner.wakes

    @property
    def lingers(self) -> bool:
        return self.inner.lingers

    @property
    def in_thread(self) -> bool:
        return self.inner.in_thread

    @property
    def loop_of(self) -> asyncio.AbstractEventLoop | None:
        return self.inner.loop_of

    @property
    def future(self) -> Future[object] | None:
        return self.inner.future

    @property
    def pending(self) -> bool:
        return isinstance(self.inner, Pending)

    def begin(self, inner: Activity) -> None:
        """Takes the activity that has begun, which first hears what changed while it was waited for."""
        waited, self.inner = self.inner, inner
        if isinstance(waited, Pending) and waited.values is not None:
            inner.follow(waited.values)

    def poll(self) -> EndedAnswer | News | None:
        return self.inner.poll()

    def quiet(self) -> bool:
        """False where the subclass polls in its own way: it says itself when that is nothing but passing on."""
        return type(self).poll is Wrapping.poll and self.inner.quiet()

    def follow(self, values: dict[str, object]) -> None:
        self.inner.follow(values)

    def cancel(self, reason: str) -> None:
        self.inner.cancel(reason)

    def stopped(self, at_end: bool = False) -> bool:
        return self.inner.stopped(at_end)


class BareActivity(Activity):
    """The base of activities that wrap no other one. A form of a skill overrides what differs."""

    lingers = in_thread = False
    loop_of: asyncio.AbstractEventLoop | None = None
    future: Future[object] | None = None

    def quiet(self) -> bool:
        return False

    def follow(self, values: dict[str, object]) -> None:
        """No-op: what has been started takes no other inputs."""

    def stopped(self, at_end: bool = False) -> bool:
        return True


class Done(BareActivity):
    """An action that had ended when it was requested."""

    STATE = ("done",)
    wakes = True

    def __init__(self, done: EndedAnswer | None) -> None:
        self.done = done

    def poll(self) -> EndedAnswer | None:
        return self.done

    def cancel(self, reason: str) -> None:
        """No-op: nothing is at work."""


class Pending(Done):
    """An action that has not begun. It keeps the latest inputs for the one that takes its place."""

    STATE = ("values",)
    wakes = False
    values: dict[str, object] | None = None

    def __init__(self) -> None:
        super().__init__(None)

    def follow(self, values: dict[str, object]) -> None:
        self.values = values


def refused(why: str) -> Done:
    """Fails at once: the start is not permitted."""
    return Done(EndedAnswer(FAILURE, Observation(why, False, why), why))
