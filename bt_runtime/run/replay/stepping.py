"""Steps back in a run that is paused, or in a recorded one, and goes on from there as a fork with a journal of its own.

The past is made again from the journal. In the fork nothing that had begun before is begun again: it is answered from
the tape. The run that was left stays paused, and its journal stays as it is.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from bt_runtime.events import Debugged
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError, message_of
from bt_runtime.run.debug.debugger import Debugger, debugger_of
from bt_runtime.run.debug.travel import Travel
from bt_runtime.run.replay.fork import Edits, fork, moment, outlives
from bt_runtime.run.replay.past import Past
from bt_runtime.run.run import Run

PATIENCE = 5.0  # seconds for a fork that is told to end


class Stepping:
    """The past of one run, and its fork."""

    def __init__(self, run: Run, journal: Path, made: Callable[[str], Run], base: Past | None = None) -> None:
        """`made` makes the fork of a tick, such as "12". `base`: the recording that `run` makes again."""
        self.run, self.journal, self.made, self.base = run, journal, made, base
        self.past: Past | None = None
        self.fork: Debugger | None = None
        self.thread: threading.Thread | None = None

    @property
    def debugger(self) -> Debugger:
        return debugger_of(self.run)

    @property
    def shown(self) -> Debugger | None:
        if self.past is not None and self.base is None and not self.debugger.paused:
            self.leave()  # the run went on
        return self.past.debugger if self.past is not None else None

    @property
    def tick(self) -> int:
        """The tick that is shown."""
        return self.past.tick if self.past is not None else self.debugger.engine.count

    def to(self, tick: int) -> str:
        last = self.debugger.engine.count
        if not self.debugger.paused and self.base is None:
            raise BtError("the run goes on, and the past is looked at in a pause", "`pause` first")
        self.debugger.renew()
        if tick == last:
            self.leave()
        elif not 0 <= tick < last:
            raise BtError(f"there is no tick {tick}", f"`to` takes 0 to {last}")
        elif self.past is not None:
            self.past.to(tick)
        else:
            self._settle()
            self.past = Past(self.journal, tick)
        present = "" if tick == last else f"; `fork` goes on from here, `to {last}` returns to the present"
        return f"tick {tick} of {last}: {(self.shown or self.debugger).engine.status.name}{present}"

    def leave(self) -> None:
        past, self.past = self.past, None
        if past is not None:
            past.close()

    def begin(self, anyway: bool) -> str:
        if self.past is None:
            raise BtError("a fork begins at a past tick", "`back`, or `to TICK`, first")
        if self.fork is not None:
            raise BtError("the fork of this run goes on", "`halt` ends it")
        self.debugger.renew()
        tick = self.tick
        self._settle()
        recording = Recording(self.journal)
        lasting = "" if anyway else outlives(recording, moment(recording, str(tick)))
        if lasting:
            raise BtError(
                f"{recording.name} cannot be brought back to tick {tick}: {lasting}",
                "put the outside back as it was then, and say so: `fork anyway`",
            )
        run = self.made(str(tick))
        self.leave()
        self._go(run)
        return f"{run.parts.name}: on from tick {tick} of {recording.name}, paused; `continue` and `step` go on in it"

    def _settle(self) -> None:
        """Waits until the journal has all that was done so far."""
        journal: Any = self.debugger.run.parts.journal
        if journal is not None and self.base is None:
            journal.settled()

    # The fork --------------------------------------------------------------------------------

    def _go(self, run: Run) -> None:
        own = debugger_of(run)
        own.pause_of.author(math.inf)
        own.pause()
        own.look()
        run.listen(lambda event: self._say(event.what, event.path, f"{run.parts.name}: {event.text}"), Debugged)
        self.fork, limit = own, self.debugger.pause_of.limit
        self.debugger.pause_of.author(math.inf)  # this run stands while the fork goes on
        self.debugger.renew()

        def spin() -> None:
            try:
                with run, stepping(run):
                    said = f"has ended: {run.spin().name}"
            except Exception as error:
                said = f"broke: {message_of(error)}"
            self.fork = None
            self.debugger.pause_of.author(limit)
            self.debugger.renew()
            self._say("paused", "", f"{run.parts.name} {said}; here is tick {self.debugger.engine.count} again")

        self.thread = threading.Thread(target=spin, name="bt-fork", daemon=True)
        self.thread.start()

    def _say(self, what: Literal["paused", "going on", "changed"], path: str, text: str) -> None:
        self.debugger.context.emit(Debugged(what, path, text))

    def close(self) -> None:
        """Ends the fork, and forgets the past."""
        if self.fork is not None:
            self.fork.run.halt("the run that it was forked from is closed", "debugger", for_good=True)
            assert self.thread is not None
            self.thread.join(PATIENCE)
        self.leave()


@contextmanager
def stepping(run: Run, clock: Any = None) -> Iterator[None]:
    """Lets the debugger of a run with a journal go back, within `with`. `clock`: of its forks."""
    path = run.parts.journal.path if run.parts.journal is not None else None
    model, memory = (None if isinstance(each, str | Path) else each for each in run.parts.resources.named)
    edits, services = Edits(model, memory), dict(run.parts.context.services.given)
    if (person := run.parts.context.services.person) is not None:
        services["person"] = getattr(person, "inner", person)

    def made(at: str) -> Run:
        assert path is not None
        return fork(path, at, edits, skills=run.parts.tree.kinds, services=services, clock=clock, anyway=True)

    if path is not None:
        run.parts.extensions[Travel] = Stepping(run, path, made)
    try:
        yield
    finally:
        if isinstance(found := run.parts.extensions.pop(Travel, None), Stepping):
            found.close()


@contextmanager
def recorded(
    journal: Path, allow: Callable[[Recording], object] = lambda recording: None, **options: Any
) -> Iterator[Debugger]:
    """Looks at a recorded run, at its last tick, within `with`. `allow` raises where the journal is not trusted;
    `options` are those of its forks."""
    with Past(journal) as past:

        def made(at: str) -> Run:
            allow(past.recording)
            return fork(journal, at, anyway=True, **options)

        past.remade.run.parts.extensions[Travel] = found = Stepping(past.remade.run, journal, made, past)
        try:
            yield past.debugger
        finally:
            found.close()
