"""Explains a node's status in a recorded run: rebuilds the run up to that tick, and asks the node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.debug.debugger import debugging
from bt_runtime.debug.why import why
from bt_runtime.debug.witness import Witness
from bt_runtime.events import Grown, Tick
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.journal.reading import Recording
from bt_runtime.replay.replay import replay

if TYPE_CHECKING:
    from bt_runtime.run.run import Run


class Because(NamedTuple):
    run: str
    path: str
    tick: int
    sentences: list[str]


class _Asking:
    """Follows a replay; explains the node at the requested tick, before the run is closed."""

    def __init__(self, path: str, at: int) -> None:
        self.path, self.at = path, at
        self.told: list[str] | None = None
        self.fault: BtError | None = None
        self.witness: Witness | None = None

    def begun(self, run: Run) -> None:
        witness = self.witness = Witness(run.context, run.root)
        run.listen(witness.grown, Grown)
        run.listen(witness.tick, Tick)

    def see(self, run: Run, tick: Tick) -> None:
        if tick.number != self.at:
            return
        debugger = debugging(run)
        told = debugger.told() if debugger is not None else {}
        try:
            self.told = why(run.engine, self.path, self.witness, told)
        except BtError as error:
            self.fault = error


def why_recorded(journal: Path | str, path: str, at: int | None = None) -> Because:
    """Explains a node of a recorded run. `at`: the tick, by default the last. Only the journal is used: no world, model
    or skill."""
    recording = Recording(Path(journal))
    last = recording.last_tick
    tick = last if at is None else at
    if not 1 <= tick <= last:
        raise BtError(f"{recording.name} has no tick {tick}", f"its ticks are 1 to {last}" if last else "it has none")
    asking = _Asking(path, tick)
    replayed = replay(journal, tick, asking.see, asking.begun)
    if asking.told is None and asking.fault is None and at is None and 0 < replayed.ticks < tick:
        asking = _Asking(path, replayed.ticks)  # the journal ends within a tick: the one before is whole
        replay(journal, replayed.ticks, asking.see, asking.begun)
    if asking.fault is not None:
        raise asking.fault
    if asking.told is None:
        why_not = replayed.difference or replayed.ended or "its end is missing"
        raise BtError(f"{recording.name} cannot be made again up to tick {tick}: {why_not}", "ask for an earlier tick")
    return Because(recording.name, path, asking.at, asking.told)
