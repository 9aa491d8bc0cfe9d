"""A recorded run as it stood after one of its ticks: made again from its journal, to be looked at."""

from __future__ import annotations

import math
from pathlib import Path

from bt_runtime.journal.reading import Recording
from bt_runtime.journal.state import UnfitState
from bt_runtime.journal.tape import Difference, Over
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.debugger import Debugger, debugger_of
from bt_runtime.run.replay.replay import Remade


class Past(Closing):
    """Shows one tick at a time; `debugger` answers `why`, `entries` and the like. No world, model or skill is asked."""

    def __init__(self, journal: Path | str, tick: int | None = None) -> None:
        """`tick`: None for the last one."""
        self.journal = Path(journal)
        try:
            self._again(tick)
        except Unreachable as end:
            if tick is not None or not end.whole:
                raise
            self._again(end.whole)  # the journal ends within a tick: the one before is whole

    @property
    def recording(self) -> Recording:
        return self.remade.recording

    @property
    def tick(self) -> int:
        return self.remade.count

    def to(self, tick: int) -> None:
        """Shows another tick. Going back makes the run again, from the latest state in the journal before that tick."""
        if tick < self.tick:
            self.close()
            self._again(tick)
        else:
            self._go(tick)

    def _go(self, tick: int) -> None:
        name, last = self.recording.name, self.recording.last_tick
        if not 0 <= tick <= last:
            raise BtError(f"{name} has no tick {tick}", f"its ticks are 1 to {last}" if last else "it has none")
        try:
            while self.tick < tick:
                whole = self.tick
                self.remade.tick()
        except (Difference, Over) as end:
            raise Unreachable(name, tick, whole, str(end) if isinstance(end, Difference) else "") from end

    def _again(self, tick: int | None, from_state: bool = True) -> None:
        near = (math.inf if tick is None else tick + 1) if from_state else 0
        try:
            self.remade = Remade(self.journal, near)
            try:
                self.debugger: Debugger = debugger_of(self.remade.run)
                self.debugger.look()
                self.debugger.of_past = True
                self._go(self.recording.last_tick if tick is None else tick)
            except BaseException as error:
                self.close()
                if isinstance(error.__cause__, Difference) and self.recording.begins is not None:
                    raise UnfitState from error
                raise
        except UnfitState:
            self._again(tick, from_state=False)

    def close(self) -> None:
        self.remade.close()


class Unreachable(BtError):
    """Raised for a tick that the journal does not lead to. `whole`: the last tick that it leads to."""

    def __init__(self, name: str, tick: int, whole: int, difference: str) -> None:
        why = difference or "the recording ends within a tick"
        super().__init__(f"{name} cannot be made again up to tick {tick}: {why}", "ask for an earlier tick")
        self.whole = whole
