"""Describes what a running tree is waiting for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py_trees.behaviour import Behaviour

from bt_runtime.run.debug.script import Double
from bt_runtime.run.run import Run
from bt_runtime.testing.script import Scripted
from bt_runtime.tree.describe.gist import family_of, gist, kind_of
from bt_runtime.tree.node import RUNNING, TRANSPARENT, Node, path_of, segment_of

MOST = 8  # leaves that are named


class StillRunning(AssertionError):
    """Raised when a tree has not ended in its time, or cannot end."""


def leaves(run: Run) -> list[Behaviour]:
    """Returns the running nodes without running children."""
    found = [node for node in run.nodes() if node.status is RUNNING]
    return [node for node in found if not any(child.status is RUNNING for child in node.children)]


def has_own_life(node: Behaviour) -> bool:
    """True when something other than the clock can end the node: a real skill or a model."""
    if family_of(node) == "agent":
        return True
    return family_of(node) == "skill" and not isinstance(getattr(node, "target", None), Scripted)


def still_running(run: Run, why: str, began: Mapping[str, float], hint: str) -> str:
    found = leaves(run)
    lines = [f"  {path_of(node)}  {_told(node, began)}" for node in found[:MOST]]
    if len(found) > MOST:
        lines.append(f"  … and {len(found) - MOST} more")
    return "\n".join([f"`{run.parts.tree.spec.name}` {why}; still running:", *lines, hint])


def _told(node: Behaviour, began: Mapping[str, float]) -> str:
    since = began.get(path_of(node))
    parts = [_waits(node), node.feedback_message if has_own_life(node) else ""]
    parts += [f"since {since:g} s" if since is not None else ""]
    return f"{f'{kind_of(node)} {gist(node)}'.strip()}: {', '.join(part for part in parts if part)}"


def _waits(node: Behaviour) -> str:
    part: Any = node if isinstance(node, Double) else getattr(node, "target", None)
    if isinstance(part, Scripted | Double):
        return "scripted to run for ever" if part.left < 0 else f"scripted to run for {part.left} more ticks"
    if has_own_life(node):
        return "its own implementation runs"
    return (node.explain() if isinstance(node, Node) else "") or "waits"


def stands_for(node: Behaviour) -> bool:
    """True for a guard, which shares its path with the node inside it."""
    return bool(node.children) and segment_of(node.children[0]) == TRANSPARENT
