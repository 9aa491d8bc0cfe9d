"""Records actions: an action with a start and no end is in doubt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Self

from py_trees.common import Status

from bt_runtime.journal import codec
from bt_runtime.journal.order import WORLD, Caller
from bt_runtime.journal.store import Ticket
from bt_runtime.journal.tape import Difference, Tape, failure, result_of
from bt_runtime.journal.taped import TapedWorld
from bt_runtime.language.entry import SkillEntry
from bt_runtime.language.faults.diagnostic import message_of
from bt_runtime.language.sentence import Sentence
from bt_runtime.skills.activity import Pending, Wrapping
from bt_runtime.skills.answer import EndedAnswer, News
from bt_runtime.skills.crash import crash_of
from bt_runtime.skills.forms import OfSkill, form_of, lingers
from bt_runtime.types import Json, Knowing, Observation

if TYPE_CHECKING:
    from concurrent.futures import Future

    from bt_runtime.tree.action import Action
    from bt_runtime.tree.gates import Start


HEARD = 0.25  # seconds between two sentences of a running skill that are written down


class TapedActivity(Wrapping):
    """Records an action before it starts, on the disk if its effect outlives this process and must not be repeated."""

    wakes = lingers = in_thread = False
    ticket: Ticket | None = None  # what must be on the disk before the action goes on
    end: EndedAnswer | Exception | None = None  # the end, while it is held back
    before: bool | None = None  # whether what it brings about was so before
    gone = False  # the action has stopped
    heard, unheard = 0.0, ""  # time of the latest news; feedback not passed on since
    recorded = False  # its beginning was read from the tape
    asks: Caller | None = None  # the caller of its polls; None until it has started, and while it has something to tell

    def __init__(self, tape: Tape, start: Start, action: Action, entry: SkillEntry | None) -> None:
        self.tape, self.context, self.start, self.entry = tape, action.context, start, entry
        self.sentence, self.params = action.sentence, action.params
        self.target = target = action.target
        self.number = tape.next_number()
        self.inner = Pending()
        self.dead = tape.broken
        form = form_of(target)
        self.wakes = form is not OfSkill and bool(form.wakes)  # a run that is made again takes what was recorded
        self.lingers, self.in_thread = lingers(target), form.in_thread
        world = target if isinstance(target, TapedWorld) else None
        self.world = world
        self.lasting = world is None or world.lasting  # do its effects outlive this process
        if not self.dead:
            self._begin()

    @classmethod
    def again(cls, tape: Tape, start: Start, action: Action, entry: SkillEntry | None, kept: dict[str, Json]) -> Self:
        """Returns the action as a run that is made again has it between its beginning and what came next; `kept`: what
        the journal's state says of it."""
        broken, tape.broken = tape.broken, True  # on the tape the beginning stands far behind
        try:
            found = cls(tape, start, action, entry)
        finally:
            tape.broken = broken
        found.dead, found.recorded = False, True
        for name in ("number", "before", "wakes", "lingers", "in_thread"):
            setattr(found, name, kept[name])
        return found

    # Beginning -------------------------------------------------------------------------------

    def _begin(self) -> None:
        found = self.tape.take("begin", {"job": self.number, "sentence": self.sentence})
        if found is not None:
            self.recorded, self.before, self.wakes = True, found.get("before"), found["wakes"]
            self.lingers, self.in_thread = bool(found.get("lingers")), bool(found.get("in_thread"))
            self.tape.called(self.number, "start")
            failed = self.tape.answer("done", self.number) if self._failed_at_start() else None
            if failed is not None:
                result_of(failed)
            return
        policy = self.entry.on_resume if self.entry is not None else "fail"
        careful, broken = self.lasting and policy != "repeat", None
        if careful and policy == "verify" and self.entry is not None:
            try:
                self.before = self._holds()
            except Exception as error:
                broken = error  # noted behind the beginning, as what `start` raises
            if self.before and self.tape.may_be_done(self.sentence):  # then it is settled like an action in doubt
                self.recorded, self.before = True, self.tape.was_begun(self.sentence)
        about = {"on_resume": policy, "before": self.before, "wakes": self.wakes}
        about |= {name: True for name in ("lingers", "in_thread") if getattr(self, name)}
        about |= {} if self.lasting else {"lasting": False}
        self.tape.put("begin", {"job": self.number, "sentence": self.sentence, **about})
        if careful and self.tape.writer is not None and broken is None:
            self.ticket = self.tape.writer.durable(self.context.wake)
        else:
            self._start(broken)

    def _failed_at_start(self) -> bool:
        recording, events = self.tape.recording, self.tape.events
        if recording is None or not events or events[0].kind != "done":
            return False
        return bool(recording.body(events[0]).get("at_start"))

    def _holds(self) -> bool | None:
        assert self.entry is not None
        inner = self.world.inner if self.world is not None else self.target
        told = self.tape.calling(self.number, "verify", verified, self.sentence, self.entry, inner, self.params)
        return True if isinstance(told, Mapping) else told

    def _start(self, broken: Exception | None = None) -> None:
        try:
            if broken is not None:
                raise broken
            self.tape.calling(self.number, "start", lambda: self.begin(self.start()))
        except Exception as error:
            self.tape.put("done", {"job": self.number, "at_start": True, **failure(error)})
            raise
        self.asks = (self.number, "poll")

    @property
    def durable(self) -> bool:
        """True: persist the result before reporting it."""
        told = self.entry is None or self.entry.durable
        return self.lasting and told and self.tape.writer is not None

    # Going on --------------------------------------------------------------------------------

    def quiet(self) -> bool:
        asks, tape = self.asks, self.tape
        if asks is None:
            return False
        before, tape.caller = tape.caller, asks
        try:
            return self.inner.quiet()
        finally:
            tape.caller = before

    def poll(self) -> EndedAnswer | News | None:
        if self.end is not None:
            return self._told()
        if self.pending:
            self.tape.called(self.number, "start")
            self.tape.called(self.number, "poll")
            body = self.tape.answer("done", self.number)
            if body is not None:
                return self._again(body)
            told = self.tape.answer("news", self.number)
            if told is not None:
                return News(*result_of(told))
            if self.dead or not self.tape.goes_on or (self.ticket is not None and not self.ticket.done):
                return None
            if self.ticket is not None and self.ticket.failed:
                return self._not_begun(self.ticket.failed)
            doubt = self._in_doubt() if self.recorded else None
            if doubt is not None:
                return doubt
            self._start()
        done: EndedAnswer | News | Exception | None
        try:
            done = self.tape.calling(self.number, "poll", self.inner.poll)
        except BaseException as error:
            done = crash_of(error)
        if isinstance(done, Exception):
            if self._hold(done, failure(done)):
                return None
            raise done
        if done is None or isinstance(done, News):
            return self._news(done)
        kept = _kept(done)
        return None if self._hold(done, kept) else self._ended(done, kept=kept)

    def _news(self, news: News | None) -> News | None:
        """Passes feedback text on a few times a second, to save disk space; values pass at once."""
        now = time.monotonic()
        if news is not None and news.value is None and now < self.heard + HEARD:
            self.unheard, self.asks, news = news.feedback, None, None
        if news is None and self.unheard and now >= self.heard + HEARD:
            news = News(None, self.unheard)
        if news is not None:
            self.heard, self.unheard, self.asks = now, "", (self.number, "poll")
            self.tape.put("news", {"job": self.number, "value": codec.plain(list(news))})
        return news

    def follow(self, values: dict[str, object]) -> None:
        if self.pending:
            self.tape.called(self.number, "follow")
        self.tape.calling(self.number, "follow", self.inner.follow, values)

    def _hold(self, end: EndedAnswer | Exception, kept: dict[str, Json]) -> bool:
        """Records how the action ended. True when the result is held back until that record is on disk."""
        if not self.durable:
            if isinstance(end, Exception):
                self.tape.put("done", {"job": self.number, **kept})
            return False
        assert self.tape.writer is not None
        self.end, self.asks = end, None
        self.tape.put("done", {"job": self.number, **kept, "held": True})
        self.ticket = self.tape.writer.durable(self.context.wake)
        return True

    def _told(self) -> EndedAnswer | None:
        """Reports the result to everybody; a disk that fails cannot hold it back for ever."""
        if self.tape.answer("told", self.number) is None:
            if self.dead or not self.tape.goes_on or self.tape.writer is None:
                return None
            if self.ticket is None:
                self.ticket = self.tape.writer.durable(self.context.wake)
            if not self.ticket.done:
                return None
            self.tape.put("told", {"job": self.number})
        end, self.end = self.end, None
        if isinstance(end, Exception):
            raise end
        return end

    def _not_begun(self, why: str) -> EndedAnswer:
        value = Observation("This was not begun.", False, why) if self.world is not None else None
        return self._ended(EndedAnswer(Status.FAILURE, value, f"not begun: {why}"), "unwritten")

    def _ended(self, done: EndedAnswer, doubt: str = "", kept: dict[str, Json] | None = None) -> EndedAnswer:
        self.tape.put("done", {"job": self.number, **(kept or _kept(done)), **({"doubt": doubt} if doubt else {})})
        self.tape.boundary()
        return done

    def _again(self, body: dict[str, Json]) -> EndedAnswer | None:
        if body.get("held"):
            try:
                self.end = _ended_as(body)
            except Exception as error:
                self.end = error
            return self._told()
        done = _ended_as(body)
        if self.world is not None and not self.lasting and self.world.inner is not None and "doubt" not in body:
            repeat(self.tape, self.world, self.sentence, done.value)
        return done

    def _in_doubt(self) -> EndedAnswer | None:
        """Returns how an interrupted action ended; None starts it."""
        self.recorded = False
        if not self.lasting:
            return None  # the world was built anew, and has never seen it
        target = self.world.inner if self.world is not None else self.target
        given = (self.sentence, self.entry, target, self.params, self.before)
        answer = self.tape.calling(self.number, "verify", settle, *given)
        self.tape.note(
            "in doubt", {"job": self.number, "sentence": self.sentence, "then": answer.how, "why": answer.why}
        )
        if answer.how == START:
            return None
        ok = answer.how == DONE
        said = "This was done when the run was interrupted." if ok else "The run was interrupted while this was done."
        value = Observation(said, ok, answer.why) if self.world is not None else answer.outputs
        return self._ended(EndedAnswer(Status.SUCCESS if ok else Status.FAILURE, value, answer.why), answer.how)

    def cancel(self, reason: str) -> None:
        if self.pending or self.end is not None:
            self.tape.called(self.number, "cancel")
            return
        self.tape.calling(self.number, "cancel", self.inner.cancel, reason)
        future = self.future
        if self.world is not None and future is not None and not future.cancelled():
            future.add_done_callback(self._late)  # an action in a thread cannot be stopped: the world changes yet

    def stopped(self, at_end: bool = False) -> bool:
        """Inside a tick the answer is recorded."""
        if at_end:
            return self.inner.stopped(at_end)
        if self.gone or not (self.lingers or self.in_thread):
            return True
        self.tape.called(self.number, "stopped")
        if self.tape.answer("stopped", self.number) is None:
            if self.dead or not self.tape.goes_on:
                return False
            if not self.tape.calling(self.number, "stopped", self.inner.stopped):
                return False
            self.tape.put("stopped", {"job": self.number})
        self.gone = True
        return True

    def _late(self, future: Future[object]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        self.tape.put("late", {"job": self.number, "sentence": self.sentence, "value": codec.plain(future.result())})


class TapedInstant:
    """Records the answers of an instant skill, each when it differs from the previous one."""

    def __init__(self, tape: Tape, call: Callable[..., object]) -> None:
        self.tape, self.call = tape, call
        self.number = tape.next_number()
        self.kept: object = _NOTHING  # the answer before, as it is written
        self.value: object = None

    @property
    def has_answered(self) -> bool:
        return self.kept is not _NOTHING

    def goes_on(self, kept: dict[str, Json]) -> None:
        """Takes the answer before from the journal's state, if that has one."""
        if "value" in kept:
            self.kept, self.value = kept["value"], result_of(kept)

    def __call__(self, **params: object) -> object:
        tape = self.tape
        tape.called(self.number, "call")
        body = tape.answer("instant", self.number)
        if body is not None:
            self.kept = body.get("value", _NOTHING)
            self.value = result_of(body)
        elif tape.broken:
            return self.value  # a node that a replay's end halts asks nobody
        elif not tape.live and self.kept is _NOTHING:
            tape.take("instant", {"job": self.number})  # raises: the recording has no such answer
        elif tape.live and tape.writer is None:
            tape.take("instant", {})
        elif tape.live:
            return self._asked(params)
        return self.value

    def _asked(self, params: dict[str, object]) -> object:
        crash: Exception | None = None
        try:
            value = self.tape.calling(self.number, "call", self.call, **params)
        except BaseException as error:
            crash = crash_of(error)
        if crash is not None:
            self.kept = _NOTHING
            self.tape.put("instant", {"job": self.number, **failure(crash)})
            raise crash
        kept = codec.plain(value)
        if type(kept) is not type(self.kept) or kept != self.kept:
            self.kept = kept
            self.tape.put("instant", {"job": self.number, "value": kept})
        return value


_NOTHING = object()


def _kept(done: EndedAnswer) -> dict[str, Json]:
    return {"value": [done.status.name, codec.plain(done.value), done.feedback]}


def _ended_as(body: dict[str, Json]) -> EndedAnswer:
    status, value, feedback = result_of(body)
    return EndedAnswer(Status[status], value, feedback)


def repeat(tape: Tape, world: TapedWorld, sentence: str, told: object) -> None:
    """Repeats an action in a rebuilt world; raises when the answer differs."""
    now = tape.calling(*WORLD, world.act, sentence)
    if isinstance(told, Observation) and now != told:
        tape.broken = True
        raise Difference(
            tape.tick(), f"the world does not repeat itself: `{sentence}` gave {told.text!r}, and now {now.text!r}"
        )


# In doubt: it was started, and nobody saw it end. What its manifest says is to be done about that -----------


class ActionAnswer(NamedTuple):
    """The decision: `how` is to start the action, take it as done with these outputs, or let it fail."""

    how: str
    why: str
    outputs: dict[str, object] | None = None


START, DONE, FAIL = "start", "done", "fail"


def settle(
    sentence: str, entry: SkillEntry | None, target: object, params: dict[str, object] | None, before: bool | None
) -> ActionAnswer:
    """Decides about an interrupted action on resume. `before`: whether its effect held before the start; an effect
    that held already proves nothing."""
    if entry is None:
        return ActionAnswer(FAIL, "no manifest says what to do about it")
    if entry.on_resume == "repeat":
        return ActionAnswer(START, "its manifest allows to repeat it")
    if entry.on_resume == "fail":
        return ActionAnswer(FAIL, f"`{sentence}` was cut off, and may not be repeated")
    try:
        told = verified(sentence, entry, target, params)
    except Exception as error:
        return ActionAnswer(FAIL, f"whether it was done cannot be told: {message_of(error)}")
    outputs = dict(told) if isinstance(told, Mapping) else None
    held = True if outputs is not None else told
    if held is None:
        return ActionAnswer(FAIL, "whether it was done cannot be told")
    if not held:
        return ActionAnswer(START, "what it brings about is not so: it was not done")
    if before is not False:
        return ActionAnswer(FAIL, "what it brings about was so before: whether it was done cannot be told")
    return ActionAnswer(DONE, "what it brings about is so: it was done", outputs)


def verified(
    sentence: str, entry: SkillEntry, target: object, params: dict[str, object] | None
) -> bool | Mapping[str, Json] | None:
    """Returns whether the action's effect holds now, or its outputs when it does; None when unknown."""
    if params is not None and hasattr(target, "verify"):
        told = target.verify(**params)
        return told if told is None or isinstance(told, Mapping) else bool(told)
    said = Sentence(entry.sentence, entry.types).parse(sentence) if params is None else params
    if not isinstance(target, Knowing) or said is None or not entry.brings:
        return None
    answers = [target.holds(Sentence(fact).say(said)) for fact in entry.brings]
    return None if None in answers else all(answers)


def entry_of(sentence: str, entries: Iterable[SkillEntry]) -> SkillEntry | None:
    """The manifest entry of a sentence that an agent chose."""
    for entry in entries:
        if Sentence(entry.sentence, entry.types).parse(sentence) is not None:
            return entry
    return None
