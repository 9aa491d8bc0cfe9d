"""Repeats a run without model or world: every status must equal the recorded one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.events import Tick
from bt_runtime.journal.compare import parting, shown
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.record import Recorder
from bt_runtime.journal.state import put_back
from bt_runtime.journal.tape import Difference, Over
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.run.replay import rebuild
from bt_runtime.run.run import Run

BROKEN = "`btr runs show` tells what can still be read of it"


class Replayed(NamedTuple):
    name: str
    ticks: int
    status: str  # the root's status after the last tick
    difference: str = ""  # the first one, with its tick
    ended: str = ""  # why the replay ended before the recording did

    @property
    def same(self) -> bool:
        return not self.difference


class Remade(Closing):
    """A recorded run that is made again, tick by tick. No model, world or skill is asked, and nothing of the journal is
    imported."""

    def __init__(self, journal: Path | str, near: float = 0) -> None:
        """`near`: begins in the latest state that the journal has of a tick before this one. Raises UnfitState."""
        self.recording = Recording(Path(journal), near=near)
        self.status = "INVALID"
        self.changes: dict[int, list[tuple[int, str]]] = {}
        with ExitStack() as stack:
            try:
                kit = rebuild.without_effects(self.recording, stack)
            except Faults as faults:
                name = self.recording.name
                raise BtError(f"{name}: its tree cannot be loaded by this version", str(faults)) from faults
            self.recorder = Recorder(None, self.recording)
            self.run = Run(journal=self.recorder, **{**rebuild.given(self.recording), "strict": False}, **kit)
            stack.callback(self._end)
            if self.recording.begins is not None:
                put_back(self.recorder, self.recording.begins.body)
            self._stack = stack.pop_all()
        self.run.listen(self._changed, Tick)

    @property
    def count(self) -> int:
        return self.run.parts.engine.count

    def _changed(self, tick: Tick) -> None:
        own = ((node.seen_as, status.name) for node, status in tick.changes)  # type: ignore[attr-defined]
        self.changes.setdefault(tick.number, []).extend(own)

    def tick(self) -> Tick:
        """Raises Difference, and Over where the recording ends within the tick."""
        rebuild.outside(self.run)
        begins = self.recording.begins
        if begins is None or self.count > begins.tick:
            _compare(self.recording, self.count, self.changes.pop(self.count, []))
        tick = self.run.tick()
        self.status = tick.status.name
        return tick

    def finish(self, until: int | None) -> None:
        """Compares what is left after the last tick; `until`: the tick at which the caller stopped."""
        if until is None:
            rebuild.outside(self.run)
        _compare(self.recording, self.count, self.changes.get(self.count, []), beginning=until is not None)
        _nothing_left(self.run, until)

    def _end(self) -> None:
        self.recorder.tape.broken = True  # halts at the end have no counterpart in the recording
        self.run.close()

    def close(self) -> None:
        self._stack.close()


def replay(
    journal: Path | str,
    until: int | None = None,
    see: Callable[[Any, Tick], None] = lambda run, tick: None,
    begun: Callable[[Any], None] = lambda run: None,
) -> Replayed:
    """Replays a journal. `see` is called after each tick with the run and the tick, `begun` with the run before the
    first tick. Raises BtError where not even the first tick is whole: nothing was compared, so nothing is the same."""
    with Remade(journal) as again:
        begun(again.run)
        recording, done = again.recording, 0
        last = recording.last_tick if until is None else min(until, recording.last_tick)
        try:
            while again.count < last:
                tick = again.tick()
                done = tick.number
                see(again.run, tick)
            again.finish(until)
        except Difference as difference:
            return Replayed(recording.name, done, again.status, str(difference))
        except Over:
            why = "the journal reached its size limit there" if recording.full else "the recording ends within a tick"
        else:
            why = recording.damage
        if why and not done and until != 0:
            raise BtError(f"{recording.name} has no whole tick to replay: {recording.damage or why}", BROKEN)
        return Replayed(recording.name, done, again.status, "", why)


def _compare(recording: Recording, tick: int, now: list[tuple[int, str]], beginning: bool = False) -> None:
    """Compares a tick bit for bit, as far as the recording keeps it; `beginning`: the recording may have had more."""
    if not min(recording.ticks, default=0) <= tick <= max(recording.ticks, default=-1):
        return
    then = recording.changes(tick)[: len(now) if beginning else None]
    if (pair := parting(now, then)) is not None:
        paths = recording.paths()
        raise Difference(tick, f"the replay has {shown(pair[0], paths)}, the recording {shown(pair[1], paths)}")


def _nothing_left(run: Any, until: int | None) -> None:
    """Raises when a recorded event did not occur again."""
    events = run.parts.journal.tape.events
    if events and (until is None or events[0].tick < until):
        left = events[0]
        raise Difference(left.tick, f"the recording has `{left.kind}`, and the replay did not come to it")
