"""A run as lines of text, as many as there is room for: what runs first, then what has run."""

from __future__ import annotations

from typing import Any

from bt_runtime.faults.format import visible
from bt_runtime.types import Json
from bt_runtime.view.event import WORDS
from bt_runtime.view.picture import Picture, Spot

SIGNS = {"R": "●", "S": "✓", "F": "✗", "I": "·"}
COLORS = {"R": "34", "S": "32", "F": "31", "I": "2"}


def summary(picture: Picture) -> dict[str, Json]:
    start, over = picture.latest.get("start", {}), picture.latest.get("over")
    spent = picture.latest.get("spent", {})
    running = [path(picture, s) for s in picture.spots.values() if s.status == "R" and not s.children]
    return {
        "run": start.get("run", ""), "tree": start.get("tree", ""),
        "status": status_of(picture), "over": over is not None,
        "tick": picture.tick, "seconds": round(picture.time, 3), "nodes": len(picture.spots),
        "decisions": spent.get("decisions", 0), "tokens": spent.get("tokens", 0), "actions": spent.get("steps", 0),
        "running": sorted(running), "verdict": over.get("verdict") if over else None,
    }  # fmt: skip


def status_of(picture: Picture) -> str:
    over = picture.latest.get("over")
    root = next((s for s in picture.spots.values() if s.parent not in picture.spots), None)
    return WORDS[over["status"] if over else root.status if root else "I"]


def path(picture: Picture, spot: Spot) -> str:
    segments: list[str] = []
    at: Spot | None = spot
    while at is not None:
        if at.row[2] != ".":
            segments.append(str(at.row[2]))
        at = picture.spots.get(at.parent)
    return "/" + "/".join(reversed(segments))


def screen(picture: Picture, lines: int, width: int, color: bool) -> list[str]:
    """A head, the tree, what the agent at work did last."""
    about = summary(picture)
    figures = f"tick {about['tick']}  {about['seconds']:.1f} s  {about['nodes']} nodes"
    if about["decisions"]:
        figures += f"  {about['decisions']} decisions  {about['tokens']} tokens  {about['actions']} actions"
    head = f"{visible(str(about['tree']))}  {about['status']}  {figures}"
    steps = _steps(picture, min(6, lines // 4))
    room = max(1, lines - 1 - (len(steps) + 1 if steps else 0))
    out = [_cut(head, width), *(_painted(picture, row, width, color) for row in rows(picture, room))]
    return [*out, *(["", *(_cut(s, width) for s in steps)] if steps else [])]


def rows(picture: Picture, room: int) -> list[tuple[int, Spot | None, int]]:
    """(depth, node, hidden below); no node: so many are left out here. What runs is opened first."""
    tops = [s for s in picture.spots.values() if s.parent not in picture.spots]
    opened: set[int] = set()
    used, level = len(tops), sorted(tops, key=_rank)
    while level:
        spot = level.pop(0)
        if not spot.children or used + min(len(spot.children), 3) > room:
            continue
        opened.add(spot.id)
        used += min(len(spot.children), room - used)
        level += [c for c in map(picture.spots.get, spot.children) if c is not None]
        level.sort(key=_rank)
    out: list[tuple[int, Spot | None, int]] = []
    todo = [(0, s) for s in reversed(tops)]
    while todo:
        depth, spot = todo.pop()
        below = [c for c in map(picture.spots.get, spot.children) if c is not None]
        out.append((depth, spot, 0 if spot.id in opened else len(below)))
        if spot.id in opened:
            todo += [(depth + 1, c) for c in reversed(below)]
    if len(out) <= room:
        return out
    return _around(out, room)


def _around(out: list[tuple[int, Spot | None, int]], room: int) -> list[tuple[int, Spot | None, int]]:
    """The part of too many rows in which something runs."""
    at = next((i for i in range(len(out) - 1, -1, -1) if (s := out[i][1]) is not None and s.status == "R"), 0)
    first = max(0, min(at - room // 2, len(out) - room))
    part = out[first : first + room]
    if first and room > 2:
        part[0] = (part[0][0], None, first + 1)
    if first + room < len(out) and room > 2:
        part[-1] = (part[-1][0], None, len(out) - first - room + 1)
    return part


def _rank(spot: Spot) -> int:
    return "RFSI".index(spot.status)


def _painted(picture: Picture, row: tuple[int, Spot | None, int], width: int, color: bool) -> str:
    depth, spot, hidden = row
    if spot is None:
        return _cut(f"{'  ' * depth}… {hidden} more", width)
    kind, name, gist = str(spot.row[3]), str(spot.row[5]), str(spot.row[6])
    goal = picture.goals.get(spot.id)
    gist = str(goal["goal"]) if goal is not None else gist
    about = "  ".join(dict.fromkeys(visible(t) for t in (name, gist, spot.feedback) if t))
    text = f"{'  ' * depth}{SIGNS[spot.status]} {visible(kind)}  {about}" + (f"  (+{hidden})" if hidden else "")
    text = _cut(text.replace("\n", " "), width)
    return f"\x1b[{COLORS[spot.status]}m{text}\x1b[0m" if color else text


def _steps(picture: Picture, most: int) -> list[str]:
    """Of the agent that told something last."""
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


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"
