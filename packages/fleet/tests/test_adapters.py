"""A master control by MQTT and Open-RMF's task API reach real robots' agents, and are told in their own words."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")

from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion

from bt_fleet.coordinator.bid import Known
from bt_fleet.coordinator.coordinator import Coordinator
from bt_fleet.face import Fleet
from bt_fleet.robot.card import Card
from bt_fleet.robot.held import Held, Own
from bt_fleet.robot.robot import Agent
from bt_fleet.robot.runner import Outcome
from bt_fleet.server import guarded
from bt_fleet.server.keys import Keys
from bt_fleet.server.link import Address, Link
from bt_fleet.server.server import Server, ServerOptions, free_port
from bt_fleet.standards.rmf import messages as rmf
from bt_fleet.standards.rmf.api import Api, serve, token
from bt_fleet.standards.vda5050 import factsheet
from bt_fleet.store import record
from bt_fleet.store.task import Task
from bt_runtime import BtError
from bt_runtime.cli import call
from bt_runtime.language.project import trust
from packages.fleet.tests.control import MOSQUITTO, Control, broker, vehicle
from packages.fleet.tests.still import Still
from packages.fleet.tests.threads import until
from packages.fleet.tests.yard import Yard, act, instant, make, order, truth


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


def granted(port: int, user: str, secret: str, topic: str) -> bool:
    """True when the server lets this client subscribe."""
    said = queue.Queue[bool]()
    client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv311)
    client.username_pw_set(user, secret)
    client.on_subscribe = lambda _c, _d, _m, reasons, _p: said.put(not any(each.is_failure for each in reasons))
    client.connect("127.0.0.1", port)
    client.subscribe(topic, qos=1)
    client.loop_start()
    try:
        return said.get(timeout=60)
    finally:
        client.disconnect()
        client.loop_stop()


def test_an_order_by_the_fleets_own_mqtt_is_done(tmp_path: Path) -> None:
    """The fleet's server is a broker too: a vehicle with a key takes an order, and its key reaches nothing else."""
    port, folder = free_port("127.0.0.1"), make(tmp_path / "agv")
    with fleet_of_one(tmp_path, f"127.0.0.1:{port}"), vehicle(folder, port, "--key", str(tmp_path / "agv.key")):
        control = Control(port, *password(tmp_path))
        try:
            control.until(lambda c: c.words[-1:] == ["ONLINE"] and c.states)
            control.send(order("a", "b", b=[act("drop")]))
            control.until(lambda c: c.action("drop") == "FINISHED")
            assert (truth(folder, "at"), truth(folder, "done"), control.wrong) == (["a", "b"], ["drop"], [])
            whole = {topic: granted(port, *password(tmp_path), topic) for topic in ("uagv/#", "#", "fleet/#", "$KV/#")}
            assert whole == {"uagv/#": True, "#": False, "fleet/#": False, "$KV/#": False}
        finally:
            control.close()


@pytest.mark.skipif(MOSQUITTO is None, reason="mosquitto is not installed: apt-get install mosquitto")
def test_an_operator_halts_a_vehicle_under_a_master_control(tmp_path: Path) -> None:
    """With --fleet it is a robot of the fleet: a halt of all stops it in its drive, its state says why, and a release
    lets the order go on. It takes no task, and whoever sends one is told why."""
    port, folder = free_port("127.0.0.1"), make(tmp_path / "agv")
    (tmp_path / "mosquitto").mkdir()
    with fleet_of_one(tmp_path) as (server, fleet, _does), broker(tmp_path / "mosquitto", port):
        more = ("--fleet", "--server", server.url)
        with vehicle(folder, port, *more, name="agv", YARD_POLLS="50"):
            control = Control(port)
            control.until(lambda c: c.states)
            until(lambda: "agv" in fleet.robots())
            control.send(order("a", "b"), "agv")
            control.until(lambda c: c.state["driving"])
            assert "agv" in fleet.halt("a person is in the cell")
            control.until(lambda c: c.state["paused"] and not c.state["driving"])
            why = [each["errorDescription"] for each in control.state["errors"]]
            assert why == ["halted by somebody: a person is in the cell"]
            assert truth(folder, "at") == []
            fleet.release()
            control.until(lambda c: c.state["lastNodeId"] == "b" and not c.state["errors"])
            fleet.send("patrol", id="t1", to="agv")
            until(lambda: "takes no tasks" in str(fleet.show("t1")))
            control.close()
    assert (truth(folder, "at"), control.wrong) == (["a", "b"], [])


def test_a_robot_that_never_joined_is_not_drained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever misspelt its name would walk up to a robot that still gets tasks."""
    with fleet_of_one(tmp_path) as (server, fleet, _does):
        until(lambda: "r7" in fleet.robots())
        assert call(["fleet", "drain", "r77", "--server", server.url]) == 2
        assert "did you mean `r7`?" in capsys.readouterr().err
        assert call(["fleet", "drain", "r7", "--server", server.url]) == 0


def test_a_record_names_the_key_that_cancelled_it(tmp_path: Path) -> None:
    with fleet_of_one(tmp_path, f"127.0.0.1:{free_port('127.0.0.1')}") as (_, fleet, _does):
        fleet.send("patrol", id="t1", to="r9")
        assert fleet.cancel("t1").history[-1].endswith("ann cancelled it")


MAKER = {
    "typeSpecification": {"seriesName": "s", "agvKinematic": "DIFF", "agvClass": "CARRIER", "maxLoadMass": 50.0,
                          "localizationTypes": ["NATURAL"], "navigationTypes": ["AUTONOMOUS"]},
    "physicalParameters": {"speedMin": 0.1, "speedMax": 1.5, "accelerationMax": 1.0, "decelerationMax": 1.0,
                           "heightMax": 0.4, "width": 0.6, "length": 0.9},
    "agvGeometry": {}, "loadSpecification": {},
    "agvActions": [{"actionType": "lift", "actionScopes": ["NODE"]}],
}  # fmt: skip


def test_a_factsheet_is_told_and_what_cannot_be_used_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The maker's file and our limits make a sound factsheet; an order with a trajectory or a zone set is refused as an
    orderError that names each field."""
    monkeypatch.setattr(trust, "guard", lambda *_: None)
    file = tmp_path / "type.json"
    file.write_text(json.dumps(MAKER))
    yard = Yard(make(tmp_path / "agv"), maker=factsheet.read(file))
    yard.until(lambda state: True)
    yard.send(instant("factsheetRequest"))
    yard.until(yard.ended("factsheetRequest-1"))
    sheet = yard.said["factsheet"][-1]
    assert (len(yard.said["factsheet"]), sheet["retained"], yard.state["errors"]) == (2, True, [])
    assert {each["actionType"] for each in sheet["protocolFeatures"]["agvActions"]} >= {"lift", "initPosition"}
    strange = {**order("b", "c", id="o2"), "zoneSetId": "z"}
    strange["edges"][0]["trajectory"] = {"degree": 1}
    yard.send(strange)
    yard.until(lambda state: state["errors"])
    (error,) = yard.state["errors"]
    named = [each["referenceValue"] for each in error["errorReferences"] if each["referenceKey"] == "field"]
    assert (error["errorType"], named) == ("orderError", ["zoneSetId", "edges[0].trajectory"])
    yard.close()
    file.write_text(json.dumps({**MAKER, "physicalParameters": {}}))
    with pytest.raises(BtError, match=r"physicalParameters: 'speedMin' is a required property"):
        factsheet.read(file)


def post(url: str, body: Any, **headers: str) -> dict[str, Any]:
    """Posts JSON with these headers, GETs without a body; returns the answer, whatever its status."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data, given, method="GET" if data is None else "POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return {**json.loads(error.read()), "status": error.code}


class Nobody:
    """A fleet that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the fleet was asked: {name}")


@pytest.fixture
def rmf_alone() -> Iterator[Any]:
    """The API of a fleet that must not be asked."""
    server = serve(Api(Nobody()))
    yield server
    server.close()


def test_open_rmf_takes_nothing_without_its_token_or_from_another_site(rmf_alone: Any) -> None:
    """A page of another site, another name of this machine and a request without the token are refused, also a GET."""
    url, bearer = f"http://127.0.0.1:{rmf_alone.port}/tasks", f"Bearer {rmf_alone.token}"
    ask = {"type": "dispatch_task_request", "request": {"category": "note", "description": {}}}
    for headers, status in (
        ({}, 403), ({"Authorization": "Bearer wrong"}, 403), ({"Authorization": bearer, "Host": "evil.example"}, 421),
        ({"Authorization": bearer, "Origin": "http://evil.example"}, 403),
        ({"Origin": "http://evil.example", "Content_Type": "text/plain"}, 403),
    ):  # fmt: skip
        assert post(f"{url}/dispatch_task", ask, **headers)["status"] == status
        assert "Origin" in headers or post(url, None, **headers)["status"] == status
    with pytest.raises(BtError, match="reached from outside"):
        serve(Api(Nobody()), "0.0.0.0")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"not json", "no JSON"), (b"", "no JSON"), (b"[" * 50_000, "nested too deeply"), (b"null", "`type` is"),
        (b'{"type": NaN}', "no number of JSON"), ({"type": ["dispatch_task_request"]}, "`type` is"),
        ({"priority": {"value": "abc"}}, "'abc' is not of type 'integer'"), ({"priority": 3}, "of type 'object'"),
        ({"priority": {"value": 10**40}}, "greater than the maximum"), ({"labels": [1]}, "1 is not of type 'string'"),
        ({"unix_millis_earliest_start_time": -1}, "less than the minimum"), ({"description": [1]}, "is a mapping"),
        ({"category": "x" * 600}, "is too long"), ({"category": "/etc/passwd"}, "names no tree"),
    ],
)  # fmt: skip
def test_open_rmf_answers_a_bad_request_in_words(rmf_alone: Any, body: Any, detail: str) -> None:
    """Whatever is posted gets an answer of the API's own schema, and the next request is answered too."""
    url, bearer = f"http://127.0.0.1:{rmf_alone.port}/tasks/dispatch_task", f"Bearer {rmf_alone.token}"
    if isinstance(body, dict) and "type" not in body:
        body = {"type": "dispatch_task_request", "request": {"category": "note", "description": {}, **body}}
    for _ in range(2):
        answer = post(url, body, Authorization=bearer)
        assert answer.pop("status") == 400
        assert rmf.faults("dispatch_task_response", answer) == []
        assert detail in answer["errors"][0]["detail"]


def test_the_token_of_a_file_outlasts_a_restart(tmp_path: Path) -> None:
    """The file is made once, for its owner alone; one without a token is refused."""
    file = tmp_path / "rmf.token"
    assert token(file) == token(file) == file.read_text().strip()
    assert file.stat().st_mode & 0o077 == 0
    file.write_text("short\n")
    with pytest.raises(BtError, match="holds no token"):
        token(file)


def test_open_rmf_sends_looks_and_cancels(tmp_path: Path) -> None:
    """Requests of its task API become tasks; answers and states fit its schemas; what is wrong is an answer."""
    with fleet_of_one(tmp_path) as (_, fleet, _does), closing(serve(Api(fleet))) as server:
        url, bearer = f"http://127.0.0.1:{server.port}", f"Bearer {server.token}"
        request = {"category": "patrol", "description": {"room": "kitchen"}, "labels": ["id=p1"],
                   "priority": {"type": "binary", "value": 1}}  # fmt: skip
        ask = {"type": "dispatch_task_request", "request": request}
        first = post(f"{url}/tasks/dispatch_task", ask, Authorization=bearer)
        assert rmf.faults("dispatch_task_response", first) == []
        task = first["state"]["booking"]["id"]
        assert post(f"{url}/tasks/dispatch_task", ask, Authorization=bearer)["state"]["booking"]["id"] == task, (
            "sent twice is sent once"
        )
        fleet.wait(task, 60)
        state = post(f"{url}/tasks/{task}/state", None, Authorization=bearer)
        assert len(post(f"{url}/tasks", None, Authorization=bearer)) == 1
        assert "no task none" in post(f"{url}/tasks/none/state", None, Authorization=bearer)["errors"][0]["detail"]
        assert "cannot be called" in post(f"{url}/tasks/a.b/state", None, Authorization=bearer)["errors"][0]["detail"]
        assert rmf.faults("task_state", state) == []
        assert (state["status"], state["assigned_to"]) == ("completed", {"group": "btr", "name": "r7"})
        late = {**request, "labels": [], "unix_millis_earliest_start_time": 4_000_000_000_000}
        waiting = post(f"{url}/tasks/robot_task",
                       {"type": "robot_task_request", "robot": "r7", "fleet": "btr", "request": late},
                       Authorization=bearer)  # fmt: skip
        assert waiting["state"]["status"] == "queued"
        cancel = {"type": "cancel_task_request", "task_id": waiting["state"]["booking"]["id"]}
        assert post(f"{url}/tasks/cancel_task", cancel, Authorization=bearer) == {"success": True}
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
            answer = post(f"{url}/tasks/{path}", body, Authorization=bearer)
            assert rmf.faults("dispatch_task_response", answer) == []
            assert detail in answer["errors"][0]["detail"]
