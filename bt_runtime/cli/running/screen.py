"""Draws a run as lines of text that fit the window: a head, the tree, and the active agent's last steps."""

from __future__ import annotations

from typing import Any

from bt_runtime.cli.running.outline import drawn
from bt_runtime.cli.running.row_renderer import FINE, RowRenderer, clipped
from bt_runtime.language.faults.format import visible
from bt_runtime.run.view.event import WORDS
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.types import Json


def summary(picture: PagePicture) -> dict[str, Json]:
    start, over = picture.latest.get("start", {}), picture.latest.get("over")
    spent = picture.latest.get("spent", {})
    running = [picture.path(s) for s in picture.spots.values() if s.status == "R" and not s.children]
    return {
        "run": start.get("run", ""), "tree": start.get("tree", ""),
        "status": _status(picture), "over": over is not None,
        "tick": picture.tick, "seconds": round(picture.time, 3), "nodes": len(picture.spots),
        "decisions": spent.get("decisions", 0), "tokens": spent.get("tokens", 0), "actions": spent.get("steps", 0),
        "running": sorted(running), "verdict": over.get("verdict") if over else None,
    }  # fmt: skip


def _status(picture: PagePicture) -> str:
    over, top = picture.latest.get("over"), picture.top
    return WORDS[over["status"] if over else top.status if top else "I"]


def screen(picture: PagePicture, lines: int, width: int, color: bool) -> list[str]:
    about, face = summary(picture), RowRenderer(FINE, color)
    figures = f"tick {about['tick']}  {about['seconds']:.1f} s  {about['nodes']} nodes"
    if about["decisions"]:
        figures += f"  {about['decisions']} decisions  {about['tokens']} tokens  {about['actions']} actions"
    head = f"{visible(str(about['tree']))}  {about['status']}  {figures}"
    steps = [*_failed(picture), *_steps(picture, min(6, lines // 4))]
    room = max(1, lines - 1 - (len(steps) + 1 if steps else 0))
    out = [clipped(head, width), *(face.line(picture, row, width) for row in drawn(picture, room))]
    return [*out, *(["", *(clipped(step, width) for step in steps)] if steps else [])]


def _failed(picture: PagePicture) -> list[str]:
    over = picture.latest.get("over", {})
    if over.get("status") != "F" or not over.get("path"):
        return []
    return [visible(f"failed at {over['path']}" + (f": {over['why']}" if over.get("why") else ""))]


def _steps(picture: PagePicture, most: int) -> list[str]:
    """The latest steps of the agent that reported last."""
    latest = max(picture.told.values(), key=lambda told: told[-1]["t"], default=None)
    if latest is None or most < 1:
        return []
    steps = [e for e in latest if e["what"] in ("step", "end")][-most:]
    return [_said(e) for e in steps]


def _said(event: dict[str, Any]) -> str:
    if event["what"] == "end":
        said = f"ended: {event.get('why', '')} {event.get('detail', '')}"
    else:
        seen = f"  → {event['observation']}" if event.get("observation") else ""
        said = f"{event.get('move', '')}: {event.get('text', '')}{seen}"
    return visible(" ".join(said.split()))
