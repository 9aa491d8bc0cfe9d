"""Sends a run's spans to a collector as they end, through OpenTelemetry's exporter; a file holds equal spans.

The SDK's environment variables apply: OTEL_EXPORTER_OTLP_*, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from bt_robots.recordings.spool import Spool
from bt_robots.telemetry.otel import SCOPE, SERVICE, Span, Story, id_of
from bt_runtime.journal.lines import Line, Say
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.run.monitor import Access, Monitor

if TYPE_CHECKING:
    from bt_runtime.run.run import Run

FROM_ENVIRONMENT = "env"
PATH = "/v1/traces"
MOST = 512  # spans of one request
_NAMED = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


class Otlp:
    """Follows a run: `run.follow(Otlp("http://127.0.0.1:4318"))`. A collector that does not answer delays no tick."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = checked(endpoint)
        self.story, self.failed = Story(), 0

    def begin(self, line: Line, say: Say) -> None:
        self.say, self.trace = say, id_of(line["name"], 16)
        self.exporter, self.made = exporter(self.endpoint), maker()
        self.spool = Spool(f"the collector at {self.endpoint or 'OTEL_EXPORTER_OTLP_ENDPOINT'}", self._work, self._end)
        self.spool.begin(line, say)

    def take(self, line: Line, size: int) -> None:
        self.spool.take(line, size)

    def close(self) -> None:
        self.spool.close()
        self.exporter.shutdown()
        if self.failed:
            self.say(f"{self.spool.name} did not take {self.failed:,} spans")

    def _work(self, lines: Sequence[Line]) -> None:
        for line in lines:
            self.story.read(line)
        self._send(self.story.ended())

    def _end(self) -> None:
        self._send(list(self.story.spans()))

    def _send(self, spans: Sequence[Span]) -> None:
        for at in range(0, len(spans), MOST):
            part = spans[at : at + MOST]
            if self.exporter.export([self.made(span, self.trace) for span in part]).name != "SUCCESS":
                self.failed += len(part)


def checked(endpoint: str) -> str:
    """Returns the complete address; "" when environment variables set it."""
    if endpoint == FROM_ENVIRONMENT:
        if not any(os.environ.get(name) for name in _NAMED):
            raise BtError(f"{_NAMED[1]} is not set", "set it, or name the collector: --otlp http://127.0.0.1:4318")
        return ""
    if not endpoint.startswith(("http://", "https://")):
        raise BtError(f"`{endpoint}` is no address of a collector", "for instance http://127.0.0.1:4318")
    return endpoint if endpoint.endswith(PATH) else endpoint.rstrip("/") + PATH


def exporter(endpoint: str) -> Any:
    with Extra("otel", "sending spans to a collector"):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    # it says of every attempt that failed; here that is counted, and said once
    logging.getLogger("opentelemetry.exporter").addHandler(logging.NullHandler())
    return OTLPSpanExporter(endpoint=endpoint or None)


def maker() -> Any:
    """Returns the function that converts a span and its trace to the SDK's span."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    about = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": SERVICE}
    if robot := os.environ.get("BTR_FLEET_ROBOT"):  # a run that a fleet's agent has started
        about["service.instance.id"] = robot
    resource = Resource.create(about)
    scope, kinds, codes = InstrumentationScope(SCOPE), list(SpanKind), list(StatusCode)

    def context(trace: str, span: str) -> Any:
        return SpanContext(int(trace, 16), int(span, 16), False, TraceFlags(TraceFlags.SAMPLED))

    def made(span: Span, trace: str) -> Any:
        return ReadableSpan(
            span.name,
            context(trace, span.id),
            context(trace, span.parent) if span.parent else None,
            resource,
            {key: value if isinstance(value, int) else str(value) for key, value in span.about.items()},
            kind=kinds[span.kind - 1],
            status=Status(codes[span.status]),
            start_time=int(span.start * 1e9),
            end_time=int(max(span.end, span.start) * 1e9),
            instrumentation_scope=scope,
        )

    return made


class Collected(Monitor):
    about = "send spans to this OpenTelemetry collector, http://HOST:4318; env: to OTEL_EXPORTER_OTLP_ENDPOINT"
    where, reads_journal = "ENDPOINT", True

    def open(self, run: Run, where: str, access: Access) -> AbstractContextManager[object]:
        run.follow(Otlp(where))
        return nullcontext()


OTLP = Collected()
