"""The robot's actions on a stage: each on one object by its id, with one success or failure, and no text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bt_envs.alfred import kinds
from bt_envs.thor.choice import Object, is_basin
from bt_envs.thor.stage import Outcome, Stage
from bt_envs.thor.tracking import Tracked
from bt_runtime.types import Json

NEAR = 1.0  # nearer than this and visible: there is no need to move
TRIES = 20  # places to try before giving up on a thing
CAMERA = 1.575  # height of the camera above the floor, metres
# Where else to stand when physics refuses, in turn.
NUDGES: Sequence[Sequence[str]] = (
    (),
    ("MoveBack",),
    ("MoveBack", "MoveRight"),
    ("MoveLeft", "MoveLeft"),
    ("LookUp",),
    ("LookDown", "LookDown"),
)


class Hands:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.objects: dict[str, Object] = {}
        self.held: str | None = None
        self.tracked = Tracked()
        self.error = ""  # why the last action failed, as the simulator says it
        self.stands: list[tuple[float, float, float]] = []

    def begin(self, setup: Mapping[str, Json]) -> None:
        self.tracked = Tracked()
        outcome = self.stage.load(setup)
        if outcome.answer is None:  # our player tells where one can stand without being asked
            outcome = self.stage.step("GetReachablePositions")
        self._take_in(outcome)
        self.stands = [(p["x"], p["y"], p["z"]) for p in outcome.answer or ()]

    def _take_in(self, outcome: Outcome) -> None:
        self.objects = {entry["objectId"]: entry for entry in outcome.metadata["objects"]}
        held = outcome.metadata["inventoryObjects"]
        self.held = held[0]["objectId"] if held else None
        self.error = outcome.error

    def do(self, action: str, target: str = "", **arguments: Any) -> bool:
        """Performs one simulator action, and keeps clean, hot and cold up to date."""
        if target:
            arguments["objectId"] = target
        outcome = self.stage.step(action, **arguments)
        self._take_in(outcome)
        if outcome.ok:
            self.tracked.saw(action, target, self.objects)
        return outcome.ok

    def _insist(self, action: str, target: str, **arguments: Any) -> bool:
        """Tries the action again from other positions, if the stage has physics."""
        for moves in NUDGES if self.stage.physical else ((),):
            for move in moves:
                self.do(move)
            if self.do(action, target, **arguments):
                return True
        return False

    def go_to(self, target: str) -> bool:
        """Goes to the nearest position and faces the object."""
        entry = self.objects[target]
        if entry["visible"] and entry["distance"] < NEAR:
            return True
        goal = entry["position"]
        near_first = sorted(self.stands, key=lambda s: math.dist(s, (goal["x"], goal["y"], goal["z"])))
        for x, y, z in near_first[:TRIES]:
            dx, dz = goal["x"] - x, goal["z"] - z
            turn = math.degrees(math.atan2(dx, dz)) % 360.0
            down = -0.9 * math.degrees(math.atan2(goal["y"] - CAMERA, max(math.hypot(dx, dz), 0.01)))
            horizon = min(max(down, -30.0), 60.0)
            if self.do("TeleportFull", x=x, y=y, z=z, rotation=turn, horizon=horizon, standing=True):
                return True
        return False

    def pick_up(self, target: str) -> bool:
        return self.do("PickupObject", target, forceAction=False, manualInteract=False)

    def put(self, receptacle: str) -> bool:
        return self._insist("PutObject", receptacle, forceAction=True, placeStationary=True)

    def drop(self) -> bool:
        return self.do("DropHandObject", forceAction=True)

    def open(self, target: str) -> bool:
        return self._insist("OpenObject", target)

    def close(self, target: str) -> bool:
        return self.do("CloseObject", target)

    def turn_on(self, target: str) -> bool:
        return self.do("ToggleObjectOn", target)

    def turn_off(self, target: str) -> bool:
        return self.do("ToggleObjectOff", target)

    def slice(self, target: str) -> bool:
        """Slices an object only with a knife in hand, as ALFRED requires; the simulator itself does not."""
        if self.held is None or self.objects[self.held]["objectType"] not in kinds.KNIVES:
            self.error = "there is no knife in the hand"
            return False
        return self.do("SliceObject", target)

    def basin_of(self, target: str) -> str:
        """Returns the basin of a sink or tub; any other object is returned unchanged."""
        if is_basin(self.objects[target]):
            return target
        mine = (i for i, e in self.objects.items() if i.startswith(f"{target}|") and is_basin(e))
        return next(mine, target)
