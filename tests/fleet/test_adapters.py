"""A master control by MQTT and Open-RMF's task API reach real robots' agents, and are told in their own words."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")

from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.fleet import guarded, record
from bt_runtime.fleet.bid import Known
from bt_runtime.fleet.card import Card
from bt_runtime.fleet.coordinator import Coordinator
from bt_runtime.fleet.face import Fleet
from bt_runtime.fleet.following import follow
from bt_runtime.fleet.held import Held, Own
from bt_runtime.fleet.keys import Keys
from bt_runtime.fleet.link import Address, Link
from bt_runtime.fleet.rmf import messages as rmf
from bt_runtime.fleet.rmf.api import Api, serve
from bt_runtime.fleet.robot import Agent
from bt_runtime.fleet.runner import Outcome
from bt_runtime.fleet.server import Server, ServerOptions, free_port
from bt_runtime.fleet.task import Task
from bt_runtime.fleet.vda5050 import bridge as vda
from bt_runtime.fleet.vda5050 import factsheet
from bt_runtime.fleet.vda5050.messages import faults
from tests.fleet.still import Still
from tests.fleet.test_vda5050 import act, order


class Does(Still):
    """A runner that keeps what it was asked for; a tree `fails` fails."""

    def __init__(self) -> None:
        self.done: list[Task] = []

    async def known(self, task: Task) -> Known:
        return Known(0.01, record.REPEAT)

    async def run(self, own: Own, again: bool) -> Outcome:
        self.done.append(own.task)
        bad = own.task.tree == "fails" or "jam" in json.dumps(own.task.inputs)
        return Outcome(record.FAILURE, "it is jammed") if bad else Outcome(record.SUCCESS)


def as_(folder: Path, server: Server, name: str) -> Address:
    """Returns the address for somebody with a key; everybody's where there are none."""
    key = folder / f"{name}.key"
    return Address(server.url, creds=key if key.exists() else None)


def password(folder: Path) -> tuple[str, str]:
    key = json.loads((folder / "agv.key").read_text())
    return key["name"], key["password"]


@contextmanager
def fleet_of_one(folder: Path, mqtt: str = "") -> Iterator[tuple[Server, Fleet, Does]]:
    """A server, a coordinator and the robot r7 in a thread, and a connection to them."""
    server, does, ready, work = None, Does(), threading.Event(), list[asyncio.Task[Any]]()
    loop: asyncio.AbstractEventLoop | None = None

    async def play() -> None:
        nonlocal server, loop
        loop = asyncio.get_running_loop()
        for role, name in (("operator", "ann"), ("robot", "r7"), ("mqtt", "agv")) if mqtt else ():
            Keys(folder).add(role, name, folder / f"{name}.key")
        options = ServerOptions(folder, port=0, sync="1m", more=guarded.configuration(folder, mqtt))
        server = await Server(options).start()
        async with Link(guarded.coordinator(folder, server.url)) as link:
            robot, held = Link(as_(folder, server, "r7")), Held(folder / "r7.db")
            agent = Agent(Card("r7"), robot, held, does)
            coordinator = Coordinator(link)
            work.extend([asyncio.create_task(coordinator.work()), asyncio.create_task(agent.work())])
            while not coordinator.alive():
                await asyncio.sleep(0.01)
            ready.set()
            await asyncio.gather(*work, return_exceptions=True)
            await robot.close()
            held.close()

    thread = threading.Thread(target=lambda: asyncio.run(play()))
    thread.start()
    try:
        assert ready.wait(60)
        assert server is not None
        with Fleet(as_(folder, server, "ann")) as fleet:
            yield server, fleet, does
    finally:
        if loop is not None:
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in work])
        thread.join(30)
        if server is not None:
            server.stop()


class Master:
    """A master control: sends orders, and keeps the states that it is told."""

    def __init__(self, port: int, user: str, secret: str) -> None:
        self.told: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self.ready = threading.Event()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv311)
        self.client.username_pw_set(user, secret)
        self.client.on_message = lambda _c, _d, m: self.told.put((m.topic, json.loads(m.payload)))
        self.client.on_subscribe = lambda *_: self.ready.set()
        self.client.connect("127.0.0.1", port)
        self.client.subscribe("uagv/v2/acme/+/state", qos=1)
        self.client.subscribe("uagv/v2/acme/+/connection", qos=1)
        self.client.loop_start()
        assert self.ready.wait(60)

    def order(self, body: dict[str, Any], topic: str = "order") -> None:
        self.client.publish(f"uagv/v2/acme/r7/{topic}", json.dumps(body), qos=1)

    def state(self, holds: Any) -> dict[str, Any]:
        """Returns the first state of which this holds; each one must fit the specification."""
        while True:
            topic, body = self.told.get(timeout=60)
            what = topic.rpartition("/")[2]
            assert faults("state" if what == "state" else "connection", body) == []
            if what == "state" and holds(body):
                return body

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def instant(kind: str) -> dict[str, Any]:
    header = {key: value for key, value in order("a").items() if key not in ("nodes", "edges", "orderId")}
    return {**header, "actions": [{"actionType": kind, "actionId": f"{kind}-1", "blockingType": "NONE"}]}


def test_an_order_by_mqtt_is_done_by_a_robot(tmp_path: Path) -> None:
    """Orders go in and states come out through the server's own MQTT: done, failed, cancelled and refused."""
    port = free_port("127.0.0.1")
    with fleet_of_one(tmp_path, f"127.0.0.1:{port}") as (_, fleet, does):
        news: queue.Queue[tuple[str, Any]] = queue.Queue()
        over = threading.Event()
        mqtt = vda.Mqtt("127.0.0.1", port, news, *password(tmp_path))
        bridge = vda.Bridge(fleet, mqtt.publish, "acme")
        end = follow(fleet, lambda held: news.put(("record", held)), lambda *beat: news.put(("alive", beat)))
        mqtt.start(bridge.subscriptions)
        work = threading.Thread(target=vda.serve, args=(bridge, news, over.is_set))
        work.start()
        assert mqtt.ready.wait(60)
        master = Master(port, *password(tmp_path))
        try:
            master.order(order("a", "b", b=[act("drop")]))
            state = master.state(lambda s: s["orderId"] == "o1" and not s["nodeStates"] and s["actionStates"])
            state = master.state(lambda s: s["actionStates"][0]["actionStatus"] == "FINISHED")
            assert (state["lastNodeId"], state["lastNodeSequenceId"], state["errors"]) == ("b", 2, [])
            assert [task.inputs["drive"] and task.inputs["drive"]["node_id"] for task in does.done] == ["a", "b", {}]
            assert does.done[2].inputs["actions"][0]["parameters"] == {"height": 0.5}

            master.order(order("a", "b", b=[act("drop")]))  # twice: nothing more is done
            master.order({**order("c", "d", c=[act("jam")]), "orderId": "o2"})
            state = master.state(lambda s: s["orderId"] == "o2" and s["errors"])
            assert (state["errors"][0]["errorType"], state["nodeStates"]) == ("orderError", [])
            assert state["actionStates"][0]["resultDescription"] == "it is jammed"
            assert len(does.done) == 5

            master.order(instant("cancelOrder"), "instantActions")
            state = master.state(lambda s: any(e["errorType"] == "noOrderToCancel" for e in s["errors"]))
            master.order(instant("dance"), "instantActions")
            state = master.state(lambda s: any(e["errorType"] == "actionError" for e in s["errors"]))
            master.client.publish("uagv/v2/acme/r7/order", "{", qos=1)
            master.state(lambda s: any("is not JSON" in e["errorDescription"] for e in s["errors"]))
        finally:
            master.close()
            over.set()
            work.join(30)
            end()
            mqtt.close()


class Noted:
    """What a bridge publishes, by topic; as a fleet it takes every task."""

    def __init__(self) -> None:
        self.said: dict[str, list[dict[str, Any]]] = {}

    def publish(self, topic: str, payload: str, retained: bool) -> None:
        what, body = topic.rpartition("/")[2], json.loads(payload)
        assert faults(what, body) == [], body  # type: ignore[arg-type]
        self.said.setdefault(what, []).append({**body, "retained": retained})

    def send(self, *given: Any, **more: Any) -> None: ...


MAKER = {
    "typeSpecification": {"seriesName": "s", "agvKinematic": "DIFF", "agvClass": "CARRIER", "maxLoadMass": 50.0,
                          "localizationTypes": ["NATURAL"], "navigationTypes": ["AUTONOMOUS"]},
    "physicalParameters": {"speedMin": 0.1, "speedMax": 1.5, "accelerationMax": 1.0, "decelerationMax": 1.0,
                           "heightMax": 0.4, "width": 0.6, "length": 0.9},
    "agvGeometry": {}, "loadSpecification": {},
    "agvActions": [{"actionType": "lift", "actionScopes": ["NODE"]}],
}  # fmt: skip


def test_a_factsheet_and_positions_are_told_and_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    """The maker's file and our limits make a sound factsheet; a robot is drawn at the last node that it reached, with
    its battery; an order with a trajectory or a zone set is refused as an orderError that names each field."""
    file = tmp_path / "type.json"
    file.write_text(json.dumps(MAKER))
    noted, robot = Noted(), "r7"
    bridge = vda.Bridge(noted, noted.publish, "acme", now=lambda: 0.0, maker=factsheet.read(file))  # type: ignore[arg-type]
    bridge.alive(robot, {"facts": {"battery": 40}})
    (sheet,) = noted.said["factsheet"]
    actions = {each["actionType"]: each["actionScopes"] for each in sheet["protocolFeatures"]["agvActions"]}
    assert (actions["lift"], actions["cancelOrder"], sheet["retained"]) == (["NODE"], ["INSTANT"], True)
    bridge.message(bridge.topic(robot, "instantActions"), json.dumps(instant("factsheetRequest")).encode())
    assert len(noted.said["factsheet"]) == 2 and "visualization" not in noted.said
    bridge.message(bridge.topic(robot, "order"), json.dumps(order("a", "b")).encode())
    bridge.journeys[robot].ended({"sequence_id": 2}, True)
    bridge.alive(robot, {})
    at = {"x": 1.0, "y": 0.0, "theta": 0.0, "mapId": "hall", "positionInitialized": True}
    assert noted.said["visualization"][-1]["agvPosition"] == at
    strange = {**order("b", "c"), "orderId": "o2", "zoneSetId": "z"}
    strange["edges"][0] |= {"trajectory": {"knotVector": [0, 1], "controlPoints": []}, "length": 2.0}
    bridge.message(bridge.topic(robot, "order"), json.dumps(strange).encode())
    state = noted.said["state"][-1]
    (error,) = state["errors"]
    fields = [each["referenceValue"] for each in error["errorReferences"] if each["referenceKey"] == "field"]
    assert (error["errorType"], error["errorLevel"], fields) == (
        "orderError", "WARNING", ["zoneSetId", "edges[0].trajectory"])  # fmt: skip
    assert (state["orderId"], state["agvPosition"], state["batteryState"]["batteryCharge"]) == ("o1", at, 40.0)
    file.write_text(json.dumps({**MAKER, "physicalParameters": {}}))
    with pytest.raises(BtError, match="'speedMin' is a required property"):
        factsheet.read(file)


def post(url: str, body: Any) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


def test_open_rmf_sends_looks_and_cancels(tmp_path: Path) -> None:
    """Requests of its task API become tasks; answers and states fit its schemas; what is wrong is an answer."""
    with fleet_of_one(tmp_path) as (_, fleet, _does), serve(Api(fleet)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        request = {"category": "patrol", "description": {"room": "kitchen"}, "labels": ["id=p1"],
                   "priority": {"type": "binary", "value": 1}}  # fmt: skip
        ask = {"type": "dispatch_task_request", "request": request}
        first = post(f"{url}/tasks/dispatch_task", ask)
        assert rmf.faults("dispatch_task_response", first) == []
        task = first["state"]["booking"]["id"]
        assert post(f"{url}/tasks/dispatch_task", ask)["state"]["booking"]["id"] == task, "sent twice is sent once"
        fleet.wait(task, 60)
        with urllib.request.urlopen(f"{url}/tasks/{task}/state", timeout=60) as answer:
            state = json.loads(answer.read())
        assert rmf.faults("task_state", state) == []
        assert (state["status"], state["assigned_to"]) == ("completed", {"group": "btr", "name": "r7"})
        late = {**request, "labels": [], "unix_millis_earliest_start_time": 4_000_000_000_000}
        waiting = post(f"{url}/tasks/robot_task",
                       {"type": "robot_task_request", "robot": "r7", "fleet": "btr", "request": late})  # fmt: skip
        assert waiting["state"]["status"] == "queued"
        cancel = {"type": "cancel_task_request", "task_id": waiting["state"]["booking"]["id"]}
        assert post(f"{url}/tasks/cancel_task", cancel) == {"success": True}
        fleet.wait(cancel["task_id"], 60)
        assert Api(fleet).state(fleet.show(cancel["task_id"]))["status"] == "canceled"
        for path, body, detail in (
            ("dispatch_task", {**ask, "request": {"description": {}}}, "'category' is a required property"),
            ("dispatch_task", {"type": "robot_task_request"}, "`type` is dispatch_task_request here"),
            ("robot_task", {"type": "robot_task_request", "robot": "r7", "fleet": "x", "request": request}, "not `x`"),
            ("cancel_task", cancel, "is done: cancelled"),
            ("cancel_task", {**cancel, "task_id": "none"}, "no task none"),
            ("dispatch_task", {**ask, "request": {**request, "category": "compose"}}, "`phases` are not read"),
            ("interrupt_task", {"type": "interrupt_task_request", "task_id": task}, "is cancelled or runs to its end"),
            ("paint", ask, "post to one of"),
        ):
            answer = post(f"{url}/tasks/{path}", body)
            assert rmf.faults("dispatch_task_response", answer) == []
            assert detail in answer["errors"][0]["detail"]
        server.shutdown()
