"""Records a run: its components, every answer from outside, and its course."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.events import (
    AGENT_EVENTS,
    NAMES,
    AgentEvent,
    Crash,
    Line,
    Notice,
    Prompted,
    Reshaped,
    Tick,
    Unset,
    Written,
    body,
)
from bt_runtime.journal import codec, folder, outage, sources, summary
from bt_runtime.journal.action import TapedActivity, TapedInstant, entry_of
from bt_runtime.journal.backlog import Backlog
from bt_runtime.journal.changes import Changes, kept
from bt_runtime.journal.layout import HEAD, SUFFIX, Event, Texts, head_sum, wall_time
from bt_runtime.journal.lines import Following, LineFollower, Nowhere
from bt_runtime.journal.lock import Lock
from bt_runtime.journal.notes import Rows, broken, known, notes, shapes, spending
from bt_runtime.journal.outage import BEST_EFFORT, POLICIES
from bt_runtime.journal.parts import Kept, registered
from bt_runtime.journal.parts import kept as kept_by_parts
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.recordable import Given, Recordable
from bt_runtime.journal.repair import rebuild
from bt_runtime.journal.state import StateKeeper
from bt_runtime.journal.store import JournalLimits, JournalStore
from bt_runtime.journal.tape import Difference, Tape
from bt_runtime.journal.taped import TapedClock, TapedPerson
from bt_runtime.journal.writer import Writer
from bt_runtime.language.entry import SkillEntry
from bt_runtime.language.faults.diagnostic import BtError, closing
from bt_runtime.tree.action import Action
from bt_runtime.tree.clock import of_the_machine
from bt_runtime.tree.describe.blame import blame
from bt_runtime.tree.gates import Call, Gate, Start
from bt_runtime.tree.node import FAILURE, RUNNING
from bt_runtime.types import Json, Verdict

if TYPE_CHECKING:
    from bt_runtime.skills.activity import Activity
    from bt_runtime.tree.stream import Stream

FEW = 64  # nodes whose facts are made in the tick
SETTLED = 10.0  # seconds that the beginning and the end of a run wait for the disk


class Recorder(Gate):
    """Records a run that it is given to. `recording` holds the past of a replayed or resumed run.

    A resumed journal's `lock` is held from before its reading; `standing` notes behind the last answer are kept.
    Without a place and a recording nothing is stored: only followers receive the lines."""

    def __init__(
        self, place: Path | str | None, recording: Recording | None = None, limits: JournalLimits | None = None,
        policy: str | None = None, *, lock: Lock | None = None, standing: Sequence[Event] = (),
    ) -> None:  # fmt: skip
        self.place = Path(place) if place is not None else None  # the folder; of a recording's own file, its path
        self.recording, self.limits = recording, limits or JournalLimits()
        kept = str(recording.head.get("policy") or "") if recording is not None else ""
        self.policy = policy or kept or POLICIES[0]
        if self.policy not in POLICIES:
            raise BtError(f"`{self.policy}` is not a policy of a journal", f"there are {' and '.join(POLICIES)}")
        self.tape = Tape(None, recording)
        self.lock, self.standing = lock, standing
        self.since = 0  # the tick from which on changes of status are written
        self.states: StateKeeper | None = None
        self.changed = False  # forked, or changed by a debugger: kept states lack that
        self.around = Kept()  # what parts keep, or a replayed head tells of them
        self.path: Path | None = None
        self.entries: list[SkillEntry] | None = None
        self.offered: list[SkillEntry] = []  # skills that no tree lists, offered by agents
        self.rows = Rows()
        self.first: Reshaped | None = None  # the tree before the first tick
        self.spent: dict[str, int] = {}  # the budget as noted last
        self.ticks = 0  # the latest that was told
        self.closed = self.judged = self.over = False
        self.stack = ExitStack()  # closes with the run
        self.following = Following(self._warn)

    def name_of(self, name: str) -> str:
        """Returns the run's name; a rebuilt run keeps its own."""
        return self.recording.name if self.recording is not None else name

    # Beginning -------------------------------------------------------------------------------

    def attach(self, run: Recordable, given: Given) -> None:
        """Puts itself between the run and everything outside. `given`: what the run was made with."""
        self.run, context = run, run.context
        self.context = context
        self.tape.engine = run.engine
        self.changes = Changes(self.tape, context, run.engine)
        self.clock = TapedClock(self.tape, context.clock, context)
        context.clock = self.clock
        if self.recording is not None:
            self.around = Kept(self.recording.head)
        else:
            self.around = Kept({"person": context.services.person is not None}).plus("", kept_by_parts(run, given))
        if not of_the_machine(self.clock.inner):
            clock = self.clock
            self.following.time = lambda: clock.inner.now() + clock.ahead
        if self.place is not None:
            self._open(run, given)
        elif self.recording is None:
            self.following.head = self._head(run, given)
            self.tape.writer = self._writer(Nowhere(), Texts())
        if self.around.head.get("person"):
            context.services.person = TapedPerson(self.tape, context.services.person)
        found = registered()
        for part in found.parts.values():
            part.wrap(run, self.tape, self.around.head)
        self.offered = [e for part in found.parts.values() for e in part.entries(self.around.head)]  # not within a tick
        for fault in found.faults:
            self._told(fault)
        context.gates.add(self)
        self.first = run.engine.standing().shape
        self._listen(context.stream)
        if self.path is not None:
            self.states = StateKeeper(self)

    def _open(self, run: Recordable, given: Given) -> None:
        assert self.place is not None
        if self.recording is None:
            self._let_old_go(self.place)
            folder.sweep(self.place)
            self.path = folder.new_path(self.place, run.name)
        else:
            self.path = self.recording.path
        self.tape.path = self.path
        if self.lock is None:
            self.lock = Lock(self.path)
        if self.recording is not None:
            events, begins = self.recording.events, self.recording.begins
            self.since = events[-1].tick if events else 0
            self.changed = any(event.kind in ("debug", "forked") for event in events)
            self.following.head = self.recording.head
            self.tape.writer, self.tape.on_live = Backlog(self.following), self._goes_on
            if begins is not None:
                self.since = max(self.since, begins.tick + 1)
            elif self.tape.live:
                self._goes_on()
            return
        try:
            store = JournalStore(self.path, self.limits, self._summed(run, given))
        except BaseException:
            self.lock.release()
            raise
        self.tape.writer = self._writer(store, Texts())
        self._begin(self.tape.writer)

    def _let_old_go(self, place: Path) -> None:
        gone = summary.let_old_go(place, self.limits)
        if gone:
            names = ", ".join(path.stem for path in gone)
            text = f"journals of runs that ended more than {self.limits.days:g} days ago were removed: {names}"
            self.context.emit(Line("", "info", text))

    def _summed(self, run: Recordable, given: Given) -> dict[str, str]:
        """Returns the head of a new journal with its checksum."""
        head = self.following.head = self._head(run, given)
        kept = {name: codec.text(value) for name, value in {**head, "sum": head_sum(head)}.items()}
        if sum(len(value.encode()) for value in kept.values()) > HEAD:
            why = f"what this run is made of is too long for a journal: more than {HEAD // 2**20} MB"
            raise BtError(why, "name large inputs by their files, or run it without a journal")
        return kept

    def _goes_on(self) -> None:
        """Goes live after the replay: only now changes the journal, and cuts off what the run will repeat."""
        assert self.recording is not None and self.path is not None and isinstance(self.tape.writer, Backlog)
        try:
            outage.lower(self.path, self.recording.count)
            if self.recording.damage:
                rebuild(self.recording, self.path, self.limits)
            read = self.recording.end if not self.recording.damage else None
            store, texts = JournalStore(self.path, self.limits, read=read), Texts()
            seq = self._cut(store, texts, self.recording)
        except Exception as error:
            self.tape.broken = True
            raise Difference(self.tape.tick(), f"its journal cannot be written: {error}") from error
        self.tape.writer = self.tape.writer.hand_over(self._writer(store, texts, seq))

    def _writer(self, store: JournalStore, texts: Texts, seq: int = 0) -> Writer:
        return Writer(store, texts, seq, self._told, self.policy, self.following, self.run.runner.halt)

    @property
    def broken(self) -> str:
        """Returns why the record is incomplete; "" when it is complete."""
        return str(getattr(self.tape.writer, "broken", ""))

    def _cut(self, store: JournalStore, texts: Texts, recording: Recording) -> int:
        seq = store.cut(recording.count, self.since, recording.sum, self.standing)
        for number in sorted(recording.texts)[-64:]:
            texts.remember(number, recording.texts[number], recording.texts.depths[number])
        texts.last = max(recording.texts, default=0)
        return seq

    def _head(self, run: Recordable, given: Given) -> dict[str, Json]:
        return {
            **sources.manifest(run, given, self.around.given), "board": self._board(given), "policy": self.policy,
            "started": wall_time(), "clock": "machine" if of_the_machine(self.clock.inner) else "own",
            "began": self.clock.inner.now(), **self.around.head,
        }  # fmt: skip

    def _board(self, given: Given) -> dict[str, Json]:
        """Returns the blackboard's values before the first tick, without the inputs."""
        values, inputs = self.context.blackboard.root.entries, given.get("inputs") or {}
        return {name: kept(value) for name, value in values.items() if name not in inputs}

    def _begin(self, writer: Writer) -> None:
        """Waits before the first tick until the head is on the disk. On failure, `required` removes the journal and
        raises."""
        begun = writer.durable()
        if begun.wait(SETTLED) or self.policy == BEST_EFFORT:
            return
        self.close()
        for left in (*folder.files_of(writer.store.path), outage.marker_of(writer.store.path)):
            left.unlink(missing_ok=True)  # the run never was
        why = begun.failed or "the disk does not answer"
        raise BtError(f"{self.path} cannot be written: {why}", "free the disk, or name another folder")

    def follow(self, follower: LineFollower) -> None:
        """Sends everything recorded from now on to a follower, until the run is closed. Call it before the first
        tick."""
        if self.tape.writer is None:
            raise BtError("a replay records nothing new", "follow the run that goes on")
        self.following.join(follower)

    def _warn(self, what: str) -> None:
        self.context.emit(Notice("", "warning", what))

    def _told(self, what: str) -> None:
        self.context.emit(Line("", "warning", what))

    def _listen(self, stream: Stream) -> None:
        """Registers the listeners. An exception in a listener ends the run, because a recorded run must be recorded."""
        stream.listen(self._agent, *AGENT_EVENTS, vital=True)
        stream.listen(self._line, Line, vital=True)
        stream.listen(self._broke, Crash, vital=True)
        stream.listen(self.changes.written, Written, vital=True)
        stream.listen(self.changes.unset, Unset, vital=True)
        stream.listen(self._ticked, Tick, vital=True)

    def _agent(self, event: AgentEvent) -> None:
        if isinstance(event, Prompted):
            path, *texts = event
            self.tape.note("prompt", {"path": path}, dict(zip(Prompted._fields[1:], texts, strict=True)))
        else:
            self.tape.note(
                NAMES[type(event)], lambda: {name: codec.plain(value) for name, value in body(event).items()}
            )

    def _line(self, line: Line) -> None:
        self.tape.note("log", {"path": line.path, "level": line.level, "text": line.text})

    def _broke(self, crash: Crash) -> None:
        kind, told = broken(crash)
        self.tape.note(kind, told, {"traceback": told.pop("traceback")})

    # While it runs ---------------------------------------------------------------------------

    def start(self, action: Action, start: Start) -> Activity:
        if action.target is self.context.services.memory:
            return start()  # working memory is a part of the run: it will say the same again
        return TapedActivity(self.tape, start, action, self.known(action))

    def known(self, action: Action) -> SkillEntry | None:
        """Returns the manifest's entry of an action."""
        return action.entry or entry_of(action.sentence, self._entries())

    def instant(self, call: Call) -> Call:
        return TapedInstant(self.tape, call)

    def _entries(self) -> list[SkillEntry]:
        if self.entries is None:
            own = [k.data["entry"] for k in self.run.tree.spec.registry if "entry" in k.data]
            self.entries = [*own, *self.offered]
        return self.entries

    def asked(self, how: str, path: str, plan: object = "", index: int | None = None) -> None:
        """Records a change of shape that somebody has asked for."""
        self.changes.asked(how, path, plan, index)

    def debugged(self, body: dict[str, Json]) -> None:
        """Records a debugger's action, so that a replay repeats it."""
        self.changed = True
        self.tape.put("debug", body)

    def _ticked(self, tick: Tick) -> None:
        self.clock.frozen = None
        first, self.first = self.first, None
        for shape in (first, tick.shape):
            if shape is not None:
                self._shaped(shape, tick.number)
        if tick.halts or tick.grafts or tick.status is not RUNNING:
            self._noted(tick)
        tape, writer = self.tape, self.tape.writer
        if self.context.services.spent is not None and (spent := spending(self.context)) != self.spent:
            self.spent = spent
            tape.note("spent", spent)
        if writer is not None:
            if (tick.changes or tick.resets or tick.said) and tick.number >= self.since and not tape.broken:
                writer.changes(tick)
            writer.keep_up()
            states = self.states
            if states is not None and writer.noted >= states.next and tick.number != self.ticks:
                states.look(tick, writer)
        self.ticks = tick.number

    def begin_at(self, tick: int) -> None:
        """Takes as written what a run that begins in a kept state had noted by then."""
        first, self.first = self.first, None
        if first is not None:
            self.rows.of(first, 0)
        self.spent, self.ticks = spending(self.context), tick
        if self.tape.live:
            self._goes_on()

    def _shaped(self, shape: Reshaped, tick: int) -> None:
        """Writes the notes of new nodes before their rows, so that a reader of a row finds its notes."""
        for kind, told in shapes(shape):
            self.tape.note(kind, told)
        for text, facts in known(shape):  # of few nodes now: the queue keeps no nodes alive
            self.tape.note("facts", facts() if len(shape.nodes) <= FEW else facts, text)
        rows = self.rows.of(shape, tick)
        if rows and self.tape.writer is not None:
            self.tape.writer.nodes(rows)

    def _noted(self, tick: Tick) -> None:
        for kind, told in notes(tick):
            self.tape.note(kind, told)
        if tick.number == self.ticks:  # no tick, but a halt between two
            if tick.halts and not self.changes.remaking:
                why = tick.halts[0][1]
                self.tape.put("halt", {"by": why.by, "reason": why.reason})
        elif tick.status is not RUNNING:
            failed = blame(self.run.engine.root)._asdict() if tick.status is FAILURE else {}
            self.tape.note("result", {"status": tick.status.name, **failed})
            self.changes.halted(tick)
            self.tape.boundary()

    # End -------------------------------------------------------------------------------------

    def verdict(self, verdict: Verdict | None) -> None:
        if verdict is not None and not self.judged:
            self.judged = True
            self.tape.note("verdict", {"met": verdict.met, "total": verdict.total})

    def settled(self, seconds: float = SETTLED) -> None:
        """Waits until the notes so far are on the disk, or have failed."""
        if self.tape.writer is not None:
            self.tape.writer.durable().wait(seconds)

    def finished(self, experiences: int) -> None:
        """Records that the root has ended and that its experiences are stored."""
        if not self.over:
            self.over = True
            self.tape.note("closed", {"experiences": experiences})

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        with ExitStack() as stack:
            stack.push(closing(self.stack.close))
            if self.lock is not None:
                stack.push(closing(self.lock.release))
            if self.tape.writer is not None:
                stack.push(closing(self.tape.writer.close))


def recorder(journal: object, policy: str | None = None) -> Recorder | None:
    """Converts a run's `journal` argument (a folder, a Recorder or None) to a recorder."""
    if journal is None or isinstance(journal, Recorder):
        return journal
    if not isinstance(journal, str | Path):
        raise BtError(f"a journal is a folder, not {journal!r}", 'for instance `journal="runs/"`')
    if Path(journal).suffix == SUFFIX and not Path(journal).is_dir():
        folder = f"{Path(journal).parent}/"
        raise BtError(f"`journal` takes the folder of the journals, {journal} is named as one of them",
                      f'`journal="{folder}"`: the file in it is named by the tree and the run')  # fmt: skip
    return Recorder(journal, policy=policy)
