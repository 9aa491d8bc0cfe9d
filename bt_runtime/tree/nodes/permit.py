"""Permits skill starts: limits their number in a run, and asks a person first where required."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from py_trees.common import Status

from bt_runtime.skills.activity import Activity, Ended, News, Stops
from bt_runtime.types import Json, Observation

if TYPE_CHECKING:
    from bt_runtime.language.entry import Entry
    from bt_runtime.tree.context import Context

YES = frozenset({"y", "yes", "ok", "allow", "true"})
NOBODY = "Nobody is there to allow it."


class Enforcer(Protocol):
    """Holds a run to its policies. `by` is the node that starts an action, or the agent that chose it."""

    def refusal(self, by: object, entry: Entry | None, sentence: str) -> str:
        """Returns why the action may not start; "" when it may. From then on `by` has heard what the action gives."""

    def question(self, by: object, entry: Entry | None, sentence: str, params: Mapping[str, Json] | None) -> str:
        """Returns the question to a person, with the sources of the decision and of each value."""

    def offers(self, agent: object, name: str, sentence: str) -> bool:
        """True when the agent may choose the skill, or the world's sentence, now."""

    def objection(self, agent: object) -> str:
        """Returns why the agent may not grow a plan now; "" when it may."""

    def recalled(self, agent: object, labels: Iterable[str]) -> None:
        """Tells that an agent was shown experiences, each with the labels that it was written with, or ""."""

    def labels(self, agent: object) -> str:
        """Returns the labels of an agent's story, for its memory: `author,world`."""

    def heard(self, agent: object, labels: Iterable[str]) -> None:
        """Tells that an agent has read something with these labels."""


def limited(entry: Entry) -> bool:
    """True when each start is checked, which disables the fast path."""
    return entry.agent_options.confirm or entry.agent_options.at_most is not None


def allows(answer: str) -> bool:
    return answer.casefold().partition(" ")[0].strip(".,!;") in YES


def left(context: Context, entry: Entry) -> bool:
    """True when the skill may be started again in this run."""
    most = entry.agent_options.at_most
    return most is None or _starts(context)[_key(entry)] < most


def permitted(
    context: Context, entry: Entry | None, sentence: str, start: Callable[[], Activity], by: object = None,
    params: Mapping[str, Json] | None = None,
) -> Activity:  # fmt: skip
    """Starts the action now or after a person's consent; else returns a failed action with the reason."""
    policy: Enforcer | None = context.services.policy
    why = policy.refusal(by, entry, sentence) if policy is not None else ""
    if why:
        return NotPermitted(why)
    if entry is None or not limited(entry):
        return start()
    if not left(context, entry):
        return NotPermitted(f"It may be done {_times(entry.agent_options.at_most)} in one run, and was.")
    if entry.agent_options.confirm:
        person = context.services.person
        if person is None:
            return NotPermitted(NOBODY)
        asked = f"May I {sentence}? (yes or no)" if policy is None else policy.question(by, entry, sentence, params)
        return AsksPerson(context, entry, asked, start, person)
    return _begun(context, entry, start)


class NotPermitted(Stops):
    """Fails at once, because the start is not permitted."""

    wakes = True

    def __init__(self, why: str) -> None:
        self.why = why

    def poll(self) -> Ended | None:
        return Ended(Status.FAILURE, Observation(self.why, False, self.why), self.why)

    def cancel(self, reason: str) -> None:
        pass


class AsksPerson(Stops):
    """Asks a person first; then acts as the skill's own activity."""

    def __init__(
        self, context: Context, entry: Entry, question: str, start: Callable[[], Activity], person: Any
    ) -> None:
        self.context, self.entry, self.start = context, entry, start
        self.question: Any = getattr(person, "confirm", person.ask)(question)
        self.until = context.clock.now() + entry.agent_options.patience
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
        why = f"A person was asked, and did not answer within {self.entry.agent_options.patience:g} seconds."
        self.question.cancel(why)
        return NotPermitted(why)

    def answered(self, answer: str) -> Activity:
        said = " ".join(answer.split())
        if allows(said):
            return _begun(self.context, self.entry, self.start)
        return NotPermitted(
            f"A person was asked, and said: {said}" if said else "A person was asked, and did not allow it."
        )

    def cancel(self, reason: str) -> None:
        (self.inner or self.question).cancel(reason)


def _begun(context: Context, entry: Entry, start: Callable[[], Activity]) -> Activity:
    _starts(context)[_key(entry)] += 1
    return start()


def _starts(context: Context) -> Counter[tuple[str, str]]:
    """Returns the whole run's counts of starts."""
    return context.whole.services.starts


def _key(entry: Entry) -> tuple[str, str]:
    return entry.impl, entry.sentence


def _times(count: int | None) -> str:
    return {1: "once", 2: "twice"}.get(count or 0, f"{count} times")
