"""A recorded run as OpenTelemetry spans."""

from __future__ import annotations

import json

from bt_robots.telemetry.otel import AGENT, EXECUTE_TOOL, INVOKE_AGENT, NODE, OPERATION, TEXT
from bt_runtime.cli import main


def spans_of(journal, tmp_path):
    out = tmp_path / "run.json"
    assert (
        main(["runs", "export", journal.stem, "--runs", str(journal.parent), "--format", "otlp", "-o", str(out)]) == 0
    )
    (resource,) = json.loads(out.read_text())["resourceSpans"]
    return resource["scopeSpans"][0]["spans"]


def about(span):
    return {a["key"]: a["value"].get("stringValue", a["value"].get("intValue")) for a in span["attributes"]}


def test_every_question_and_action_is_a_span_below_the_agent_that_asked_and_agents_are_below_agents(
    errand_of, tmp_path
):
    spans = spans_of(errand_of("house", 3), tmp_path)
    by_id = {s["spanId"]: s for s in spans}
    assert len(by_id) == len(spans) and len({s["traceId"] for s in spans}) == 1
    root, *rest = spans
    assert "parentSpanId" not in root and root["status"]["code"] == 1
    assert all(s["parentSpanId"] in by_id for s in rest)
    nodes = [s for s in rest if NODE in about(s)]
    rest = [s for s in rest if NODE not in about(s)]
    for span in nodes:
        parent = by_id[span["parentSpanId"]]
        assert parent is root or about(span)[NODE].startswith(about(parent)[NODE] + "/")
        assert int(parent["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
    assert nodes
    kinds = [about(s).get(OPERATION) for s in rest]
    assert kinds.count(INVOKE_AGENT) == 4 and TEXT in kinds and EXECUTE_TOOL in kinds
    for span in rest:
        parent = by_id[span["parentSpanId"]]
        if about(span)[OPERATION] in (TEXT, EXECUTE_TOOL):
            assert about(parent)[OPERATION] == INVOKE_AGENT
        elif parent is not root:
            assert about(span)[AGENT].startswith(about(parent)[AGENT] + "/")
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
