"""Which worked examples an agent is shown in a measurement: none, the planner's, and two controls."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import bt_runtime as bt
from bt_runtime.agents.actions import Actions
from bt_runtime.agents.backchain import at_run_time
from bt_runtime.agents.backchain.shown import Worked
from bt_runtime.agents.scripted import ScriptedModel
from recipes.facts.trade import Data, Trade

HOW = ("none", "planned", "other", "shuffled")
ACTING = "version: 1\ntree: acting\nroot: {agent: {goal: Do it}}\n"


class Examples:
    """The planner's examples, or a control: those of another trade (`other`), or the same goals over acts that are
    dealt out anew among the examples (`shuffled`). Remembers those that were shown last."""

    def __init__(self, how: str, other: Data) -> None:
        self.how, self.now = how, list[Worked]()
        self.run = bt.Run(bt.load(ACTING, skills=Trade(other).skills()), model=ScriptedModel([]))
        node: Any = self.run.parts.engine.root
        self.others = Actions(node)

    @contextmanager
    def shown(self) -> Iterator[Examples]:
        planner: Any = at_run_time
        real, planner.worked = planner.worked, self.worked
        self.real = real
        try:
            yield self
        finally:
            planner.worked = real
            self.run.close()

    def worked(self, actions: Actions, goal: str, count: int, seed: int) -> list[Worked]:
        if self.how == "none":
            return []
        made = self.real(self.others if self.how == "other" else actions, goal, count, seed)
        self.now = shuffled(made, seed) if self.how == "shuffled" else made
        return self.now


def shuffled(made: Sequence[Worked], seed: int) -> list[Worked]:
    acts = [act for each in made for act in each.acts]
    random.Random(seed).shuffle(acts)
    dealt = iter(acts)
    return [each._replace(acts=tuple(islice(dealt, len(each.acts)))) for each in made]
