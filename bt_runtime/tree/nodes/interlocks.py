"""What stands before the start of a skill, in one order: notice, requirement, locks, inputs,
policy, permission, gates.

Every way to start a skill meets all of `ORDER`: a node, an agent's choice, an action of the world; whatever form the
skill has. What stands before a skill while it runs is a `Wrapping`, so that nothing passes it by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from bt_runtime.events import SkillEnded
from bt_runtime.language.faults.diagnostic import BtError, message_of
from bt_runtime.language.sentence import Sentence
from bt_runtime.skills.activity import Activity, Pending, Wrapping, refused
from bt_runtime.skills.answer import EndedAnswer, News
from bt_runtime.skills.forms import lingers
from bt_runtime.skills.resources import Hold
from bt_runtime.tree.action import Action
from bt_runtime.tree.gates import Start

if TYPE_CHECKING:
    from bt_runtime.language.entry import SkillEntry
    from bt_runtime.tree.context import Context

YES = frozenset({"y", "yes", "ok", "allow", "true"})
NOBODY = "Nobody is there to allow it."


def started(action: Action, start: Start) -> Activity:
    """Starts an action behind all that stands before it; `start` starts the skill itself."""
    for interlock in reversed(ORDER):
        start = partial(interlock, action, start)
    return start()


def guarded(context: Context, entry: SkillEntry, target: object, by: Any) -> bool:
    """True when locks, policies or permission stand before this skill of a node."""
    return (
        bool(entry.uses)
        or entry.requires is not None
        or limited(entry)
        or lingers(target)
        or _enforced(context, entry, by)
    )


# Notice ----------------------------------------------------------------------------------------


def notice(action: Action, start: Start) -> Activity:
    return Noticed(action, start()) if action.context.stream.wanted(SkillEnded) else start()


class Noticed(Wrapping):
    """Reports the end of an action to listeners."""

    def __init__(self, action: Action, inner: Activity) -> None:
        self.action, self.inner = action, inner

    def quiet(self) -> bool:
        return self.inner.quiet()

    def poll(self) -> EndedAnswer | News | None:
        done = self.inner.poll()
        if isinstance(done, EndedAnswer):
            self.action.context.emit(SkillEnded(self.action.sentence, done.status, done.value, done.feedback))
        return done


# Requirement -----------------------------------------------------------------------------------


def requirement(action: Action, start: Start) -> Activity:
    """Refuses the start of a skill whose `requires` does not hold, and halts the skill when it turns false.

    Stands before the locks, so that a halted skill keeps what it uses until it has stopped."""
    entry = action.entry
    if entry is None or entry.requires is None:
        return start()
    why = unmet(action.context, entry)
    if why:
        if action.fill is not None:
            action.fill(action)  # the end is reported with the sentence of this start
        return refused(why)
    return Required(action, entry, start())


def unmet(context: Context, entry: SkillEntry) -> str:
    """Returns why the skill's `requires` does not hold now; "" when it does. A condition that cannot be computed does
    not hold. Its names are entries of the run's outermost tree: no included tree and no graft can stand in for them."""
    if entry.requires is None:
        return ""
    try:
        holds = entry.requires.evaluate(context.blackboard.root)
    except BtError as error:
        return f"It requires `{entry.requires.text}`, which cannot be told: {error.message}."
    return "" if holds is True else f"It requires `{entry.requires.text}`, which does not hold."


class Required(Wrapping):
    """Asks before each poll whether the requirement holds; also while the skill waits for a lock or for a person."""

    wakes = False  # the entries may change without a word: it is polled again soon

    def __init__(self, action: Action, entry: SkillEntry, inner: Activity) -> None:
        self.action, self.entry, self.inner = action, entry, inner

    def quiet(self) -> bool:
        return not unmet(self.action.context, self.entry) and self.inner.quiet()

    def poll(self) -> EndedAnswer | News | None:
        why = unmet(self.action.context, self.entry)
        if not why:
            return self.inner.poll()
        self.inner.cancel(why)
        return refused(why).done


# Locks -----------------------------------------------------------------------------------------


def lock(action: Action, start: Start) -> Activity:
    """Locks what the skill `uses`, and a skill that takes its time to stop against its own next start."""
    uses: tuple[object, ...] = action.entry.uses if action.entry is not None else ()
    own = (id(action.target if hasattr(action.target, "poll") else action.by),) if lingers(action.target) else ()
    return Locked(action, start, uses, own) if uses or own else start()


class Locked(Wrapping):
    """Starts once everything is free, and keeps what it uses until its end; after a cancel until it has stopped."""

    STATE = ("hold", "over")

    def __init__(self, action: Action, start: Start, uses: tuple[Any, ...], own: tuple[Any, ...]) -> None:
        self.action, self.start, self.uses, self.own = action, start, uses, own
        self.inner = Pending()
        self.hold: Hold | None = None
        self.over = False

    def quiet(self) -> bool:
        return self.inner.quiet()

    def poll(self) -> EndedAnswer | News | None:
        locks = self.action.context.resources
        if self.pending:
            try:
                blocker = locks.blocker((*self.uses, *self.own))
            except BaseException as error:  # of the other skill's `stopping`: it may still move
                from bt_runtime.skills.crash import crash_of

                return News(None, f"waits for a skill whose `stopping` raises: {message_of(crash_of(error))}")
            if blocker is not None:
                return News(None, f"waits until this is over: {blocker.sentence}")
            self.begin(self.start())
            self.hold = locks.take(self.uses, self.action.sentence) if self.uses else None
        try:
            done = self.inner.poll()
        except BaseException:
            if not self.lingers:
                self._leave()
            raise
        if isinstance(done, EndedAnswer):
            self.over = True
            self._leave()
        return done

    def _leave(self) -> None:
        hold, self.hold = self.hold, None
        if hold is not None:
            self.action.context.resources.leave(hold)

    def cancel(self, reason: str) -> None:
        if not self.over and (self.lingers or (self.hold is not None and self.in_thread)):
            # on record first: whatever cancelling breaks, its things are not free
            hold = self.hold or Hold(self.own, self.action.sentence)
            self.action.context.resources.stopping(hold, self.inner)
        else:
            self._leave()
        self.over = True
        self.inner.cancel(reason)


def held(activity: Activity | None) -> Hold | None:
    """Returns what a started action has locked."""
    while isinstance(activity, Wrapping):
        if isinstance(activity, Locked):
            return activity.hold
        activity = activity.inner
    return None


# Inputs ----------------------------------------------------------------------------------------


def inputs(action: Action, start: Start) -> Activity:
    """Fills in the inputs of the moment, after the locks: a skill that had to wait starts with what holds then."""
    if action.fill is not None:
        action.fill(action)
    return start()


# Policy ----------------------------------------------------------------------------------------


def policy(action: Action, start: Start) -> Activity:
    """Asks the run's policies. A condition in a tree only looks; one that an agent chose is asked for as well."""
    entry = action.entry
    if not _enforced(action.context, entry, action.by):
        return start()
    enforcer = action.context.services.policy
    why = enforcer.refusal(action.by, entry, action.sentence)
    if why:
        return refused(why)
    return Policed(action, entry, enforcer, start()) if entry is not None and entry.follow else start()


def _enforced(context: Context, entry: SkillEntry | None, by: Any) -> bool:
    looks = entry is not None and entry.test and not getattr(by, "chosen", False)
    return context.services.policy is not None and not looks


class Policed(Wrapping):
    """Asks the policies before each change that a running skill follows. A refused one leaves it what it has."""

    def __init__(self, action: Action, entry: SkillEntry, enforcer: Any, inner: Activity) -> None:
        self.action, self.entry, self.enforcer, self.inner = action, entry, enforcer, inner

    def follow(self, values: dict[str, object]) -> None:
        sentence = Sentence(self.entry.sentence).say({**(self.action.params or {}), **values})
        if not self.enforcer.refusal(self.action.by, self.entry, sentence):
            self.inner.follow(values)


# Permission ------------------------------------------------------------------------------------


def permission(action: Action, start: Start) -> Activity:
    """Bounds the starts of a skill in a run, and asks a person first where the skill demands it."""
    entry, context = action.entry, action.context
    if entry is None or not limited(entry):
        return start()
    if not _remains(context, entry):
        return _spent(entry)
    if not entry.agent_options.confirm:
        return _counted(action, entry, start)
    if context.services.person is None:
        return refused(NOBODY)
    return AsksPerson(action, entry, partial(_counted, action, entry, start))


def limited(entry: SkillEntry) -> bool:
    """True when each start is checked, which disables the fast path."""
    return entry.agent_options.confirm or entry.agent_options.at_most is not None


def allows(answer: str) -> bool:
    return answer.casefold().partition(" ")[0].strip(".,!;") in YES


def left(context: Context, entry: SkillEntry) -> bool:
    """True when the skill may be started now: its `requires` holds, and `at_most` is not reached."""
    return not unmet(context, entry) and _remains(context, entry)


def _remains(context: Context, entry: SkillEntry) -> bool:
    most = entry.agent_options.at_most
    return most is None or _starts(context)[_key(entry)] < most


class AsksPerson(Wrapping):
    """Asks a person first; then it is what was asked for."""

    STATE = ("question", "until")

    def __init__(self, action: Action, entry: SkillEntry, start: Start) -> None:
        self.context, self.entry, self.start = action.context, entry, start
        services, asked = self.context.services, f"May I {action.sentence}? (yes or no)"
        if services.policy is not None:
            asked = services.policy.question(action.by, entry, action.sentence, action.params)
        person: Any = services.person
        self.question: Any = getattr(person, "confirm", person.ask)(asked)
        self.until = self.context.clock.now() + entry.agent_options.patience
        self.inner = Pending()

    def poll(self) -> EndedAnswer | News | None:
        if self.pending:
            answer = self.question.poll()
            if answer is None and self.context.clock.now() < self.until:
                self.context.wake_at(self.until)
                return None
            self.begin(self.answered(str(answer)) if answer is not None else self.unanswered())
        return self.inner.poll()

    def unanswered(self) -> Activity:
        why = f"A person was asked, and did not answer within {self.entry.agent_options.patience:g} seconds."
        self.question.cancel(why)
        return refused(why)

    def answered(self, answer: str) -> Activity:
        said = " ".join(answer.split())
        if allows(said):
            return self.start()
        return refused(f"A person was asked, and said: {said}" if said else "A person was asked, and did not allow it.")

    def cancel(self, reason: str) -> None:
        (self.question if self.pending else self.inner).cancel(reason)


def _counted(action: Action, entry: SkillEntry, start: Start) -> Activity:
    """Counts the start where it is allowed: while a person was asked, others may have used up the rest."""
    if not _remains(action.context, entry):
        return _spent(entry)
    _starts(action.context)[_key(entry)] += 1
    return start()


def _spent(entry: SkillEntry) -> Activity:
    return refused(f"It may be done {_times(entry.agent_options.at_most)} in one run, and was.")


def _starts(context: Context) -> Counter[tuple[str, str]]:
    """Returns the whole run's counts of starts."""
    return context.whole.services.starts


def _key(entry: SkillEntry) -> tuple[str, str]:
    return entry.impl, entry.sentence


def _times(count: int | None) -> str:
    return {1: "once", 2: "twice"}.get(count or 0, f"{count} times")


# ---------------------------------------------------------------------------------------------


def gates(action: Action, start: Start) -> Activity:
    """Asks the journal, leases of a fleet and the gates of programs, in the order in which they came."""
    started: Activity = action.context.gates.started(action, start)
    return started


ORDER: tuple[Callable[[Action, Start], Activity], ...] = (notice, requirement, lock, inputs, policy, permission, gates)
