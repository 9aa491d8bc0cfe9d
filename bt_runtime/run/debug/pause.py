"""A pause between two ticks: its time limit, and what the run does when the limit passes."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

from py_trees.behaviour import Behaviour

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.tree.node import INVALID, RUNNING, path_of

Then = Literal["continue", "halt"]
LIMIT = 60.0  # seconds by the run's clock that a pause lasts without a word of whoever asked for it


class Pause:
    """A pause with a time limit, which restarts with every command: a dead client sends none."""

    def __init__(self) -> None:
        self.limit, self.then = LIMIT, "continue"
        self.on = False
        self.steps = 0  # ticks that may be made all the same
        self.until = math.inf  # moment when the pause lapses; set once the run stands

    def author(self, limit: float | None = None, then: Then | None = None) -> None:
        if limit is not None:
            if not limit > 0:
                raise BtError(f"a pause cannot last {limit} seconds", "give a number above 0; inf: for ever")
            self.limit = float(limit)
        if then is not None:
            if then not in get_args(Then):
                raise BtError(f"a run cannot `{then}` after a pause", "say continue or halt")
            self.then = then

    def begin(self) -> None:
        self.on, self.steps, self.until = True, 0, math.inf

    def end(self) -> None:
        self.on, self.steps, self.until = False, 0, math.inf

    def renew(self, now: float) -> None:
        if self.on:
            self.until = now + self.limit

    def held(self, now: float) -> float | None:
        """Returns the time until which ticks are held, or None to tick. Uses up a requested step."""
        if not self.on:
            return None
        if self.steps:
            self.steps -= 1
            return None
        if math.isinf(self.until):
            self.renew(now)
        return self.until


class PauseHit(NamedTuple):
    """A breakpoint was reached, or the node has ended that was stepped over."""

    path: str
    text: str


class StepOver:
    """Goes on until one node has ended."""

    def __init__(self, node: Behaviour) -> None:
        self.node, self.begun = node, node.status is RUNNING

    def ended(self) -> str:
        """Returns how the node has ended, "" while it has not."""
        self.begun = self.begun or self.node.status is not INVALID
        if not self.begun or self.node.status is RUNNING:
            return ""
        how = "was halted" if self.node.status is INVALID else f"has ended: {self.node.status.name}"
        return f"{path_of(self.node)} {how}"
