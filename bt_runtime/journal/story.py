"""Tells a recorded run as a story: a line for each event of interest."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.format import visible

SHOWN = {
    "step": ("move", "text", "observation"), "end": ("why", "detail"), "expand": ("plan",), "refused": ("codes",),
    "begin": ("sentence",), "in doubt": ("sentence", "then", "why"), "write": ("name", "value"),
    "change": ("how", "text"), "halt": ("by", "reason"), "crash": ("message",), "log": ("level", "text"),
    "result": ("status",), "verdict": ("met", "total"), "resumed": ("tick",), "retrieval": ("why",),
    "labels": ("name", "labels"),
    "debug": ("do", "moment", "condition", "acts", "which", "text"),
}  # fmt: skip


def told(recording: Recording) -> Iterator[str]:
    """Yields the head of a run, then its events with the ticks in which they happened."""
    head = recording.head
    yield visible(f"{recording.name}  {recording.result or 'not ended'}, {recording.last_tick} ticks")
    yield visible(f"tree {head['tree']} ({head['file']}), inputs {json.dumps(head['inputs'])}, seed {head['seed']}")
    if recording.damage:
        yield visible(f"damaged: {recording.damage}; what follows is whole")
    for event, body in recording.of(*SHOWN):
        yield f"{event.tick:>6}  {_line(event.kind, body)}"


def _line(kind: str, body: dict[str, object]) -> str:
    """Describes one event on one line."""
    place = f"{body.get('path', '')}: " if body.get("path") else ""
    values = [value for key in SHOWN[kind] if (value := body.get(key)) not in (None, "")]
    said = " · ".join(", ".join(map(str, each)) if isinstance(each, list) else str(each) for each in values)
    line = " ".join(f"{kind} {place}{said}".split())
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)  # models write escape codes
    return clean if len(clean) <= 200 else f"{clean[:199]}…"
