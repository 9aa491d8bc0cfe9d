"""Orders of VDA 5050 become stages of tasks; what robots do becomes state messages that the specification allows."""

from __future__ import annotations

import json
import queue
import threading
import time
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from bt_fleet.standards.vda5050.bridge import PAUSED, Bridge, serve
from bt_fleet.standards.vda5050.journey import Journey
from bt_fleet.standards.vda5050.messages import faults
from bt_fleet.store.record import DONE, STARTED, Record
from bt_fleet.store.task import Task
from packages.fleet.tests.threads import until


def act(name: str, blocking: str = "HARD") -> dict[str, Any]:
    parameters = [{"key": "height", "value": 0.5}]
    return {"actionType": name, "actionId": f"{name}-1", "blockingType": blocking, "actionParameters": parameters}


def order(
    *names: str, update: int = 0, begin: int = 0, base: int = 99, **actions: list[dict[str, Any]]
) -> dict[str, Any]:
    """An order over these nodes, with `base` of them released."""
    nodes = [
        {"nodeId": n, "sequenceId": begin + 2 * i, "released": i < base, "actions": actions.get(n, []),
         "nodePosition": {"x": float(i), "y": 0.0, "mapId": "hall"}}
        for i, n in enumerate(names)
    ]  # fmt: skip
    edges = [
        {"edgeId": f"{a}-{b}", "sequenceId": begin + 2 * i + 1, "released": i + 1 < base, "startNodeId": a,
         "endNodeId": b, "actions": []}
        for i, (a, b) in enumerate(pairwise(names))
    ]  # fmt: skip
    return {
        "headerId": 1, "timestamp": "2026-01-01T00:00:00.00Z", "version": "2.0.0", "manufacturer": "acme",
        "serialNumber": "r7", "orderId": "o1", "orderUpdateId": update, "nodes": nodes, "edges": edges,
    }  # fmt: skip


def instant(kind: str, id: str = "") -> dict[str, Any]:
    header = {key: value for key, value in order("a").items() if key not in ("nodes", "edges", "orderId")}
    return {**header, "actions": [{"actionType": kind, "actionId": id or f"{kind}-1", "blockingType": "NONE"}]}


class Noted:
    """What a bridge publishes, by topic, and the fleet that it asks: robots r7 and r8, and tasks that the test ends."""

    def __init__(self) -> None:
        self.said: dict[str, list[dict[str, Any]]] = {}
        self.wills: dict[str, dict[str, Any]] = {}
        self.tasks: dict[str, Record] = {}
        self.done: list[tuple[str, ...]] = []
        self.stored: dict[str, str] = {}
        self.away = False  # the fleet's server does not answer

    def bridge(self, **more: Any) -> Bridge:
        return Bridge(self, self, "acme", **{"now": lambda: 0.0, **more})

    # The broker

    def enter(self, robot: str, topic: str, will: str) -> None:
        self.wills[topic] = json.loads(will)
        assert faults("connection", self.wills[topic]) == []

    def publish(self, robot: str, topic: str, payload: str, retained: bool) -> None:
        what, body = topic.rpartition("/")[2], json.loads(payload)
        assert f"/{robot}/" in topic
        assert faults(what, body) == [], body  # type: ignore[arg-type]
        self.said.setdefault(what, []).append({**body, "retained": retained})

    @property
    def state(self) -> dict[str, Any]:
        return self.said["state"][-1]

    def action(self, id: str) -> str:
        return next(each["actionStatus"] for each in self.state["actionStates"] if each["actionId"] == id)

    # The fleet

    def _there(self) -> None:
        if self.away:
            raise TimeoutError

    def send(self, tree: str, inputs: Any = None, *, id: str | None = None, **more: Any) -> Any:
        self._there()
        self.tasks.setdefault(str(id), Record(Task(str(id), tree, inputs, to=more["to"])))

    def show(self, task: str) -> Record:
        return self.tasks[task]

    def cancel(self, task: str, reason: str = "") -> Record:
        self._there()
        self.done.append(("cancel", task))
        return self.tasks[task]

    def halt(self, reason: str, robot: str | None = None) -> list[str]:
        self._there()
        self.done.append(("halt", reason))
        return []

    def release(self, robot: str | None = None) -> list[str]:
        self.done.append(("release",))
        return []

    def robots(self) -> dict[str, Any]:
        return {"r7": {}, "r8": {}}

    def keep(self, key: str, value: Any) -> None:
        self._there()
        self.stored[key] = json.dumps(value)

    def kept(self, beginning: str) -> dict[str, Any]:
        return {key: json.loads(text) for key, text in self.stored.items() if key.startswith(beginning)}

    def nodes(self) -> list[str]:
        """Returns where the robot was sent, stage by stage."""
        return [str((held.task.inputs["drive"] or {}).get("node_id", "")) for held in self.tasks.values()]  # type: ignore[union-attr]

    def told(self, bridge: Bridge, state: str, verdict: str | None = None) -> None:
        """The latest task has changed: the store and the bridge are told."""
        id = [*self.tasks][-1]
        self.tasks[id] = replace(self.tasks[id], state=state, verdict=verdict, robot="r7")
        bridge.changed(self.tasks[id])


def post(bridge: Bridge, body: Any, robot: str = "r7") -> None:
    what = "instantActions" if "actions" in body else "order"
    bridge.message(bridge.topic(robot, what), json.dumps(body).encode())


def test_what_nobody_has_told_is_left_out_or_named_as_unknown() -> None:
    """No place, no battery and no field violation are made up: `information` names what stands for an unknown value."""
    noted = Noted()
    bridge = noted.bridge()
    bridge.alive("r7", {"running": None})
    post(bridge, order("a", "b"))
    noted.told(bridge, STARTED)
    noted.told(bridge, DONE, "success")
    assert "agvPosition" not in noted.state
    assert "visualization" not in noted.said
    (information,) = noted.state["information"]
    fields = [each["referenceValue"] for each in information["infoReferences"]]
    assert "batteryState.batteryCharge" in fields
    assert "safetyState.fieldViolation" in fields
    assert noted.state["batteryState"]["batteryCharge"] == 0.0
    bridge.alive("r7", {"running": None, "facts": {"battery": 40}})
    assert noted.state["batteryState"]["batteryCharge"] == 40.0
    assert "batteryCharge" not in noted.state["information"][0]["infoDescription"]


def test_a_halt_is_told_as_it_is() -> None:
    """A halted robot is paused, and drives until its run has ended; the state names why it stands, and a master control
    neither pauses nor releases what somebody else has halted."""
    noted = Noted()
    bridge = noted.bridge()
    bridge.alive("r7", {"running": None})
    post(bridge, order("a", "b"))
    noted.told(bridge, STARTED)
    bridge.alive("r7", {"running": "t", "halted": "a person is in the cell"})
    assert (noted.state["paused"], noted.state["driving"]) == (True, True)
    bridge.alive("r7", {"running": None, "halted": "a person is in the cell"})
    assert (noted.state["paused"], noted.state["driving"]) == (True, False)
    assert [each["errorDescription"] for each in noted.state["errors"]] == ["a person is in the cell"]
    for kind in ("startPause", "stopPause"):
        post(bridge, instant(kind))
        assert noted.action(f"{kind}-1") == "FAILED"
    assert noted.done == []
    bridge.alive("r7", {"running": "t", "halted": None})
    assert (noted.state["paused"], noted.state["driving"]) == (False, True)


def test_a_pause_is_finished_when_the_robot_stands() -> None:
    """`startPause` runs until no process of a task is there, `stopPause` until the halt is over."""
    noted = Noted()
    bridge = noted.bridge()
    bridge.alive("r7", {"running": "t"})
    post(bridge, instant("startPause"))
    assert (noted.action("startPause-1"), noted.state["paused"]) == ("RUNNING", False)
    bridge.alive("r7", {"running": "t", "halted": PAUSED})
    assert (noted.action("startPause-1"), noted.state["paused"]) == ("RUNNING", True)
    bridge.alive("r7", {"running": None, "halted": PAUSED})
    assert noted.action("startPause-1") == "FINISHED"
    post(bridge, instant("stopPause"))
    assert (noted.action("stopPause-1"), noted.state["paused"]) == ("RUNNING", True)
    bridge.alive("r7", {"running": "t", "halted": None})
    assert (noted.action("stopPause-1"), noted.state["paused"]) == ("FINISHED", False)
    assert noted.done == [("halt", PAUSED), ("release",)]


def test_a_cancel_is_finished_when_the_robot_has_stopped() -> None:
    """Until its task has ended the order stands in the state, the robot drives, and no other order is taken."""
    noted = Noted()
    bridge = noted.bridge()
    bridge.alive("r7", {"running": "t"})
    post(bridge, order("a", "b", b=[act("drop")]))
    noted.told(bridge, STARTED)
    post(bridge, instant("cancelOrder"))
    assert (noted.action("cancelOrder-1"), noted.state["driving"], len(noted.state["nodeStates"])) == (
        "RUNNING",
        True,
        2,
    )
    post(bridge, {**order("a", "c"), "orderId": "o2"})
    post(bridge, order("b", "c", update=1, begin=2))
    assert [each["errorType"] for each in noted.state["errors"]] == ["orderUpdateError"] * 2
    noted.told(bridge, DONE, "cancelled")
    assert (noted.action("cancelOrder-1"), noted.action("drop-1")) == ("FINISHED", "FAILED")
    assert (noted.state["driving"], noted.state["nodeStates"]) == (False, [])
    assert noted.nodes() == ["a"]
    post(bridge, {**order("a", "c"), "orderId": "o2"})
    assert noted.nodes() == ["a", "a"]


def test_a_bridge_that_is_started_again_goes_on_with_the_order() -> None:
    """It knows the nodes that are left and the stage that is under way, sends nothing twice and skips no node, whether
    the stage has ended meanwhile or not; the control's update extends the order."""
    for ended in (False, True):
        noted = Noted()
        bridge = noted.bridge()
        bridge.alive("r7", {"running": "t"})
        post(bridge, order("a", "b", "c", c=[act("drop")]))
        noted.told(bridge, STARTED)
        noted.told(bridge, DONE, "success")
        noted.told(bridge, STARTED)
        if ended:
            id = [*noted.tasks][-1]
            noted.tasks[id] = replace(noted.tasks[id], state=DONE, verdict="success")
        again = noted.bridge()
        again.tick()
        again.alive("r7", {"running": "t"})
        state = noted.state
        assert (state["orderId"], state["lastNodeId"]) == ("o1", "b" if ended else "a")
        assert ([n["nodeId"] for n in state["nodeStates"]], state["driving"]) == (
            (["c"], False) if ended else (["b", "c"], True)
        )
        post(again, order("c", "d", update=1, begin=4))
        assert noted.state["errors"] == []
        for _ in range(4 if not ended else 3):
            noted.told(again, DONE, "success")
        assert noted.nodes() == ["a", "b", "c", "", "d"]
        assert (noted.state["nodeStates"], noted.action("drop-1")) == ([], "FINISHED")


def test_a_vehicle_that_was_not_heard_yet_has_no_state() -> None:
    """A bridge that is started again tells nothing before the first heartbeat: the vehicle may be halted."""
    noted = Noted()
    bridge = noted.bridge()
    bridge.alive("r7", {"running": "t"})
    post(bridge, order("a", "b"))
    noted.told(bridge, STARTED)
    before = len(noted.said["state"])
    again = noted.bridge()
    post(again, order("a", "b"))
    again.tick()
    assert len(noted.said["state"]) == before
    again.alive("r7", {"halted": PAUSED})
    assert (noted.state["paused"], noted.state["driving"], len(noted.tasks)) == (True, False, 1)


def test_an_update_of_an_unknown_order_is_refused() -> None:
    """A bridge that has lost its store says so, and the robot does not leave its route."""
    noted = Noted()
    bridge = noted.bridge()
    bridge.alive("r7", {})
    post(bridge, order("c", "d", update=1, begin=4))
    assert [each["errorType"] for each in noted.state["errors"]] == ["orderUpdateError"]
    assert (noted.tasks, noted.state["orderId"]) == ({}, "")


def test_a_fleet_that_does_not_answer_ends_no_bridge() -> None:
    """The order is taken, kept and sent when the fleet answers again."""
    noted = Noted()
    bridge = noted.bridge()
    bridge.alive("r7", {"running": None})
    noted.away = True
    post(bridge, order("a", "b"))
    bridge.tick()
    assert (noted.tasks, noted.stored) == ({}, {})
    noted.away = False
    bridge.tick()
    assert (noted.nodes(), noted.state["errors"]) == (["a"], [])
    noted.told(bridge, STARTED)
    noted.away = True
    noted.told(bridge, DONE, "success")
    bridge.tick()
    assert noted.nodes() == ["a"]
    noted.away = False
    bridge.tick()
    assert (noted.nodes(), noted.state["errors"]) == (["a", "b"], [])
    assert len(noted.stored) == 1


@pytest.mark.parametrize("lost", [False, True])
def test_a_cancel_reaches_the_fleet_when_it_answers_again(lost: bool) -> None:
    """Also from a bridge that was started again meanwhile; a pause that did not reach it has failed."""
    noted = Noted()
    bridge = noted.bridge()
    bridge.alive("r7", {"running": "t"})
    post(bridge, order("a", "b"))
    noted.told(bridge, STARTED)
    noted.away = True
    post(bridge, instant("startPause"))
    assert (noted.action("startPause-1"), noted.state["errors"][-1]["errorType"]) == ("FAILED", "actionError")
    post(bridge, instant("cancelOrder"))
    bridge.tick()
    assert (noted.action("cancelOrder-1"), noted.done) == ("RUNNING", [])
    noted.away = False
    bridge.tick()
    (task,) = noted.tasks
    assert noted.done == [("cancel", task)]
    if lost:
        bridge = noted.bridge()
        bridge.alive("r7", {"running": "t"})
    for _ in range(3):
        bridge.tick()
    assert noted.done == [("cancel", task)] * (1 + lost)
    noted.told(bridge, DONE, "cancelled")
    assert (noted.action("cancelOrder-1"), noted.state["nodeStates"], noted.nodes()) == ("FINISHED", [], ["a"])


def test_no_message_ends_the_bridge() -> None:
    """Whatever arrives by MQTT or from the fleet, the next order is done; strangers' names are kept nowhere."""
    noted, over = Noted(), threading.Event()
    bridge = noted.bridge(now=time.monotonic)
    bridge.alive("r7", {})
    news: queue.Queue[tuple[Any, ...]] = queue.Queue()
    bad = [b"", b"{", b"[]", b"null", b"3", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b'{"nodes": NaN}',
           json.dumps({**order("a", "b"), "nodes": "x"}).encode(), json.dumps(order("\ud800")).encode(),
           json.dumps({**order("a"), "orderUpdateId": 10**300}).encode(), b" " * 300_000, b"9" * 5000]  # fmt: skip
    for body in bad:
        for what in ("order", "instantActions"):
            news.put(("mqtt", bridge.topic("r7", what), body))  # type: ignore[arg-type]
    for name in ("stranger", "a b", "", "../x", "#"):
        news.put(("mqtt", bridge.topic(name, "order"), json.dumps(order("a")).encode()))
    news.put(("mqtt", "nonsense", b"{}"))
    news.put(("record", None))
    news.put(("alive", "r7", {"facts": 3}))
    news.put(("mqtt", bridge.topic("r7", "order"), json.dumps(order("a", "b")).encode()))
    thread = threading.Thread(target=serve, args=(bridge, news, over.is_set))
    thread.start()
    until(lambda: noted.nodes() == ["a"])
    assert thread.is_alive()
    over.set()
    thread.join(60)
    assert (set(bridge.journeys), len(noted.state["errors"])) == ({"r7"}, 0)
    assert all(len(state["errors"]) <= 20 for state in noted.said["state"])


def test_each_robot_has_a_last_will_and_is_offline_when_the_bridge_ends() -> None:
    """The will says CONNECTIONBROKEN; so is a robot that is not heard; at an end in order it is OFFLINE."""
    now = [0.0]
    noted = Noted()
    bridge = noted.bridge(now=lambda: now[0])
    for robot in ("r7", "r8"):
        bridge.alive(robot, {})
    assert {topic: will["connectionState"] for topic, will in noted.wills.items()} == {
        "uagv/v2/acme/r7/connection": "CONNECTIONBROKEN", "uagv/v2/acme/r8/connection": "CONNECTIONBROKEN"}  # fmt: skip
    now[0] = 7.0
    bridge.alive("r7", {})
    bridge.tick()
    bridge.linked("r7")
    bridge.leave()
    told = [(each["serialNumber"], each["connectionState"]) for each in noted.said["connection"]]
    assert told == [("r7", "ONLINE"), ("r8", "ONLINE"), ("r8", "CONNECTIONBROKEN"), ("r7", "ONLINE"), ("r7", "OFFLINE")]
    assert all(each["retained"] for each in noted.said["connection"])


def said(journey: Journey) -> dict[str, Any]:
    header = {key: order("a")[key] for key in ("headerId", "timestamp", "version", "manufacturer", "serialNumber")}
    message = {**header, **journey.state()}
    assert faults("state", message) == []
    return message


def drive(journey: Journey, sequence: int) -> None:
    assert journey.begun({"sequence_id": sequence})
    assert journey.state()["driving"] is True
    assert journey.ended({"sequence_id": sequence}, True)


def test_an_order_is_done_stage_by_stage() -> None:
    """Each drive is a stage; a HARD action is one of its own; a NONE action at the end may go on beside the drive."""
    part = Journey("r7").accept(
        order("a", "b", a=[act("lift"), act("beep", "NONE")], b=[act("x", "SOFT"), act("y", "SOFT")])
    )
    assert part is not None
    assert [
        ((stage["drive"] or {}).get("node_id"), [each["action_id"] for each in stage["actions"]])  # type: ignore[union-attr]
        for stage in part.stages
    ] == [("a", []), (None, ["lift-1"]), ("b", ["beep-1"]), (None, ["x-1", "y-1"])]
    assert part.id == "vda5050/r7/o1/0"
    assert part.stages[1]["actions"][0]["parameters"] == {"height": 0.5}  # type: ignore[index]


def test_the_state_follows_what_the_robot_does() -> None:
    """Nodes leave the state when they are reached; actions wait, run and end; every state fits the specification."""
    journey = Journey("r7")
    journey.accept(order("a", "b", b=[act("drop")]))
    state = said(journey)
    assert [n["nodeId"] for n in state["nodeStates"]] == ["a", "b"]
    assert state["actionStates"][0]["actionStatus"] == "WAITING"
    drive(journey, 0)
    drive(journey, 2)
    assert (said(journey)["lastNodeId"], said(journey)["nodeStates"]) == ("b", [])
    journey.begun({"action_id": "drop-1"})
    assert said(journey)["actionStates"][0]["actionStatus"] == "RUNNING"
    assert journey.active
    journey.ended({"action_id": "drop-1"}, True)
    assert said(journey)["actionStates"][0]["actionStatus"] == "FINISHED"
    assert not journey.active


def test_an_update_extends_the_base_where_it_ended() -> None:
    """Only what is newly released becomes a task; the horizon is replaced; an update sent twice gives nothing."""
    journey = Journey("r7")
    first = journey.accept(order("a", "b", "c", base=2))
    assert first is not None
    assert len(first.stages) == 2
    assert [n["released"] for n in said(journey)["nodeStates"]] == [True, True, False]
    drive(journey, 0)
    assert said(journey)["newBaseRequest"] is True
    update = order("b", "d", update=1, begin=2, b=[act("again")])
    second = journey.accept(update)
    assert second is not None
    assert [(s["drive"] or {}).get("node_id") for s in second.stages] == ["d"]  # type: ignore[union-attr]
    assert [n["nodeId"] for n in said(journey)["nodeStates"]] == ["b", "d"]
    assert "again-1" not in journey.actions
    assert journey.accept(update) is None
    assert journey.errors == []


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"nodes": []}, "validationError"),
        ({"orderId": 7}, "validationError"),
        ({"version": "3.0.0"}, "validationError"),
        ({"edges": []}, "validationError"),
        ({"orderId": "o2"}, "orderUpdateError"),
        ({"orderUpdateId": 3}, "orderUpdateError"),
        ({"orderUpdateId": 9}, "orderUpdateError"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_type(change: dict[str, Any], kind: str) -> None:
    """A refused order changes nothing but the errors, which name the order."""
    journey = Journey("r7")
    journey.accept(order("a", "b"))
    journey.update = 5
    assert journey.accept({**order("a", "b", update=5), **change}) is None
    assert [each["errorType"] for each in said(journey)["errors"]] == [kind]
    assert (journey.order, journey.update, len(journey.nodes)) == ("o1", 5, 2)


def test_a_cancelled_order_leaves_nothing_to_do() -> None:
    """After a cancel the robot stands where it was, its actions have failed, and a new order is taken."""
    journey = Journey("r7")
    journey.accept(order("a", "b", b=[act("drop")]))
    drive(journey, 0)
    journey.dropped("cancelled by the master control", failed=False)
    state = said(journey)
    assert (state["nodeStates"], state["edgeStates"], state["errors"]) == ([], [], [])
    assert (state["lastNodeId"], state["actionStates"][0]["actionStatus"]) == ("a", "FAILED")
    assert journey.accept({**order("a", "c"), "orderId": "o2"}) is not None
