"""Counters of a run for Prometheus: `with Metrics(run, 9464): run.spin()`, then GET /metrics. The ticking thread only
adds numbers; the server's thread formats them."""

from __future__ import annotations

import os
import socket
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import accumulate
from typing import Any, NamedTuple

from bt_runtime.events import Decided, Notice, SkillEnded, Tick
from bt_runtime.journal.notes import spending
from bt_runtime.language.closing import Closing
from bt_runtime.language.project import address
from bt_runtime.run.monitor import Access, Monitor, port
from bt_runtime.run.run import Run

BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)  # seconds
PATIENCE = 2.0  # seconds that somebody has for a request and its answer
ROBOT = "BTR_FLEET_ROBOT"  # set by the agent of a fleet's robot for the runs that it starts
KIND = "text/plain; version=0.0.4; charset=utf-8"


class Counts:
    """Counts since the object was made."""

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
        engine = self.run.parts.engine
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

    def families(self) -> Iterator[Family]:
        run, spent = self.run, spending(self.run.parts.context)
        yield _one("ticks_total", "counter", "Ticks made.", self.ticks)
        yield self._histogram()
        yield _one("overruns_total", "counter", "Ticks that took longer than a period.", run.parts.runner.overruns)
        yield _one("missed_total", "counter", "Deadlines that were skipped.", run.parts.runner.missed)
        yield _one("changes_total", "counter", "Changes of a node's status.", self.changes)
        yield _one("crashes_total", "counter", "Exceptions in nodes.", self.crashes)
        yield _one("grafts_total", "counter", "Changes of the tree's shape.", self.grafts)
        yield _one("notices_total", "counter", "What the runtime had to say of itself.", self.notices)
        yield _one("nodes", "gauge", "Nodes in the tree.", run.parts.engine.nodes)
        yield _one("running", "gauge", "1 while the root runs.", int(run.status.name == "RUNNING"))
        jobs = [Sample("bt_jobs_total", count, {"status": name}) for name, count in sorted(self.skills.items())]
        yield Family("bt_jobs_total", "counter", "Jobs of skills that have ended.", jobs)
        yield _one("decisions_total", "counter", "Decisions of agents.", spent.get("decisions", self.decisions))
        yield _one("model_tokens_total", "counter", "Tokens that models wrote.", spent.get("tokens", 0))

    def _histogram(self) -> Family:
        name, counts = "bt_tick_seconds", [*accumulate(self.buckets)]
        bounds = [*(f"{le:g}" for le in BUCKETS), "+Inf"]
        samples = [Sample(f"{name}_bucket", n, {"le": le}) for le, n in zip(bounds, counts, strict=True)]
        samples += [Sample(f"{name}_sum", round(self.seconds, 9)), Sample(f"{name}_count", counts[-1])]
        return Family(name, "histogram", "Time of a tick, with those who listen before this.", samples)


class Sample(NamedTuple):
    name: str
    value: float
    labels: Mapping[str, str] = {}


class Family(NamedTuple):
    name: str
    kind: str
    about: str
    samples: list[Sample]


def _one(name: str, kind: str, about: str, value: float) -> Family:
    return Family(f"bt_{name}", kind, about, [Sample(f"bt_{name}", value)])


def formatted(families: Iterable[Family]) -> str:
    """Returns the Prometheus text of families whose samples have all their labels."""
    lines: list[str] = []
    for family in families:
        lines += [f"# HELP {family.name} {family.about}", f"# TYPE {family.name} {family.kind}"]
        lines += [_line(sample, sample.labels) for sample in family.samples]
    return "".join(f"{line}\n" for line in lines)


def text(counted: Mapping[Counts, Mapping[str, str]]) -> str:
    """The Prometheus text for several runs, each with its labels, with one heading a family."""
    lines: list[str] = []
    for together in zip(*(counts.families() for counts in counted), strict=True):
        first = together[0]
        lines += [f"# HELP {first.name} {first.about}", f"# TYPE {first.name} {first.kind}"]
        for family, labels in zip(together, counted.values(), strict=True):
            lines += [_line(sample, {**labels, **sample.labels}) for sample in family.samples]
    return "".join(f"{line}\n" for line in lines)


def _line(sample: Sample, labels: Mapping[str, str]) -> str:
    said = ",".join(f'{name}="{_quoted(value)}"' for name, value in labels.items())
    return f"{sample.name}{{{said}}} {sample.value}"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Metrics(Closing):
    """Serves from its creation until `close`, one request at a time. Each sample has the labels `tree`, `run` and
    `robot`: the given name, else that of its fleet, else the machine's."""

    def __init__(
        self, run: Run, port: int = 0, *, host: str = address.LOOPBACK, anyone: bool = False, robot: str | None = None
    ) -> None:
        handler = type("Handler", (_Handler,), {"metrics": self})
        try:
            self._http = _Http((address.checked(host, anyone), port), handler)
        except (OSError, OverflowError) as error:
            raise address.busy(host, port, error, "--metrics PORT") from error
        self.host, self.port = host, int(self._http.server_address[1])
        self.anyone = anyone
        self._counted: dict[Counts, Mapping[str, str]] = {}
        self.add(run, robot)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="bt-metrics", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/metrics"

    def add(self, run: Run, robot: str | None = None) -> Callable[[], None]:
        """Adds a run to this address; returns a function that removes it."""
        counts = Counts(run)
        labels = {
            "tree": run.parts.tree.spec.name,
            "run": run.parts.name,
            "robot": robot or os.environ.get(ROBOT) or socket.gethostname(),
        }
        self._counted = {**self._counted, counts: labels}

        def end() -> None:
            counts.detach()
            self._counted = {each: about for each, about in self._counted.items() if each is not counts}

        return end

    def text(self) -> str:
        return text(self._counted)

    def close(self) -> None:
        for counts in self._counted:
            counts.detach()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(2)


class _Http(HTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnect early."""


class _Handler(BaseHTTPRequestHandler):
    metrics: Metrics
    timeout = PATIENCE

    def do_GET(self) -> None:
        if not self.metrics.anyone and not address.is_named_so(self.headers.get("Host", "")):
            self._answer(421, b"this server answers to 127.0.0.1 and localhost only\n", "text/plain")
        elif self.path.partition("?")[0] == "/metrics":
            self._answer(200, self.metrics.text().encode(), KIND)
        else:
            self._answer(404, b"it is at /metrics\n", "text/plain")

    def _answer(self, code: int, data: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """No-op: requests are not logged."""


class Counted(Monitor):
    about = "counters for Prometheus at this port"

    def open(self, run: Run, where: str, access: Access) -> Metrics:
        return Metrics(run, port(where, "metrics"), host=access.host, anyone=access.anyone, robot=access.robot)


METRICS = Counted()
