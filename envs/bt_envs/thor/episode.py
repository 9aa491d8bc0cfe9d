"""Plays one task on a stage, and answers the world's requests in the process that owns the stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bt_envs.thor import facts
from bt_envs.thor.full import FullView
from bt_envs.thor.goals import Goal, GoalState, verdict
from bt_envs.thor.hands import Hands
from bt_envs.thor.partial import PartialView
from bt_envs.thor.stage import Frame, Stage
from bt_runtime.types import Json, Observation, Verdict

ViewName = Literal["partial", "full"]


class Episode:
    def __init__(self, stage: Stage, view: ViewName) -> None:
        self.stage = stage
        self.hands = Hands(stage)
        self.view = FullView(self.hands) if view == "full" else PartialView(self.hands)
        self.goal: Goal | None = None

    def reset(self, setup: Mapping[str, Json]) -> Observation:
        self.goal = Goal(**setup["goal"]) if setup.get("goal") else None
        self.hands.begin(setup)
        named = (self.goal.object, self.goal.toggle, self.goal.movable) if self.goal is not None else ()
        return self.view.begin(setup["kind"], named)

    def look(self) -> Observation:
        return self.view.look()

    def act(self, sentence: str) -> Observation:
        return self.view.act(sentence)

    def replay(self, setup: Mapping[str, Json], deeds: list[str]) -> Observation:
        """Restores the state to which these sentences lead."""
        seen = self.reset(setup)
        for sentence in deeds:
            seen = self.act(sentence)
        return seen

    def skills(self) -> list[str]:
        return self.view.skills()

    def holds(self, fact: str) -> bool | None:
        return facts.holds(self.view, fact)

    def verdict(self) -> Verdict:
        if self.goal is None:
            return Verdict(0, 0)
        return verdict(self.goal, GoalState(self.hands.objects, self.hands.held, self.hands.tracked))

    def survey(self) -> dict[str, Any]:
        """The full state, for oracles: every object, what is held, the objects' names, and the robot's possible
        positions."""
        names = self.view.numbers if isinstance(self.view, PartialView) else {}
        return {
            "objects": {i: dict(entry) for i, entry in self.hands.objects.items()},
            "held": self.hands.held,
            "numbers": dict(names),
            "seen": sorted(self.view.seen) if isinstance(self.view, PartialView) else [],
            "stands": list(self.hands.stands),
        }

    def frame(self) -> Frame | None:
        return self.stage.frame()

    def close(self) -> None:
        self.stage.close()
