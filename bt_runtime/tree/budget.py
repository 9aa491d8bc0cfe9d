"""Budgets: how much an agent node, and a whole run, may spend. An exhausted budget ends the node with its name."""

from __future__ import annotations

import math
from typing import NamedTuple

_COUNTED = ("steps", "decisions", "tokens", "nodes")


class Budget(NamedTuple):
    """Upper limits of spending; infinity means no limit."""

    steps: float = math.inf  # actions in the world
    decisions: float = math.inf  # choices and texts asked of a model
    tokens: float = math.inf  # written by a model
    seconds: float = math.inf
    depth: float = 20  # agents above one another
    nodes: float = 2000  # nodes that expansions may add
    width: int = 12  # parts of one expansion
    levels: int = 4  # control nodes within one expansion
    length: int = 200  # characters of a subgoal
    invalid: int = 3  # answers in a row that could not be used


class Spending:
    """Counts the spending of one node or of a whole run."""

    STATE = ("started", *_COUNTED, "seeds")

    def __init__(self, started: float = 0.0) -> None:
        self.started = started
        self.steps = self.decisions = self.tokens = self.nodes = 0
        self.seeds = 0  # decisions of nodes whose seeds hang on how many there were before

    def over(self, budget: Budget, now: float) -> str:
        """Returns the name of an exhausted budget, or ""."""
        for name in _COUNTED:
            if getattr(self, name) >= getattr(budget, name):
                return f"{name} {getattr(budget, name):g}"
        if now - self.started >= budget.seconds:
            return f"seconds {budget.seconds:g}"
        return ""

    def left(self, budget: Budget, now: float) -> float:
        """Returns the remaining share of the scarcest budget."""
        of: list[tuple[float, float]] = [(getattr(self, name), getattr(budget, name)) for name in _COUNTED]
        of.append((now - self.started, budget.seconds))
        return max(0.0, 1 - max(spent / allowed if allowed > 0 else 1.0 for spent, allowed in of))
