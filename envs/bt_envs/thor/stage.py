"""Defines where actions are played: one protocol for the library and for a scene in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from bt_envs.alfred.room import from_json
from bt_envs.thor.actions import act
from bt_envs.thor.frame import draw
from bt_envs.thor.scene import Refusal, Scene
from bt_runtime.types import Json

SIDE = 300  # pixels of a frame
Metadata = Mapping[str, Any]


class Outcome(NamedTuple):
    metadata: Metadata
    ok: bool
    error: str
    answer: Any


class Gone(Exception):
    """Raised when the simulator has died or does not answer; the stage is then useless."""


class Frame(NamedTuple):
    width: int
    height: int
    rgb: bytes  # rows from the top


class Stage(Protocol):
    physical: bool  # a simulator with physics: a failed action is worth another try from another place

    def load(self, setup: Mapping[str, Json]) -> Outcome:
        """Loads a scene: `room` is a whole symbolic room, `scene` is ALFRED's data of a floor plan. Returns the
        reachable positions; None when they must be requested."""

    def step(self, action: str, **arguments: Any) -> Outcome: ...
    def frame(self) -> Frame | None:
        """Returns the current image of the robot's camera or of a view from above. None: frames were not requested."""

    def close(self) -> None: ...


class SceneStage:
    """Plays actions on a scene in this process, without the library or a child process. Tests, planning and many
    rooms in parallel use this stage."""

    physical = False

    def __init__(self) -> None:
        self.scene: Scene | None = None

    def load(self, setup: Mapping[str, Json]) -> Outcome:
        self.scene = Scene(from_json(setup["room"]))
        return self.step("GetReachablePositions")

    def step(self, action: str, **arguments: Any) -> Outcome:
        if self.scene is None:
            raise RuntimeError("load comes before step")
        error, answer = "", None
        try:
            answer = act(self.scene, {"action": action, **arguments})
        except Refusal as refusal:
            error = str(refusal)
        return Outcome(self.scene.metadata(), not error, error, answer)

    def frame(self) -> Frame | None:
        if self.scene is None:
            return None
        rgb = draw(self.scene, SIDE, SIDE)
        rows = [rgb[3 * SIDE * i : 3 * SIDE * (i + 1)] for i in range(SIDE)]
        return Frame(SIDE, SIDE, b"".join(reversed(rows)))

    def close(self) -> None:
        self.scene = None
