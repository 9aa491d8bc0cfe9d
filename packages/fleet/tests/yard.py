"""A vehicle in a yard, for tests: its project, what it truly does (`truth.jsonl`), and messages of a master control."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from bt_fleet.standards.vda5050 import facts, steps
from bt_fleet.standards.vda5050.facts import Facts
from bt_fleet.standards.vda5050.journey import Journey
from bt_fleet.standards.vda5050.messages import faults
from bt_fleet.standards.vda5050.vehicle import Names, Vehicle
from bt_runtime import Run, clock, load
from bt_runtime.journal import Recorder, resume
from bt_runtime.types import Json

TOLD = {"battery_charge": "number", "charging": "boolean", "operating_mode": "string", "e_stop": "string",
        "field_violation": "boolean", "driving": "boolean", "position": "object"}  # fmt: skip
_OUTPUTS = ", ".join(f"{name}: {kind}" for name, kind in TOLD.items())
_GIVEN = ", ".join(f'{name}: "{{{name}}}"' for name in TOLD)
FILES = {
    "btr.yaml": "version: 1\n",
    "trees/vehicle_drive.yaml": """\
version: 1
tree: vehicle_drive
skills: [yard]
inputs: {node: object, edge: object, stop: boolean}
root:
  go: {node: "{node.nodeId}", x: "{node.nodePosition.x}", stop: "{stop}"}
""",
    "trees/vehicle_act.yaml": """\
version: 1
tree: vehicle_act
skills: [yard]
inputs: {action: object}
root:
  handle: {what: "{action.actionType}", id: "{action.actionId}"}
""",
    "trees/vehicle_facts.yaml": f"""\
version: 1
tree: vehicle_facts
skills: [yard]
outputs: {{{_OUTPUTS}}}
root:
  look_around: {{{_GIVEN}}}
""",
    "skills/yard.yaml": f"""\
version: 1
skills: yard
about: What the vehicle can do.
kinds:
  go:
    sentence: "go to {{node}}"
    params: {{node: string, x: number, stop: boolean}}
    follow: [stop]
    uses: [wheels]
    on_resume: repeat
    impl: yard.py:Go
  handle:
    sentence: "{{what}} {{id}}"
    params: {{what: {{type: string}}, id: {{type: string}}}}
    on_resume: verify
    impl: yard.py:Handle
  look_around:
    sentence: look around
    outputs: {{{_OUTPUTS}}}
    on_resume: repeat
    instant: true
    impl: yard.py:look
""",
    "skills/yard.py": '''\
"""The vehicle itself: wheels that need time to stop, a gripper, and a file that says what truly happened."""

import json
import os
import time
from pathlib import Path

from bt_runtime import Skill, Status

TRUTH = Path(__file__).parents[1] / "truth.jsonl"
POSITION = TRUTH.with_name("position")  # where it stands, though its program be killed
POLLS = int(os.environ.get("YARD_POLLS", "4"))
HELD = os.environ.get("YARD_HELD")  # the node that no drive comes to


class Wheels:
    node, x, moving, driven, looks = "", 0.0, False, False, 0
    mode, e_stop, blind = "AUTOMATIC", "NONE", False


def witness(what, **more):
    with TRUTH.open("a") as file:
        file.write(json.dumps({"t": time.time(), "what": what, "moving": Wheels.moving, **more}) + "\\n")


def happened(what, id):
    lines = TRUTH.read_text().splitlines() if TRUTH.exists() else []
    return any(e["what"] == what and e.get("id") == id for e in map(json.loads, lines))


class Go(Skill):
    """Drives to a node. It passes a node without stopping there, unless it has to."""

    def start(self, node, x, stop):
        self.node, self.x, self.stop, self.left = node, x, stop, POLLS
        Wheels.moving = Wheels.driven = True
        witness("start", id=node)

    def poll(self):
        self.left -= 1
        if self.left > 0 or self.node == HELD:
            return Status.RUNNING
        Wheels.node, Wheels.x, Wheels.driven, Wheels.looks = self.node, self.x, False, 0
        POSITION.with_suffix(".new").write_text(str(self.x))
        POSITION.with_suffix(".new").replace(POSITION)
        Wheels.moving = not self.stop
        witness("at", id=self.node, stop=self.stop)
        return Status.SUCCESS

    def cancel(self):
        self.brake = POLLS

    def stopping(self):
        if Wheels.moving:
            self.brake -= 1
            if self.brake <= 0:
                Wheels.moving = Wheels.driven = False
                witness("stopped")
        return Wheels.moving


class Handle(Skill):
    """Does an action. `jam` fails, `slow` takes longer; what has been done can be verified."""

    def start(self, what, id):
        self.what, self.id, self.left = what, id, POLLS * (5 if what == "slow" else 1)
        witness("do", id=id)

    def poll(self):
        self.left -= 1
        if self.left > 0:
            return Status.RUNNING
        if self.what == "jam":
            self.feedback = "it is jammed"
            return Status.FAILURE
        witness("done", id=self.id)
        return Status.SUCCESS

    def cancel(self):
        witness("dropped", id=self.id)

    def verify(self, what, id):
        return happened("done", id)


def look():
    """The wheels brake by themselves when no drive follows one that has passed its node."""
    if Wheels.moving and not Wheels.driven:
        Wheels.looks += 1
        if Wheels.looks > 2:
            Wheels.moving = False
            witness("stopped")
    if Wheels.blind:
        return False
    return {"battery_charge": 55.5, "charging": False, "operating_mode": Wheels.mode, "e_stop": Wheels.e_stop,
            "field_violation": False, "driving": Wheels.moving,
            "position": {"x": Wheels.x, "y": 0.0, "theta": 0.0, "mapId": "hall"}}


if POSITION.exists():
    Wheels.x = float(POSITION.read_text())
witness("boot")
''',
}


def make(folder: Path) -> Path:
    """Writes the project of the vehicle."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def truth(folder: Path, *kinds: str) -> list[Any]:
    """Returns what the vehicle truly did: the ids of these kinds of events, or all events."""
    file = folder / "truth.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [each.get("id") for each in lines if each["what"] in kinds] if kinds else lines


# A master control's messages -----------------------------------------------------------------


def act(name: str, blocking: str = "HARD", kind: str = "") -> dict[str, Any]:
    parameters = [{"key": "height", "value": 0.5}]
    return {"actionType": kind or name.partition("-")[0], "actionId": name, "blockingType": blocking,
            "actionParameters": parameters}  # fmt: skip


def header() -> dict[str, Any]:
    return {"headerId": 1, "timestamp": "2026-01-01T00:00:00.00Z", "version": "2.0.0", "manufacturer": "acme",
            "serialNumber": "r7"}  # fmt: skip


def order(
    *names: str, id: str = "o1", update: int = 0, begin: int = 0, base: int = 999, x: float = 0.0,
    edges: Mapping[str, Any] = {}, **actions: list[dict[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    """An order over these nodes, with `base` of them released, from `x` on. `edges`: actions of edges, by their ids."""
    nodes = [
        {"nodeId": n, "sequenceId": begin + 2 * i, "released": i < base, "actions": actions.get(n, []),
         "nodePosition": {"x": x + i + begin / 2, "y": 0.0, "mapId": "hall"}}
        for i, n in enumerate(names)
    ]  # fmt: skip
    ways = [
        {"edgeId": f"{a}-{b}", "sequenceId": begin + 2 * i + 1, "released": i + 1 < base, "startNodeId": a,
         "endNodeId": b, "actions": edges.get(f"{a}-{b}", [])}
        for i, (a, b) in enumerate(pairwise(names))
    ]  # fmt: skip
    return {**header(), "orderId": id, "orderUpdateId": update, "nodes": nodes, "edges": ways}


def instant(kind: str, id: str = "", **parameters: Json) -> dict[str, Any]:
    given = [{"key": key, "value": value} for key, value in parameters.items()]
    action = {"actionType": kind, "actionId": id or f"{kind}-1", "blockingType": "HARD", "actionParameters": given}
    return {**header(), "actions": [action]}


# A vehicle in this process -------------------------------------------------------------------


class Yard:
    """A vehicle with a clock that the test moves. It is its own broker, and keeps what is published."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.folder, self.clock, self.more = folder, clock.Manual(1000.0), more
        self.said: dict[str, list[dict[str, Any]]] = {}
        self.facts_tree = load(facts.TREE, project=folder)
        self.tree = load(steps.RUN, project=folder)
        self.vehicle = self._made(self.begin(Journey().kept()))

    def begin(self, entries: Mapping[str, Json]) -> Run:
        return Run(self.tree, inputs=entries, journal=Recorder(self.folder / "runs"), clock=self.clock)

    def _made(self, run: Run) -> Vehicle:
        names = Names("acme", "r7", self.clock.now)
        made = Vehicle(run, self.begin, Facts(self.facts_tree, clock=self.clock), self, names, **self.more)
        made.take("linked", None)
        return made

    def publish(self, topic: str, payload: str, retained: bool) -> None:
        what, body = topic.rpartition("/")[2], json.loads(payload)
        assert topic == f"uagv/v2/acme/r7/{what}"
        assert faults(what, body) == [], body  # type: ignore[arg-type]
        self.said.setdefault(what, []).append({**body, "retained": retained})

    def again(self) -> None:
        """The vehicle's program ends in order, and is started again."""
        run = self.vehicle.run
        self.vehicle.close()
        assert run.parts.journal is not None and run.parts.journal.path is not None
        self.vehicle = self._made(resume(run.parts.journal.path, clock=self.clock))

    def send(self, body: Any) -> None:
        what = "instantActions" if isinstance(body, dict) and "actions" in body else "order"
        self.vehicle.take(what, body if isinstance(body, bytes) else json.dumps(body).encode())
        self.step()

    def step(self) -> float:
        seconds = self.vehicle.advance()
        writer = self.vehicle.run.parts.journal
        assert writer is not None
        writer.settled()
        self.clock.advance(min(seconds, 0.02))
        return seconds

    def until(self, holds: Any, steps: int = 3000) -> dict[str, Any]:
        """Steps until this holds of the state that was published last."""
        for _ in range(steps):
            if self.said.get("state") and holds(self.state):
                return self.state
            self.step()
        raise AssertionError(f"it did not come about: {self.said.get('state', [None])[-1]}")

    @property
    def state(self) -> dict[str, Any]:
        return self.said["state"][-1]

    def action(self, id: str) -> str:
        return next((e["actionStatus"] for e in self.state["actionStates"] if e["actionId"] == id), "")

    def at(self, node: str) -> Any:
        return lambda state: state["lastNodeId"] == node

    def ended(self, id: str) -> Any:
        return lambda state: self.action(id) in ("FINISHED", "FAILED")

    def did(self, *kinds: str) -> list[Any]:
        return truth(self.folder, *kinds)

    def close(self) -> None:
        self.vehicle.close()
