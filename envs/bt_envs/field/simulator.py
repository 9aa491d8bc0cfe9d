"""Simulates the robot and its surroundings in equal steps.

The simulator has no clock: callers advance its time. Walkers, falling boxes and the followed target depend on time
alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from bt_envs.field import ground
from bt_envs.field.ground import CELL, DOCK, PLACES, RADIUS
from bt_envs.field.messages import Pose
from bt_runtime.types import Json

STEP = 0.05  # seconds
LATEST = 60.0  # seconds that are made up for at once; of a longer pause the rest has not been
FASTEST, TURNING = 1.0, 2.0  # metres and radians a second
SIGHT = 2.5  # metres: what is nearer is marked on the map, or wiped off it
SNAG = 0.35  # metres around a spot in which the wheels only slip forwards
AT = 0.4  # metres: so near it is at a place
MOVED = 0.25  # metres that count as getting on
IDLE, DRIVING, CHARGING = 0.0004, 0.006, 0.06  # share of the battery a second
LOOK = 0.2  # seconds between two looks of the laser


class Driver(Protocol):
    def control(self) -> tuple[float, float]:
        """Returns the speeds for the next step: metres and radians a second."""


@dataclass
class SimulatorState:
    """The simulator's whole state, as a snapshot stores it."""

    task: dict[str, Any] = field(default_factory=dict)
    t: float = 0.0
    x: float = PLACES[DOCK].x
    y: float = PLACES[DOCK].y
    yaw: float = math.pi
    battery: float = 1.0
    docked: bool = True
    gone: float = 0.0  # metres driven
    seen: list[str] = field(default_factory=list)  # places that it was at since the task began
    marks: list[int] = field(default_factory=list)  # cells of the map in which something was seen that is no wall
    freed: list[list[float]] = field(default_factory=list)  # snags that hold it no more


class Simulator:
    def __init__(self, state: SimulatorState) -> None:
        self.state = state
        self.speed = self.turning = 0.0
        self.driver: Driver | None = None
        self.wanted = False  # does somebody want it to move
        self.path: list[Pose] = []  # poses left of the path that it follows
        self.plans = 0
        self._seen_at = -math.inf
        self._rest = state.x, state.y, state.t  # where and when it last got on
        self._clock: float | None = None

    @property
    def pose(self) -> Pose:
        return Pose(self.state.x, self.state.y, self.state.yaw)

    @property
    def now(self) -> float:
        return self.state.t

    # Time --------------------------------------------------------------------------------------

    def until(self, clock: float) -> None:
        """Lets time pass as it has on that clock since the last look."""
        if self._clock is None:
            self._clock = clock
        late = min(clock - self._clock, LATEST)
        steps = int(late / STEP + 1e-6)
        self._clock = clock - (late - steps * STEP)
        for _ in range(steps):
            self.step()

    def step(self) -> None:
        state = self.state
        state.t = round(state.t + STEP, 6)
        driver = self.driver
        speed, turning = driver.control() if driver is not None else (0.0, 0.0)
        self.wanted = bool(speed or turning)
        if self.wanted and state.battery > 0 and not (state.docked and speed >= 0):
            self._move(speed, turning)
        else:
            self.speed = self.turning = 0.0
        used = CHARGING if state.docked else -(DRIVING * abs(self.speed) + IDLE)
        state.battery = min(1.0, max(0.0, state.battery + used * STEP))
        if math.hypot(state.x - self._rest[0], state.y - self._rest[1]) >= MOVED or not self.wanted:
            self._rest = state.x, state.y, state.t
        if state.t - self._seen_at >= LOOK:
            self.look()
        for name, place in PLACES.items():
            if name not in state.seen and name != DOCK and self.pose.far(place) < AT and not self.speed:
                state.seen.append(name)

    def _move(self, speed: float, turning: float) -> None:
        state = self.state
        self.turning = max(-TURNING, min(TURNING, turning))
        state.yaw = math.remainder(state.yaw + self.turning * STEP, math.tau)
        speed = max(-FASTEST, min(FASTEST, speed))
        if self._slips(speed):
            speed = 0.0
        x = state.x + speed * math.cos(state.yaw) * STEP
        y = state.y + speed * math.sin(state.yaw) * STEP
        if speed and self.hits(x, y):
            speed = 0.0
        else:
            state.x, state.y = x, y
            state.gone += abs(speed) * STEP
            state.docked = state.docked and not speed
        self.speed = speed

    def _slips(self, speed: float) -> bool:
        """Returns True while the wheels slip in a snag: until the robot drives back or a recovery frees it."""
        for x, y, *_ in self.snags():
            if math.hypot(x - self.state.x, y - self.state.y) < SNAG:
                if speed < 0 or getattr(self.driver, "frees", False):
                    self.state.freed.append([x, y])
                return speed > 0
        return False

    # What is there -----------------------------------------------------------------------------

    def things(self) -> list[tuple[float, float, float, str]]:
        """Lists x, y, radius and name of each obstacle: fallen boxes, and walkers that go back and forth."""
        task, t = self.state.task, self.state.t
        found = [(x, y, 0.35, "box") for x, y, since in task.get("boxes", ()) if t >= since]
        for x, y, to_x, to_y, pace in task.get("walkers", ()):
            part = 1 - abs((t * pace / max(math.hypot(to_x - x, to_y - y), 0.01)) % 2 - 1)
            found.append((x + (to_x - x) * part, y + (to_y - y) * part, 0.25, "walker"))
        return found

    def snags(self) -> list[tuple[float, float, float, str]]:
        """Lists the snags that still hold; the laser does not see them."""
        return [(x, y, SNAG, "snag") for x, y in self.state.task.get("snags", ()) if [x, y] not in self.state.freed]

    def target(self) -> Pose | None:
        """Returns the pose of the followed target, which walks its route and then stands still. None: the task has
        no target."""
        route = [Pose(*point) for point in self.state.task.get("route", ())]
        left = self.state.t * float(self.state.task.get("pace", 0.5))
        for a, b in pairwise(route):
            if left < a.far(b):
                part = left / a.far(b)
                return Pose(a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part)
            left -= a.far(b)
        return route[-1] if route else None

    def hits(self, x: float, y: float) -> bool:
        """Returns True when the robot at this position would hit an obstacle. Moving away from an obstacle that
        already touches the robot is no hit."""
        cell = ground.cell_of(x, y)
        if cell is None:
            return True
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                near = cell + dy * ground.ACROSS + dx
                if near in ground.WALLS:
                    wx, wy = ground.point_of(near)
                    if math.hypot(max(abs(wx - x) - CELL / 2, 0), max(abs(wy - y) - CELL / 2, 0)) < RADIUS:
                        return True
        at = self.state
        return any(
            math.hypot(tx - x, ty - y) < RADIUS + r and math.hypot(tx - x, ty - y) < math.hypot(tx - at.x, ty - at.y)
            for tx, ty, r, _ in self.things()
        )

    def look(self) -> None:
        """Takes a laser scan: marks near obstacles and clears near marks whose obstacle is gone. Marks beyond the
        laser's range stay until the map is cleared."""
        state = self.state
        self._seen_at = state.t
        marks = {c for c in state.marks if math.hypot(*_from(c, state.x, state.y)) > SIGHT}
        for x, y, r, _ in self.things():
            if math.hypot(x - state.x, y - state.y) > SIGHT + r:
                continue
            reach = math.ceil(r / CELL)
            for dx in range(-reach, reach + 1):
                for dy in range(-reach, reach + 1):
                    cell = ground.cell_of(x + dx * CELL, y + dy * CELL)
                    if cell is not None and cell not in ground.WALLS and math.hypot(*_from(cell, x, y)) <= r + 0.05:
                        marks.add(cell)
        state.marks = sorted(marks)

    def clear(self) -> None:
        """Clears all marks; the next scan marks the real obstacles again."""
        self.state.marks = []

    def plan(self, start: Pose, goal: Pose) -> list[Pose] | str:
        self.plans += 1
        return ground.way(start, goal, self.state.marks)

    # Who drives --------------------------------------------------------------------------------

    def drives(self, driver: Driver) -> None:
        self.driver = driver
        self._rest = self.state.x, self.state.y, self.state.t

    def release(self, driver: Driver) -> None:
        """Stops the robot, if this driver controlled it."""
        if self.driver is driver:
            self.driver, self.wanted = None, False
            self.speed = self.turning = 0.0

    def still_for(self) -> float:
        """Returns for how many seconds the robot was commanded to move but did not."""
        return self.state.t - self._rest[2]

    # Keeping it --------------------------------------------------------------------------------

    def dumps(self) -> bytes:
        return json.dumps(asdict(self.state), sort_keys=True).encode()

    @classmethod
    def loads(cls, kept: bytes) -> Simulator:
        found: Json = json.loads(kept)
        if not isinstance(found, Mapping) or found.keys() != asdict(SimulatorState()).keys():
            raise ValueError("it has other parts")
        return cls(SimulatorState(**found))


def _from(cell: int, x: float, y: float) -> tuple[float, float]:
    cx, cy = ground.point_of(cell)
    return cx - x, cy - y
