"""A live run and its page: `with View(run) as view: print(view.url); run.spin()`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, TracebackType

from bt_runtime.debug.commands import LOOKING, do, status
from bt_runtime.events import Debugged
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.run import Run
from bt_runtime.types import Json
from bt_runtime.view.feed import Feed
from bt_runtime.view.server import LOOPBACK, Server
from bt_runtime.view.watch import Watch

SHARED = LOOKING | {"pause", "resume", "continue", "step"}  # what a page may do that other machines can reach
_NONE: Mapping[str, Json] = MappingProxyType({})


class View:
    """Serves until it is closed. Its buttons are those of the run's debugger: a pause lies between two ticks."""

    def __init__(
        self, run: Run, *, host: str = LOOPBACK, port: int = 0, anyone: bool = False, paused: bool = False
    ) -> None:
        self.run = run
        self.feed, self.anyone = Feed(), anyone
        self.server = Server(self.feed, self.command, host=host, port=port, anyone=anyone)
        self.watch = Watch(run, self.feed)
        self._unhear = run.listen(self._debugged, Debugged)
        if paused:
            run.debugger.step()
            self._hold()

    @property
    def url(self) -> str:
        return self.server.url

    def command(self, name: str, given: Mapping[str, Json] = _NONE) -> Json:
        """What somebody pressed on the page."""
        if self.watch.ended:
            raise BtError("the run has ended", "start it once more; its journal can be looked at with `btr view`")
        if name == "halt":
            self.run.runner.stop("stopped from the page")
            self.run.halt("stopped from the page", "view")
            return {}
        if self.anyone and name not in SHARED:
            raise BtError("this page is open to other machines, and only looks, pauses, steps and halts")
        self.run.debugger.look()
        answer = do(self.run.debugger, "continue" if name == "resume" else name, given)
        if name not in LOOKING:
            self._hold()
        return answer

    def _debugged(self, event: Debugged) -> None:
        self._hold(event.text if event.what == "paused" else "")

    def _hold(self, why: str = "") -> None:
        """How the debugger stands, for the page."""
        state = status(self.run.debugger)
        told = {"on": state["paused"], "at": state["at"], "why": why}
        lists = {"points": state["breakpoints"], "changes": state["changes"]}
        self.feed.put({"k": "hold", "t": self.watch._now(), **told, **lists})

    def finish(self) -> None:
        """The run is over; the page stays."""
        self._unhear()
        if self.run.debugging is not None:
            self.run.debugging.pause_of.end()
        self.watch.end(self.run.status, self.run.runner.stopped)
        self.watch.detach()

    def close(self) -> None:
        self.finish()
        self.server.close()

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
