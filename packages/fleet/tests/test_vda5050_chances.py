"""Random orders through the VDA 5050 bridge: every state message is held against what the vehicle did.

The fleet is a double (`Noted`): it stands for tasks and heartbeats, not for a vehicle or a broker."""

from __future__ import annotations

import json
import queue
import random
from dataclasses import replace
from typing import Any

import pytest

from bt_fleet.standards.vda5050.bridge import PAUSED, Bridge, serve
from bt_fleet.store.record import DONE, STARTED
from packages.fleet.tests.test_vda5050 import Noted, act, order, post

ROUNDS = 30


class Watched(Noted):
    """A fleet with one vehicle, r7, and one order. Each state message is compared with them when it is published."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.paused = False
        self.reached: list[str] = []
        self.base: list[str] = []  # the released nodes of the order, from its first
        self.update = 0
        self.sent: dict[str, Any] = {}

    def beat(self) -> dict[str, Any]:
        return {"halted": PAUSED} if self.paused else {"halted": None, "running": "t"}

    def publish(self, robot: str, topic: str, payload: str, retained: bool) -> None:
        super().publish(robot, topic, payload, retained)
        if not topic.endswith("/state"):
            return
        state = self.state
        if (state["orderId"], state["orderUpdateId"]) == ("o1", self.update):
            left = [name for name in self.base if name not in self.reached]
            assert [node["nodeId"] for node in state["nodeStates"] if node["released"]] == left
        goes = any(held.state == STARTED and held.task.inputs["drive"] for held in self.tasks.values())
        assert (state["paused"], state["driving"]) == (self.paused, goes and not self.paused)
        done = {id for held in self.tasks.values() if held.state == DONE for id in _actions(held)}
        for action in state["actionStates"]:
            assert (action["actionStatus"] == "FINISHED") == (action["actionId"] in done)

    def order(self) -> dict[str, Any]:
        """Returns the order, or its next update: the end of the base, and one to four nodes more."""
        at = max(0, len(self.base) - 1)
        names = [*self.base[-1:], *(f"n{self.update}_{number}" for number in range(self.random.randint(1, 4)))]
        released = self.random.randint(1, len(names))
        self.base = [*self.base[:at], *names[:released]]
        blocking = ("NONE", "SOFT", "HARD")
        actions = {
            name: [act(f"{name}-{n}", self.random.choice(blocking)) for n in range(self.random.randint(0, 2))]
            for name in names
        }
        self.sent = order(*names, update=self.update, begin=2 * at, base=released, **actions)
        return self.sent

    def step(self, bridge: Bridge) -> bool:
        """The latest task begins, or ends; False when nothing is to be done."""
        id = next((id for id, held in self.tasks.items() if held.state != DONE), None)
        if id is None:
            return False
        held = self.tasks[id]
        if held.state != STARTED:
            held = replace(held, state=STARTED, robot="r7")
        else:
            held = replace(held, state=DONE, verdict="success")
            self.reached += [held.task.inputs["drive"]["node_id"]] if held.task.inputs["drive"] else []  # type: ignore[index, call-overload]
        self.tasks[id] = held
        bridge.changed(held)
        return True

    def restarted(self) -> Bridge:
        """Returns a bridge that was started again, after the first thing that it happened to hear."""
        bridge, news = self.bridge(), queue.Queue[tuple[Any, ...]]()
        first = self.random.randrange(3)
        if first == 0:
            news.put(("mqtt", bridge.topic("r7", "order"), json.dumps(self.sent).encode()))
        for held in self.tasks.values() if first == 1 else ():
            news.put(("record", held))
        news.put(("alive", "r7", self.beat()))
        serve(bridge, news, news.empty)
        return bridge


def _actions(held: Any) -> list[str]:
    return [each["action_id"] for each in held.task.inputs["actions"]]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_no_state_says_what_is_not_so(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    """Through restarts, repeated messages, updates, pauses and a fleet that is away: no node is skipped, no node or
    action is done twice, and nodes, `driving`, `paused` and actions are told as they are."""
    fleet = Watched(seed)
    bridge = fleet.bridge()
    bridge.alive("r7", fleet.beat())
    post(bridge, fleet.order())
    for _ in range(80):
        what = fleet.random.choice(("step", "step", "restart", "repeat", "update", "pause", "away"))
        if what == "step" and not fleet.paused:
            fleet.step(bridge)
        elif what == "restart":
            bridge = fleet.restarted()
        elif what == "repeat":
            post(bridge, fleet.sent)
        elif what == "update" and fleet.update < 3:
            fleet.update += 1
            post(bridge, fleet.order())
        elif what == "pause":
            fleet.paused = not fleet.paused
            bridge.alive("r7", fleet.beat())
        elif what == "away":
            fleet.away = True
            bridge.tick()
            fleet.away = False
        bridge.tick()
    fleet.paused = False
    bridge.alive("r7", fleet.beat())
    while fleet.step(bridge):
        bridge.tick()
    assert fleet.reached == fleet.base
    done = [id for held in fleet.tasks.values() for id in _actions(held)]
    assert len(done) == len(set(done))
    assert [each for each in caplog.records if each.exc_info] == []  # `serve` logs what it survives
