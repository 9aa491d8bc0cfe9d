"""Prints a run's progress: log lines, changes of the tree's shape, nodes that crashed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from bt_runtime.agents.story import OPENINGS
from bt_runtime.tree.node import path_of

if TYPE_CHECKING:
    from bt_runtime.events import Crash, Line, Stepped, Tick

LEVELS = ("debug", "info", "warning", "error")


class LogLines:
    """Writes lines from a level on; `debug` adds every change of a node's status."""

    def __init__(self, write: Callable[[str], None], level: str) -> None:
        self.write = write
        self.least = LEVELS.index(level)
        self.started = time.monotonic()

    def log(self, line: Line) -> None:
        self.say(line.level, line.path, line.text)

    def broke(self, crash: Crash) -> None:
        self.say("error", crash.path, f"broke: {crash.message}")

    def stepped(self, step: Stepped) -> None:
        """Tells an agent's action and what came of it; its thoughts with `debug`."""
        level = "info" if step.move == "act" else "debug"
        opening = next((said for said, move in OPENINGS.items() if move == step.move), step.move)
        self.say(level, step.path, f"{opening} {step.text} -> {' '.join(step.observation.split())}")

    def tick(self, tick: Tick) -> None:
        for graft in tick.grafts:
            self.say(
                "info", graft.path, {"insert": "a child was put in", "grow": "grew"}.get(graft.how, f"{graft.how}d")
            )
        if self.least == 0:
            for node, status in tick.changes:
                said = f"{status.name} {node.feedback_message}".rstrip()
                self.say("debug", path_of(node), said)
            for node, halt in tick.halts:
                self.say("debug", path_of(node), f"halted by {halt.by}: {halt.reason}")

    def say(self, level: str, path: str, text: str) -> None:
        if LEVELS.index(level) >= self.least:
            mark = "" if level == "info" else f"{level}: "
            self.write(f"{time.monotonic() - self.started:6.2f}  {path}  {mark}{text}")
