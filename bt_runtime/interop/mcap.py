"""A run as an MCAP file: statuses, events and blackboard writes as JSON messages, for Foxglove and its like."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bt_runtime.faults.diagnostic import MissingExtra

TOPICS = {
    "status": "/bt/status",
    "blackboard": "/bt/blackboard",
    "write": "/bt/blackboard",
    "unset": "/bt/blackboard",
    "node": "/bt/nodes",
}
OTHERS = "/bt/events"
_SCHEMA = {"type": "object", "properties": {"tick": {"type": "integer"}, "kind": {"type": "string"}}}


def write(lines: Iterable[Mapping[str, Any]], path: Path) -> int:
    """How many messages were written."""
    try:
        from mcap.writer import Writer
    except ImportError:
        raise MissingExtra("an MCAP export", "robot") from None
    count, at = 0, 0
    with path.open("wb") as out:
        writer = Writer(out)
        writer.start(profile="", library="bt_runtime")
        schema = writer.register_schema("bt_runtime.Event", "jsonschema", json.dumps(_SCHEMA).encode())
        channels = {
            topic: writer.register_channel(topic, "json", schema) for topic in sorted({*TOPICS.values(), OTHERS})
        }
        for line in lines:
            at = int(float(line.get("at") or line.get("started") or at / 1e9) * 1e9)
            channel = channels[TOPICS.get(str(line["kind"]), OTHERS)]
            writer.add_message(channel, at, json.dumps(line).encode(), at, count)
            count += 1
        writer.finish()
    return count
