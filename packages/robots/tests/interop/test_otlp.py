"""Spans on their way to a collector: a double of one that reads the real protobuf."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_robots.recordings import spool
from bt_robots.telemetry import otlp
from bt_robots.telemetry.otel import NODE, OPERATION, OUTPUT_TOKENS, spans_of
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.events import Notice
from bt_runtime.journal import Recording
from bt_runtime.journal.lines import lines
from bt_runtime.plugins import open_suite
from tests.journal import errand

pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
WAITS = "version: 1\ntree: t\nroot: {sequence: [{wait: 0.05}, {wait: 0.05}]}\n"


class Collector:
    """Keeps what it is sent; `hold` makes it answer nobody."""

    def __init__(self) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        self.requests: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.hold, self.asked = threading.Event(), threading.Event()
        self.hold.set()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.asked.set()
                collector.hold.wait(60)
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                request = ExportTraceServiceRequest()
                request.ParseFromString(body)
                collector.requests.append(request)
                collector.headers.append(dict(self.headers))
                self.send_response(200 if self.path == "/v1/traces" else 404)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def spans(self) -> list[Any]:
        return [s for r in self.requests for res in r.resource_spans for scope in res.scope_spans for s in scope.spans]


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.hold.set()
    made.http.shutdown()
    made.http.server_close()


def plain(span: Any) -> tuple[Any, ...]:
    about = {
        a.key: a.value.int_value if a.value.HasField("int_value") else a.value.string_value for a in span.attributes
    }
    times = span.start_time_unix_nano, span.end_time_unix_nano
    return span.span_id.hex(), span.parent_span_id.hex(), span.name, int(span.kind), times, about, int(span.status.code)


def test_the_spans_of_an_agents_run_are_those_that_its_file_has(collector: Collector, tmp_path: Path) -> None:
    task = open_suite("house").tasks(3, 1)[0]
    site = errand.Site("house", tmp_path, lasting=False)
    site.reset(task)
    model = ScriptedModel(errand.script(site, errand.oracle("house", task)), 1)
    with bt.Run(
        bt.load("reactree"), inputs={"goal": task.goal}, world=site, task=task, model=model, clock=bt.clock.Manual(),
        journal=tmp_path, seed=3,
    ) as run:  # fmt: skip
        run.follow(otlp.Otlp(collector.url))
        run.spin(ticks=5000)
    assert run.parts.journal is not None and run.parts.journal.path is not None
    file = [
        (s.id, s.parent, s.name, s.kind, (int(s.start * 1e9), int(max(s.end, s.start) * 1e9)), dict(s.about), s.status)
        for s in spans_of(lines(Recording(run.parts.journal.path)))
    ]
    sent = [plain(span) for span in collector.spans()]
    assert sorted(map(repr, sent)) == sorted(map(repr, file)) and len({span[0] for span in sent}) == len(sent)
    assert len({span.trace_id for span in collector.spans()}) == 1
    told = [span[5] for span in sent]
    assert {about.get(OPERATION) for about in told} >= {"invoke_agent", "text_completion", "execute_tool"}
    assert any(about.get(OUTPUT_TOKENS, 0) for about in told) and any(NODE in about for about in told)


def test_what_the_environment_says_of_the_sdk_holds(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-who=me")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "robot-7")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "site=hall")
    from bt_runtime.journal import Recorder

    with bt.Run(bt.load(WAITS), clock=bt.clock.Manual(), journal=Recorder(None)) as run:
        run.follow(otlp.Otlp("env"))
        run.spin()
    resource = {a.key: a.value.string_value for a in collector.requests[0].resource_spans[0].resource.attributes}
    assert resource["service.name"] == "robot-7" and resource["site"] == "hall"
    headers = {key.lower(): value for key, value in collector.headers[0].items()}
    assert headers["x-who"] == "me" and headers["content-encoding"] == "gzip"
    assert [s.name for s in collector.spans()][-1] == "run t" and len(collector.spans()) == 4


def test_a_run_that_a_fleets_agent_has_started_says_whose_it_is(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its spans have the robot as `service.instance.id`, so that robots of one service name are told apart."""
    monkeypatch.setenv("BTR_FLEET_ROBOT", "r7")
    from bt_runtime.journal import Recorder

    with bt.Run(bt.load(WAITS), clock=bt.clock.Manual(), journal=Recorder(None)) as run:
        run.follow(otlp.Otlp(collector.url))
        run.spin()
    resource = {a.key: a.value.string_value for a in collector.requests[0].resource_spans[0].resource.attributes}
    assert (resource["service.instance.id"], resource["service.name"]) == ("r7", "bt_runtime")


def test_a_collector_that_answers_nobody_delays_no_tick_and_the_end_by_a_bound(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bt_runtime.journal import Recorder

    monkeypatch.setattr(spool, "EVERY", 0.01)
    monkeypatch.setattr(spool, "PATIENCE", 0.2)
    collector.hold.clear()
    heard: list[str] = []
    tree = bt.load("version: 1\ntree: t\nroot: {repeat: {times: -1, child: {wait: 0.01}}}\n")
    with bt.Run(tree, clock=bt.clock.Manual(), journal=Recorder(None)) as run:
        run.listen(lambda notice: heard.append(notice.text), Notice)
        run.follow(otlp.Otlp(collector.url))
        assert run.tick().running
        run.spin(ticks=10)
        assert collector.asked.wait(60)  # its request hangs now
        run.spin(ticks=2000)
        assert run.parts.engine.count >= 2000
        ending = time.monotonic()
    assert time.monotonic() - ending < 30  # without the bound: a minute
    assert any("entries were left out" in text for text in heard)


def test_nobody_at_the_address_is_said_once_and_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    from bt_runtime.journal import Recorder

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    heard: list[str] = []
    with bt.Run(bt.load(WAITS), clock=bt.clock.Manual(), journal=Recorder(None)) as run:
        run.listen(lambda notice: heard.append(notice.text), Notice)
        run.follow(otlp.Otlp("http://127.0.0.1:9"))
        assert run.spin() is bt.Status.SUCCESS
    assert len([text for text in heard if "did not take 4 spans" in text]) == 1, heard


def test_there_is_no_collector_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BtError, match="is not set"):
        otlp.Otlp("env")
    with pytest.raises(BtError, match="no address"):
        otlp.Otlp("localhost:4318")
