"""Repeats a run without model or world: every status must equal the recorded one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.events import Tick
from bt_runtime.faults.diagnostic import BtError, Faults
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.record import Recorder
from bt_runtime.journal.tape import Difference, Over
from bt_runtime.replay import rebuild
from bt_runtime.run.run import Run


class Replayed(NamedTuple):
    name: str
    ticks: int
    status: str  # of the root, after the last tick
    difference: str = ""  # the first one, with its tick
    ended: str = ""  # why the replay ended before the recording did

    @property
    def same(self) -> bool:
        return not self.difference


def replay(
    journal: Path | str,
    until: int | None = None,
    see: Callable[[Any, Tick], None] = lambda run, tick: None,
    begun: Callable[[Any], None] = lambda run: None,
) -> Replayed:
    """Replays a journal. `see` is called after each tick with the run and the tick, `begun` with the run before the
    first tick.

    Nothing of the journal is imported.
    """
    recording = Recording(Path(journal))
    with rebuild.laid_out(recording) as (folder, tree):
        try:
            loaded = rebuild.tree_of(recording, tree, folder)
        except Faults as faults:
            raise BtError(f"{recording.name}: its tree cannot be loaded by this version", str(faults)) from faults
        recorder = Recorder(None, recording)
        run = Run(
            loaded, services=rebuild.services(folder), journal=recorder, **{**rebuild.given(recording), "strict": False}
        )
        try:
            begun(run)
            return _replayed(run, recording, until, see)
        finally:
            recorder.tape.broken = True  # what the end halts has no counterpart in the recording
            run.close()


def _replayed(run: Any, recording: Recording, until: int | None, see: Callable[[Any, Any], None]) -> Replayed:
    last = recording.last_tick if until is None else min(until, recording.last_tick)
    status, done = "INVALID", 0
    changes: dict[int, list[tuple[int, str]]] = {}
    run.listen(
        lambda tick: changes.setdefault(tick.number, []).extend((n.seen_as, s.name) for n, s in tick.changes), Tick
    )
    try:
        while run.engine.count < last:
            rebuild.outside(run)
            _compare(recording, done, changes.pop(done, []))
            tick = run.tick()
            status, done = tick.status.name, tick.number
            see(run, tick)
        if until is None:
            rebuild.outside(run)
        _compare(recording, done, changes.get(done, []), beginning=until is not None)
        _nothing_left(run, until)
    except Difference as difference:
        return Replayed(recording.name, done, status, str(difference))
    except Over:
        why = "the journal reached its size limit there" if recording.full else "the recording ends within a tick"
        return Replayed(recording.name, done, status, "", why)
    return Replayed(recording.name, done, status, "", recording.damage)


def _compare(recording: Recording, tick: int, now: list[tuple[int, str]], beginning: bool = False) -> None:
    """Compares a tick bit for bit, as far as the recording keeps it; `beginning`: the recording may have had more."""
    if not min(recording.ticks, default=0) <= tick <= max(recording.ticks, default=-1):
        return
    then = recording.changes(tick)
    if now == (then[: len(now)] if beginning else then):
        return
    paths = {row.number: row.path for row in recording.nodes}
    at = next((i for i, (a, b) in enumerate(zip(now, then, strict=False)) if a != b), min(len(now), len(then)))

    def shown(changes: list[tuple[int, str]]) -> str:
        return f"{paths.get(changes[at][0], '?')} {changes[at][1]}" if at < len(changes) else "nothing more"

    raise Difference(tick, f"the replay has {shown(now)}, the recording {shown(then)}")


def _nothing_left(run: Any, until: int | None) -> None:
    """Raises when a recorded event did not occur again."""
    events = run.journal.tape.events
    if events and (until is None or events[0].tick < until):
        left = events[0]
        raise Difference(left.tick, f"the recording has `{left.kind}`, and the replay did not come to it")
