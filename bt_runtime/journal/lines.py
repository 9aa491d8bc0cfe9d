"""A journal as plain values, in the order in which things happened: what exports, pages and scores read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bt_runtime.journal.reading import Recording

_HEAD = ("name", "tree", "file", "text", "digest", "inputs", "seed", "model", "task", "versions", "started")


def lines(recording: Recording) -> Iterator[dict[str, Any]]:
    """`run` first, then nodes as they come, events and status changes by tick."""
    yield {"kind": "run", **{key: recording.head.get(key) for key in _HEAD}, "damage": recording.damage}
    paths = {row.number: row.path for row in recording.nodes}
    nodes = iter(recording.nodes)
    events = iter(recording.events)
    row, event = next(nodes, None), next(events, None)
    for tick in range(recording.last_tick + 1):
        while row is not None and row.tick <= tick:
            yield {"kind": "node", "tick": row.tick, "number": row.number, "path": row.path, "is": row.kind}
            row = next(nodes, None)
        while event is not None and event.tick <= tick:
            yield {"kind": event.kind, "tick": event.tick, "at": event.at, "what": recording.body(event)}
            event = next(events, None)
        if tick in recording.ticks:
            changes = [[paths.get(n, "?"), status] for n, status in recording.changes(tick)]
            yield {"kind": "status", "tick": tick, "at": recording.times[tick], "what": {"changes": changes}}
