"""A journal as plain values, in the order in which things happened: what exports, pages and scores read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bt_runtime.journal.layout import STATUS, changes_of
from bt_runtime.journal.reading import Recording

_HEAD = (
    "name",
    "tree",
    "file",
    "text",
    "digest",
    "inputs",
    "seed",
    "model",
    "task",
    "versions",
    "started",
    "clock",
    "began",
)


def first(head: Mapping[str, Any], damage: str = "") -> dict[str, Any]:
    """Returns the line that describes the run's components."""
    return {"kind": "run", **{key: head.get(key) for key in _HEAD}, "damage": damage}


def changed(changes: Iterable[tuple[int, str]], paths: Mapping[int, str]) -> list[list[str]]:
    """[path, status] in the order in which they came; letters of resets are passed over."""
    return [[paths.get(number, "?"), STATUS[letter]] for number, letter in changes if letter in STATUS]


def lines(recording: Recording) -> Iterator[dict[str, Any]]:
    """`run` first, then nodes as they come, events and status changes by tick. Bounded as `Recording.of` is."""
    yield first(recording.head, recording.damage)
    paths = {row.number: row.path for row in recording.nodes}
    nodes = iter(recording.nodes)
    entries = recording.of()
    row, entry = next(nodes, None), next(entries, None)
    for tick in sorted({*recording.ticks, *(e.tick for e in recording.events), *(n.tick for n in recording.nodes)}):
        while row is not None and row.tick <= tick:
            yield {"kind": "node", "tick": row.tick, "number": row.number, "path": row.path, "is": row.kind}
            row = next(nodes, None)
        while entry is not None and entry[0].tick <= tick:
            event, body = entry
            yield {"kind": event.kind, "tick": event.tick, "at": event.at, "what": body}
            entry = next(entries, None)
        if tick in recording.ticks:
            changes = changed(changes_of(recording.ticks[tick])[0], paths)
            yield {"kind": "status", "tick": tick, "at": recording.times[tick], "what": {"changes": changes}}
