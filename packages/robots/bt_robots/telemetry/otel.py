"""A run as OpenTelemetry spans, in the OTLP/JSON form that collectors read from a file. No SDK is needed for it.

All names of the GenAI conventions stand here, since they are still moving.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language.project import disk

OPERATION, AGENT, MODEL, TOOL = "gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.request.model", "gen_ai.tool.name"
OUTPUT_TOKENS, SYSTEM = "gen_ai.usage.output_tokens", "gen_ai.provider.name"
INVOKE_AGENT, TEXT, EXECUTE_TOOL = "invoke_agent", "text_completion", "execute_tool"
NODE = "bt.node"  # the path of a node that ran
INTERNAL, CLIENT, OK, ERROR = 1, 3, 1, 2
SCOPE = SERVICE = "bt_runtime"


class Span(NamedTuple):
    name: str
    id: str
    parent: str
    kind: int
    start: float
    end: float
    about: Mapping[str, Any]
    status: int = 0


def write(lines: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Writes the file; returns the number of spans written."""
    spans = list(spans_of(lines))
    trace = id_of(spans[0].about["bt.run"], 16) if spans else ""
    scope = {"scope": {"name": SCOPE}, "spans": [_plain(span, trace) for span in spans]}
    service = [_attribute("service.name", SERVICE)]
    whole = {"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [scope]}]}
    disk.write(path, json.dumps(whole, ensure_ascii=True) + "\n")
    return len(spans)


def spans_of(lines: Iterable[Mapping[str, Any]]) -> Iterator[Span]:
    """Returns the spans of a run: the run, nodes that ran for more than a tick, and agents with their questions and
    actions."""
    story = Story()
    for line in lines:
        story.read(line)
    yield from story.spans()


class Story:
    """Turns the lines of a run, from a file or live, into spans."""

    def __init__(self) -> None:
        self.nodes: dict[str, tuple[str, float]] = {}  # path → span id and start of a node that runs
        self.run: Mapping[str, Any] = {}
        self.last = 0.0
        self.result = ""
        self.agents: dict[str, tuple[str, float]] = {}  # path → span id and start of the agent at work there
        self.open: dict[int, tuple[Mapping[str, Any], float]] = {}  # job → what was begun, and when
        self.acting: dict[str, str] = {}  # sentence → the path of the agent that is about to do it
        self.done: list[Span] = []

    def read(self, line: Mapping[str, Any]) -> None:
        kind, what = line["kind"], line.get("what") or {}
        at = float(line.get("at") or line.get("started") or self.last)
        self.last = max(self.last, at)
        if kind == "run":
            self.run = line
        elif kind in ("ask", "begin"):
            path = str(what.get("path") or self.acting.pop(str(what.get("sentence")), ""))
            self.open[what["job"]] = ({**what, "path": path}, at)
            if kind == "ask":
                self.agents.setdefault(path, (self.new(path, at), at))
        elif kind in ("answer", "done") and what.get("job") in self.open:
            self.done.append(self.work(kind, what, at))
        elif kind == "act":
            self.acting[str(what["sentence"])] = str(what["path"])
        elif kind == "end":
            self.end(what, at)
        elif kind == "status":
            for path, status in what["changes"]:
                self.node(path, status, at)
        elif kind == "result":
            self.result = str(what["status"])

    def work(self, kind: str, what: Mapping[str, Any], at: float) -> Span:
        """Returns the span of an answered question or an ended action."""
        begun, start = self.open.pop(what["job"])
        value, failed = what.get("value"), "error" in what
        if kind == "answer":
            sort, good = CLIENT, 0
            about = {
                OPERATION: TEXT,
                SYSTEM: "bt_runtime",
                MODEL: begun.get("model", ""),
                "bt.ask": begun.get("what", ""),
            }
            if (tokens := _tokens(value)) is not None:
                about[OUTPUT_TOKENS] = tokens
        else:
            sort, good = INTERNAL, OK
            about = {OPERATION: EXECUTE_TOOL, TOOL: str(begun.get("sentence", ""))}
            failed = failed or (isinstance(value, list) and value[:1] == ["FAILURE"])
        name = f"{about[OPERATION]} {about[MODEL if kind == 'answer' else TOOL]}"
        parent, status = self.above(begun["path"], itself=True), ERROR if failed else good
        return Span(name, self.new("job", what["job"]), parent, sort, start, at, about, status)

    def end(self, what: Mapping[str, Any], at: float) -> None:
        path = str(what["path"])
        id, start = self.agents.pop(path, (self.new(path, at), at))
        why = str(what.get("why", ""))
        about = {OPERATION: INVOKE_AGENT, AGENT: path, "bt.goal": str(what.get("goal", "")), "bt.end": why}
        good = why in ("done", "expanded")
        self.done.append(
            Span(f"{INVOKE_AGENT} {path}", id, self.above(path), INTERNAL, start, at, about, OK if good else ERROR)
        )

    def node(self, path: str, status: str, at: float) -> None:
        """Handles a node's status. A guard and its node share a path and become one span."""
        if status == "RUNNING":
            self.nodes.setdefault(path, (self.new(f"node {path}", at), at))
        elif path in self.nodes:
            id, start = self.nodes.pop(path)
            over = path
            while (over := over.rpartition("/")[0]) and over not in self.nodes:
                pass
            parent = self.nodes[over][0] if over else self.new("run", 0)
            good = {"SUCCESS": OK, "FAILURE": ERROR}.get(status, 0)
            self.done.append(
                Span(f"node {path}", id, parent, INTERNAL, start, at, {NODE: path, "bt.status": status}, good)
            )

    def ended(self) -> list[Span]:
        """Returns the spans that ended since the last call."""
        found, self.done = self.done, []
        return found

    def above(self, path: str, itself: bool = False) -> str:
        """Returns the span of the nearest active agent at or above this path, else the run's."""
        while path:
            if itself and path in self.agents:
                return self.agents[path][0]
            itself, path = True, path.rpartition("/")[0]
        return self.new("run", 0)

    def new(self, what: str, which: object) -> str:
        """Returns a span's id, independent of its position: a resumed run may report spans in another order."""
        return id_of(f"{self.run.get('name')} {what} {which}", 8)

    def spans(self) -> Iterator[Span]:
        started = float(self.run.get("started") or self.last)
        about = {
            "bt.run": str(self.run.get("name", "")),
            "bt.tree": str(self.run.get("tree", "")),
            "bt.status": self.result,
        }
        status = {"SUCCESS": OK, "FAILURE": ERROR}.get(self.result, 0)
        yield Span(
            f"run {about['bt.tree']}", self.new("run", 0), "", INTERNAL, started, max(self.last, started), about, status
        )
        yield from self.done


def _tokens(value: Any) -> int | None:
    """Returns the tokens of a written text; None for a choice, which writes none."""
    if isinstance(value, dict) and value.get("$") == "writing" and isinstance(value.get("v"), list):
        return int(value["v"][-1]) if value["v"] and isinstance(value["v"][-1], int | float) else None
    return None


def _plain(span: Span, trace: str) -> dict[str, Any]:
    made = {
        "traceId": trace, "spanId": span.id, "name": span.name, "kind": span.kind,
        "startTimeUnixNano": str(int(span.start * 1e9)), "endTimeUnixNano": str(int(max(span.end, span.start) * 1e9)),
        "attributes": [_attribute(key, value) for key, value in span.about.items()], "status": {"code": span.status},
    }  # fmt: skip
    return {**made, "parentSpanId": span.parent} if span.parent else made


def _attribute(key: str, value: Any) -> dict[str, Any]:
    typed = {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}
    return {"key": key, "value": typed}


def id_of(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=size).hexdigest()
