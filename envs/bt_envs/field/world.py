"""The field as a world: sentences for evaluations, Nav2's skills for trees, a map for the page."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from py_trees.common import Status

from bt_envs.field import ground, services
from bt_envs.field.ground import DOCK, PLACES
from bt_envs.field.servers import SERVERS
from bt_envs.field.simulator import AT, Simulator, SimulatorState
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json, Observation, Task, Verdict

LONGEST = 300.0  # seconds of the field that one sentence may take
DRAWN = 0.2  # seconds of the field between two pictures
_GO = re.compile(r"go to (?:the )?([a-z ]{1,40})")
_PLAIN = {"dock": "dock_robot", "undock": "undock_robot", "spin": "spin", "back up": "back_up", "wait": "wait"}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class OwnTime:
    """A clock with a speed factor: 2 is twice real time. At 0, waits end at once."""

    def __init__(self, speed: float) -> None:
        self.speed, self._now = speed, 0.0

    def now(self) -> float:
        return time.monotonic() * self.speed if self.speed else self._now

    def wait(self, woken: Any, until: float) -> None:
        if woken.is_set():
            return
        if until == float("inf"):
            woken.wait()
        elif self.speed:
            woken.wait(max(0.0, until - self.now()) / self.speed)
        else:
            self._now = max(self._now, until)


class Field:
    instant = True  # a sentence is acted in its own time: nobody waits for the wheels

    def __init__(self) -> None:
        self.simulator = Simulator(SimulatorState())
        self.own_clock: OwnTime | None = None  # the run's, where it is not the machine's time
        self._task: Task | None = None
        self._drawn: tuple[float, Json] = (-1.0, None)

    def reset(self, task: Task) -> Observation:
        """Begins a task. `task.data`: goals, back, and obstacles: boxes, walkers, snags, route."""
        try:
            data = dict(task.data)
            speed = float(data.get("speed", 1))
            start = data.get("start", DOCK)
            if not {start, *data["goals"]} <= PLACES.keys() or speed < 0:
                raise ValueError("a place or a speed that there is not")
            at = PLACES[start]
            state = SimulatorState(data, x=at.x, y=at.y, yaw=at.yaw or 0.0, docked=start == DOCK)
            state.battery = float(data.get("battery", 1.0))
            simulator = Simulator(state)
            simulator.look()
            simulator.snags(), simulator.target()  # what is in the way can be read
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            hint = "see `btr lab tasks field --json`"
            raise BtError(f"the task `{task.id}` is none of the field: {problem!r}", hint) from problem
        self.simulator, self._task, self._drawn = simulator, task, (-1.0, None)
        self.own_clock = OwnTime(speed) if speed != 1 else None
        return self.look()

    def look(self) -> Observation:
        state = self.simulator.state
        dock = "It is docked, and charging." if state.docked else "It is not docked."
        where = self._where()
        seen = f" Seen so far: {', '.join(state.seen)}." if state.seen else ""
        return Observation(f"The robot is {where}. {dock} Battery: {state.battery:.0%}.{seen}")

    def _where(self) -> str:
        here = self.simulator.pose
        near = next((name for name, place in PLACES.items() if here.far(place) < AT), "")
        return f"at {'the ' if near == DOCK else ''}{near}" if near else f"at x {here.x:.1f} m, y {here.y:.1f} m"

    # Acting ------------------------------------------------------------------------------------

    def skill(self, name: str, clock: Any) -> Any:
        """Returns a skill of Nav2 by the name of its node or skill: `ComputePathToPose` or `compute_path_to_pose`."""
        name = _CAMEL.sub("_", name).lower()
        made = SERVERS.get(name)
        return made(self.simulator, clock) if made else services.asked(name, self.simulator, clock)

    def skills(self) -> Sequence[str]:
        if self.simulator.state.docked:
            return ("undock", "wait")
        here = self.simulator.pose
        away = (f"go to {name}" for name, place in PLACES.items() if name != DOCK and here.far(place) >= AT)
        return (*away, "dock", "spin", "back up", "wait")

    def act(self, sentence: str) -> Observation:
        said = " ".join(sentence.split())
        go = _GO.fullmatch(said)
        name = "navigate_to_pose" if go else _PLAIN.get(said, "")
        if not name:
            why = "the sentences are: go to PLACE, dock, undock, spin, back up, wait"
            return Observation("Nothing happens.", False, why)
        server = SERVERS[name](self.simulator, _Still())
        server.start(**({"goal": go[1]} if go else {}))
        late = self.simulator.now + LONGEST
        while server.poll() is Status.RUNNING and self.simulator.now < late:
            self.simulator.step()
        ok = server.poll() is Status.SUCCESS
        server.cancel()
        why = "" if ok else server.feedback
        return Observation(f"{why[:1].upper()}{why[1:]}{'. ' if why else ''}{self.look().text}", ok, why)

    # Judging -----------------------------------------------------------------------------------

    def verdict(self) -> Verdict:
        """Returns a part for each place to visit, and one for the return to the dock."""
        state = self.simulator.state
        if self._task is None:
            return Verdict(0, 0)
        goals, back = state.task["goals"], bool(state.task.get("back"))
        return Verdict(sum(goal in state.seen for goal in goals) + (back and state.docked), len(goals) + back)

    def holds(self, fact: str) -> bool | None:
        if fact == "docked":
            return self.simulator.state.docked
        if fact.startswith("at ") and (place := PLACES.get(fact[3:])) is not None:
            return self.simulator.pose.far(place) < AT
        return fact[5:] in self.simulator.state.seen if fact.startswith("seen ") else None

    def digest(self) -> str:
        return blake2b(self.snapshot(), digest_size=8).hexdigest()

    def snapshot(self) -> bytes:
        return self.simulator.dumps()

    def restore(self, snapshot: bytes) -> None:
        """Restores a snapshot. The robot then stands still, because skills that drove it lose control."""
        try:
            self.simulator = Simulator.loads(snapshot)
        except (TypeError, ValueError, AttributeError) as problem:
            raise BtError(f"this is no snapshot of a field: {problem}", "give what `snapshot()` returned") from problem

    def close(self) -> None:
        self.simulator.driver = None

    def picture(self) -> Json:
        now, drawn = self._drawn
        if drawn is None or self.simulator.now - now >= DRAWN:
            self._drawn = self.simulator.now, self._map()
        return self._drawn[1]

    def _map(self) -> Json:
        field, state = self.simulator, self.simulator.state
        rounded = [[round(p.x, 2), round(p.y, 2)] for p in field.path[::2]]
        target = field.target()
        doing = "docked" if state.docked else "driving" if field.speed else "turning" if field.turning else "standing"
        return {
            "is": "map", "size": [ground.WIDTH, ground.HEIGHT], "walls": _walls(),
            "path": rounded if field.wanted else [],
            "marks": [[*ground.point_of(cell)] for cell in state.marks], "cell": ground.CELL,
            "things": [[round(x, 2), round(y, 2), r, what] for x, y, r, what in (*field.things(), *field.snags())],
            "places": [{"name": n, "x": p.x, "y": p.y, "seen": n in state.seen} for n, p in PLACES.items()],
            "target": [round(target.x, 2), round(target.y, 2)] if target else None,
            "robot": [round(state.x, 2), round(state.y, 2), round(state.yaw, 2), ground.RADIUS],
            "stuck": field.wanted and field.still_for() > services.STUCK,
            "text": f"{state.t:.0f} s: {doing}, {abs(field.speed):.1f} m/s; battery {state.battery:.0%}",
        }  # fmt: skip


class _Still:
    """A clock that stands still: sentences advance the simulator instead."""

    def now(self) -> float:
        return 0.0


def _walls() -> list[list[float]]:
    """Returns the walls of each row as x, y, width, height, from below."""
    found = []
    for row, line in enumerate(ground.PLAN):
        for run in re.finditer("#+", line):
            y = (ground.ROWS - row - 1) * ground.TILE
            found.append([run.start() * ground.TILE, y, len(run[0]) * ground.TILE, ground.TILE])
    return found
