"""Counters of a run as Prometheus reads them: `with Metrics(run, 9464): run.spin()`, then GET /metrics.

The thread that ticks adds to a few numbers; the text is made by whoever asks.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import accumulate
from types import TracebackType
from typing import Any

from bt_runtime.events import Decided, Notice, SkillEnded, Tick
from bt_runtime.interop import address
from bt_runtime.journal.notes import spending
from bt_runtime.run.run import Run

BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)  # seconds
PATIENCE = 2.0  # seconds that somebody has for a request and its answer
KIND = "text/plain; version=0.0.4; charset=utf-8"


class Counts:
    """What has been counted since it was made."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.ticks = self.changes = self.crashes = self.grafts = self.notices = self.decisions = 0
        self.seconds = 0.0
        self.buckets = [0] * (len(BUCKETS) + 1)
        self.skills: Counter[str] = Counter()
        self._told = [
            run.listen(self._tick, Tick), run.listen(self._skill, SkillEnded), run.listen(self._notice, Notice),
            run.listen(self._decided, Decided),
        ]  # fmt: skip

    def detach(self) -> None:
        for undo in self._told:
            undo()

    def _tick(self, tick: Tick) -> None:
        engine = self.run.engine
        if tick.number > self.ticks:  # else a halt between two
            if engine.watchdog is not None:  # else nobody looks when a tick begins
                took = time.monotonic() - engine.began
                self.seconds += took
                self.buckets[bisect_left(BUCKETS, took)] += 1
            self.ticks = tick.number
        self.changes += len(tick.changes)
        self.crashes += len(tick.crashes)
        self.grafts += len(tick.grafts)

    def _skill(self, ended: SkillEnded) -> None:
        self.skills[ended.status.name.lower()] += 1

    def _notice(self, notice: Notice) -> None:
        self.notices += 1

    def _decided(self, decided: Decided) -> None:
        self.decisions += 1

    def text(self) -> str:
        run, spent = self.run, spending(self.run.context)
        lines = [
            *_one("ticks_total", "counter", "Ticks made.", self.ticks),
            *self._histogram(),
            *_one("overruns_total", "counter", "Ticks that took longer than a period.", run.runner.overruns),
            *_one("missed_total", "counter", "Deadlines that were skipped.", run.runner.missed),
            *_one("changes_total", "counter", "Changes of a node's status.", self.changes),
            *_one("crashes_total", "counter", "Exceptions in nodes.", self.crashes),
            *_one("grafts_total", "counter", "Changes of the tree's shape.", self.grafts),
            *_one("notices_total", "counter", "What the runtime had to say of itself.", self.notices),
            *_one("nodes", "gauge", "Nodes in the tree.", run.engine.nodes),
            *_one("running", "gauge", "1 while the root runs.", int(run.status.name == "RUNNING")),
            "# HELP bt_jobs_total Jobs of skills that have ended.",
            "# TYPE bt_jobs_total counter",
            *(f'bt_jobs_total{{status="{name}"}} {count}' for name, count in sorted(self.skills.items())),
            *_one("decisions_total", "counter", "Decisions of agents.", spent.get("decisions", self.decisions)),
            *_one("model_tokens_total", "counter", "Tokens that models wrote.", spent.get("tokens", 0)),
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        name, counts = "bt_tick_seconds", [*accumulate(self.buckets)]
        rows = [f'{name}_bucket{{le="{le:g}"}} {n}' for le, n in zip(BUCKETS, counts, strict=False)]
        return [
            f"# HELP {name} Time of a tick, with those who listen before this.", f"# TYPE {name} histogram", *rows,
            f'{name}_bucket{{le="+Inf"}} {counts[-1]}', f"{name}_sum {self.seconds:.9g}", f"{name}_count {counts[-1]}",
        ]  # fmt: skip


def _one(name: str, kind: str, text: str, value: float) -> list[str]:
    return [f"# HELP bt_{name} {text}", f"# TYPE bt_{name} {kind}", f"bt_{name} {value}"]


class Metrics:
    """Serves from the moment it is made until `close`; one who asks is answered after the other."""

    def __init__(self, run: Run, port: int = 0, *, host: str = address.LOOPBACK, anyone: bool = False) -> None:
        handler = type("Handler", (_Handler,), {"metrics": self})
        try:
            self._http = HTTPServer((address.checked(host, anyone), port), handler)
        except OSError as error:
            raise address.busy(host, port, str(error.strerror), "--metrics PORT") from error
        self.host, self.port = host, int(self._http.server_address[1])
        self.counts = Counts(run)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="bt-metrics", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/metrics"

    def close(self) -> None:
        self.counts.detach()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(2)

    def __enter__(self) -> Metrics:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Handler(BaseHTTPRequestHandler):
    metrics: Metrics
    timeout = PATIENCE

    def do_GET(self) -> None:
        found = self.path.partition("?")[0] == "/metrics"
        data = self.metrics.counts.text().encode() if found else b"it is at /metrics\n"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", KIND if found else "text/plain")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is said of who asks."""
