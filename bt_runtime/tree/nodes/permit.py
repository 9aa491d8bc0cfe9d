"""May this skill be started? So often in one run, and, where a person is to be asked first, when they say yes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_runtime.skills.activity import Activity, Ended, News, Stops
from bt_runtime.types import Observation

if TYPE_CHECKING:
    from bt_runtime.language.manifest import Entry
    from bt_runtime.tree.context import Context

YES = frozenset({"y", "yes", "ok", "allow", "true"})
NOBODY = "Nobody is there to allow it."


def limited(entry: Entry) -> bool:
    """Is each start looked at? Then none may take a shorter way."""
    return entry.acting.confirm or entry.acting.at_most is not None


def left(context: Context, entry: Entry) -> bool:
    """May it be started once more in this run?"""
    most = entry.acting.at_most
    return most is None or _starts(context)[_key(entry)] < most


def permitted(context: Context, entry: Entry | None, sentence: str, start: Callable[[], Activity]) -> Activity:
    """Starts it, now or when a person has said yes; otherwise an action that has failed, and says why."""
    if entry is None or not limited(entry):
        return start()
    if not left(context, entry):
        return Refused(f"It may be done {_times(entry.acting.at_most)} in one run, and was.")
    if entry.acting.confirm:
        person = context.services.person
        return Asked(context, entry, sentence, start, person) if person is not None else Refused(NOBODY)
    return _begun(context, entry, start)


class Refused(Stops):
    """What was not begun has failed."""

    wakes = True

    def __init__(self, why: str) -> None:
        self.why = why

    def poll(self) -> Ended | None:
        return Ended(Status.FAILURE, Observation(self.why, False, self.why), self.why)

    def cancel(self, reason: str) -> None:
        pass


class Asked(Stops):
    """A person is asked; then it is the skill's own activity."""

    def __init__(
        self, context: Context, entry: Entry, sentence: str, start: Callable[[], Activity], person: Any
    ) -> None:
        self.context, self.entry, self.start = context, entry, start
        self.question: Any = person.ask(f"May I {sentence}? (yes or no)")
        self.until = context.clock.now() + entry.acting.patience
        self.inner: Activity | None = None
        self.wakes = False  # not everybody who is asked can

    def poll(self) -> Ended | News | None:
        if self.inner is None:
            answer = self.question.poll()
            if answer is None and self.context.clock.now() < self.until:
                self.context.wake_at(self.until)
                return None
            self.inner = self.answered(str(answer)) if answer is not None else self.unanswered()
            self.wakes = self.inner.wakes
        return self.inner.poll()

    def unanswered(self) -> Activity:
        why = f"A person was asked, and did not answer within {self.entry.acting.patience:g} seconds."
        self.question.cancel(why)
        return Refused(why)

    def answered(self, answer: str) -> Activity:
        said = " ".join(answer.split())
        if said.casefold().partition(" ")[0].strip(".,!;") in YES:
            return _begun(self.context, self.entry, self.start)
        return Refused(f"A person was asked, and said: {said}" if said else "A person was asked, and did not allow it.")

    def cancel(self, reason: str) -> None:
        (self.inner or self.question).cancel(reason)


def _begun(context: Context, entry: Entry, start: Callable[[], Activity]) -> Activity:
    _starts(context)[_key(entry)] += 1
    return start()


def _starts(context: Context) -> Counter[tuple[str, str]]:
    """Of the run, whoever started it."""
    return context.whole.services.starts


def _key(entry: Entry) -> tuple[str, str]:
    return entry.impl, entry.sentence


def _times(count: int | None) -> str:
    return {1: "once", 2: "twice"}.get(count or 0, f"{count} times")
