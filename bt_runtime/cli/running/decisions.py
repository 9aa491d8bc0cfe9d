"""Prints every decision of a run as a line, indented by the depth of its goal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.agents.plan_text import Do, Group, Part, PlannedAct, PlannedFail, Unreadable, read_plan
from bt_runtime.agents.story import ACT, OPENINGS
from bt_runtime.cli.running.goals import JOINED, shortened
from bt_runtime.events import NAMES, AgentEvent, body
from bt_runtime.language.faults.format import visible
from bt_runtime.run.run import Run

WIDTH = 79
_DEEPEST = 16  # columns of indent, however deep the tree


class Decisions:
    """Listens to a run's events; `goal` is the whole run's, which has been told before."""

    def __init__(self, run: Run, goal: str, write: Callable[[str], None]) -> None:
        self.run, self.write = run, write
        self.goal = 0, goal  # whose decisions are being told, and how deep it lies

    def event(self, event: AgentEvent) -> None:
        name, what = NAMES[type(event)], body(event)
        if name not in ("step", "expand", "refused", "end"):
            return
        node = self.run.parts.engine.find(what["path"])
        if not isinstance(node, ModelNode):
            return
        if name == "end" and what["why"] == "expanded":
            return  # its parts have printed it
        depth = len(node.agents_above())
        if (depth, node.goal) != self.goal:
            self.goal = depth, node.goal
            self.say(depth, f"* {node.goal}")
        for line in _told(name, what):
            self.say(depth, f"  {line}")

    def say(self, depth: int, text: str) -> None:
        indent = " " * min(2 * depth, _DEEPEST)
        self.write(indent + shortened(visible(text), WIDTH - len(indent), "..."))


def _told(name: str, what: dict[str, Any]) -> list[str]:
    if name == "step":
        if what["move"] == "expand":
            return []  # `expand` or `refused` tells it
        opening = next(opening for opening, move in OPENINGS.items() if move == what["move"])
        return [f"{opening} {what['text']}"]
    if name == "expand":
        return _plan(what["plan"])
    if name == "refused":
        return [f"a plan that cannot be used: {', '.join(what['codes'])}"]
    if what["why"] in ("done", "failure"):
        return [f"{ACT} {what['why']}"]
    return [f"ended: {what['why']} ({what['detail']})" if what["detail"] else f"ended: {what['why']}"]


def _plan(text: str) -> list[str]:
    try:
        plan = read_plan(text, None)
    except Unreadable:
        return []
    return _group(plan, "Expand: ")


def _group(plan: Group, before: str) -> list[str]:
    lines = [f"{before}{JOINED[plan.control]}"]
    for part in plan.parts:
        lines += [f"  {line}" for line in _part(part)]
    return lines


def _part(part: Part) -> list[str]:
    if isinstance(part, Group):
        return _group(part, "- ")
    if isinstance(part, Do):
        return [f"- {part.text}"]
    before = "act: " if isinstance(part, PlannedAct) else "fail: " if isinstance(part, PlannedFail) else ""
    return [f"- {before}{part[0]}"]


def folded(text: str, indent: str = "") -> str:
    """Folds a text to the lines of a terminal."""
    return textwrap.fill(visible(" ".join(text.split())), WIDTH, initial_indent=indent, subsequent_indent=indent)
