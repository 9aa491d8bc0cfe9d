"""A live run and its page: `with View(run) as view: print(view.url); run.spin()`."""

from __future__ import annotations

from types import TracebackType

from bt_runtime.events import Tick
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.run import Run
from bt_runtime.view.feed import Feed
from bt_runtime.view.pause import PauseGate
from bt_runtime.view.server import LOOPBACK, Server
from bt_runtime.view.watch import Watch


class View:
    """Serves until it is closed. Make it after the run's other observers: a pause holds whoever comes later."""

    def __init__(
        self, run: Run, *, host: str = LOOPBACK, port: int = 0, anyone: bool = False, paused: bool = False
    ) -> None:
        self.run = run
        self.feed = Feed()
        self.gate = PauseGate(paused)
        self.server = Server(self.feed, self.command, host=host, port=port, anyone=anyone)
        self.watch = Watch(run, self.feed)
        self._unobserve = run.observe(self._between)
        if paused:
            self.feed.put({"k": "hold", "t": 0.0, "on": True})

    @property
    def url(self) -> str:
        return self.server.url

    def command(self, name: str) -> None:
        """What somebody pressed on the page."""
        if self.watch.ended:
            raise BtError("the run has ended", "start it once more; its journal can be looked at with `btr view`")
        if name == "pause":
            self.gate.pause()
        elif name == "resume":
            self.gate.resume()
        elif name == "step":
            self.gate.step()
        elif name == "halt":
            self.gate.release()
            self.run.runner.stop("stopped from the page")
            self.run.halt("stopped from the page", "view")
        else:
            raise BtError(f"there is no command `{name}`", "pause, resume, step, halt")
        self.feed.put({"k": "hold", "t": self.watch._now(), "on": self.gate.shut})

    def finish(self) -> None:
        """The run is over; the page stays."""
        self._unobserve()
        self._unobserve = lambda: None
        self.gate.release()
        self.watch.end(self.run.status, self.run.runner.stopped)
        self.watch.detach()

    def close(self) -> None:
        self.finish()
        self.server.close()

    def _between(self, tick: Tick) -> None:
        if tick.running:
            self.gate.wait(lambda: bool(self.run.runner.stopped))

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
