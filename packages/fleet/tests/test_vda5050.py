"""Orders of VDA 5050 are runs of a vehicle's own; what it does becomes messages that the specification allows."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_fleet.standards.vda5050.facts import OLDEST, Facts
from bt_fleet.standards.vda5050.journey import Journey, Progress
from bt_fleet.standards.vda5050.mqtt import Door
from bt_fleet.standards.vda5050.vehicle import AHEAD
from bt_runtime import BtError, load
from bt_runtime.journal import Recording
from bt_runtime.language.project import trust
from packages.fleet.tests.yard import Yard, act, instant, make, order, truth


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(trust, "guard", lambda *_: None)
    return make(tmp_path)


@pytest.fixture
def yard(folder: Path) -> Iterator[Yard]:
    made = Yard(folder)
    made.until(lambda state: True)
    yield made
    made.close()


def wheels(yard: Yard) -> Any:
    """The vehicle itself, as its project's module has it."""
    file = str(yard.folder / "skills" / "yard.py")
    return next(each for each in list(sys.modules.values()) if str(getattr(each, "__file__", "")) == file).Wheels


def test_an_order_is_driven_node_after_node(yard: Yard) -> None:
    """Each node is reached once and in order; the state loses what was reached, and tells each action."""
    yard.send(order("a", "b", "c", b=[act("beep", "NONE")], c=[act("drop")]))
    state = yard.until(yard.ended("drop"))
    assert (yard.did("at"), yard.did("done")) == (["a", "b", "c"], ["beep", "drop"])
    assert (state["lastNodeId"], state["lastNodeSequenceId"], state["nodeStates"], state["edgeStates"]) == (
        "c",
        4,
        [],
        [],
    )
    nodes = [tuple(n["nodeId"] for n in s["nodeStates"]) for s in yard.said["state"] if s["orderId"]]
    assert sorted(set(nodes), key=nodes.index) == [("a", "b", "c"), ("b", "c"), ("c",), ()]


def test_a_vehicle_passes_nodes_without_stopping(yard: Yard) -> None:
    """It stands at the end of the base and where an action keeps it from driving; an update lifts the end while it
    drives there."""
    yard.send(order("a", "b", "c", "d", base=3, b=[act("beep", "NONE")]))
    yard.until(yard.at("b"))
    yard.send(order("c", "d", "e", update=1, begin=4, d=[act("drop", "SOFT")]))
    yard.until(yard.at("e"))
    stops = {each["id"]: each["stop"] for each in truth(yard.folder) if each["what"] == "at"}
    assert stops == {"a": False, "b": False, "c": False, "d": True, "e": True}
    moving = [each["what"] for each in truth(yard.folder) if not each["moving"]]
    assert moving.count("stopped") == 0


def test_a_long_order_grows_as_it_is_driven(yard: Yard) -> None:
    """The tree holds the next steps only, so that an order of many nodes holds up no tick; each node is reached."""
    names = [f"n{number}" for number in range(60)]
    yard.send(order(*names, n7=[act("beep", "NONE")], n30=[act("lift")]))
    most = 0
    while yard.state["lastNodeId"] != "n59":
        yard.step()
        most = max(most, len(yard.vehicle.run.parts.engine.root.children[0].children))
    assert (yard.did("at"), yard.did("done")) == (names, ["beep", "lift"])
    assert most <= AHEAD + 3


def test_a_pause_does_not_end_the_order(yard: Yard) -> None:
    """`startPause` is FINISHED and `paused` true once the wheels stand; after `stopPause` the same node is driven to,
    and reached once."""
    yard.send(order("a", "b"))
    yard.until(lambda state: state["driving"])
    yard.send(instant("startPause"))
    yard.until(yard.ended("startPause-1"))
    assert (yard.state["paused"], yard.state["driving"], yard.did("stopped")) == (True, False, [None])
    told = [(s["paused"], s["driving"]) for s in yard.said["state"] if s["actionStates"]]
    assert told == sorted(told, key=lambda each: (each[0], not each[1])), "paused only once it stands"
    for _ in range(200):
        yard.step()
    assert yard.did("at") == []
    yard.send(instant("stopPause"))
    yard.until(yard.at("b"))
    assert (yard.did("at"), yard.state["errors"], yard.state["paused"]) == (["a", "b"], [], False)


@pytest.mark.parametrize("slow", [False, True])
def test_driving_is_what_the_wheels_do(folder: Path, slow: bool) -> None:
    """Facts are measured anew when a drive begins or ends, also by a tree that takes its time: no state says what was
    so before that."""
    tree = folder / "trees" / "vehicle_facts.yaml"
    whole = tree.read_text()
    if slow:
        head, look = whole.split("root:\n")
        tree.write_text(f"{head}root:\n  sequence:\n    - {look.strip()}\n    - wait: 0.1\n")
    yard = Yard(folder)
    yard.until(lambda state: True)
    yard.send(order("a", "b", "c", b=[act("lift")]))
    moved: list[bool] = []
    for _ in range(600):
        moved.append(wheels(yard).moving)
        count = len(yard.said["state"])
        yard.step()
        assert all(s["driving"] in moved[-10:] for s in yard.said["state"][count:]), (moved[-10:], yard.state)
    assert (yard.state["lastNodeId"], yard.state["driving"]) == ("c", False)
    yard.close()


def test_a_cancel_is_finished_when_the_vehicle_has_stopped(yard: Yard) -> None:
    """Until then the order stands in the state, and no other is taken; afterwards its actions have failed."""
    yard.send(order("a", "b", b=[act("drop")]))
    yard.until(lambda state: state["driving"])
    yard.send(instant("cancelOrder"))
    yard.send(order("a", "c", id="o2"))
    yard.until(lambda state: state["errors"])
    assert (yard.action("cancelOrder-1"), len(yard.state["nodeStates"])) == ("RUNNING", 2)
    yard.until(yard.ended("cancelOrder-1"))
    assert yard.did("stopped") == [None]
    assert (yard.action("drop"), yard.state["nodeStates"], yard.state["driving"]) == ("FAILED", [], False)
    yard.send(order("b", "c", update=1, begin=2))
    yard.until(lambda state: "before its time" in state["errors"][-1]["errorDescription"])
    yard.send(order("a", "c", id="o2"))
    yard.until(yard.at("c"))
    assert yard.did("at") == ["a", "c"]


def test_an_instant_action_that_comes_twice_is_done_once(yard: Yard) -> None:
    """A cancel that the broker delivers again does not end the next order."""
    yard.send(order("a", "b"))
    yard.until(lambda state: state["driving"])
    yard.send(instant("cancelOrder"))
    yard.until(yard.ended("cancelOrder-1"))
    yard.send(order("a", "c", id="o2"))
    yard.send(instant("cancelOrder"))
    yard.until(yard.at("c"))
    assert yard.did("at") == ["a", "c"]


def test_a_vehicle_that_is_started_again_goes_on(yard: Yard) -> None:
    """In the middle of a drive, an action, a pause and a cancel: nothing is skipped, nothing done twice."""
    yard.send(order("a", "b", "c", b=[act("lift")], c=[act("drop")], base=2))
    for moment in (lambda s: s["driving"], yard.at("a"), lambda s: yard.action("lift") == "RUNNING"):
        yard.until(moment)
        yard.again()
    yard.until(yard.ended("lift"))
    yard.send(order("b", "c", update=1, begin=2, c=[act("drop")]))
    yard.again()
    yard.until(lambda state: state["driving"])
    yard.send(instant("startPause"))
    yard.again()
    yard.until(yard.ended("startPause-1"))
    yard.send(instant("stopPause"))
    yard.until(yard.ended("drop"))
    assert (yard.did("at"), yard.did("done")) == (["a", "b", "c"], ["lift", "drop"])
    yard.send(order("c", "d", id="o2"))
    yard.until(lambda state: state["driving"])
    yard.send(instant("cancelOrder"))
    yard.again()
    yard.until(yard.ended("cancelOrder-1"))
    assert (yard.action("cancelOrder-1"), yard.state["lastNodeId"], yard.state["nodeStates"]) == ("FINISHED", "c", [])


def test_a_hard_action_is_alone(yard: Yard) -> None:
    """No wheel turns and no other action runs beside it; SOFT actions run together while the vehicle stands, a NONE
    action beside drives."""
    actions = [act("n1", "NONE", "slow"), act("s1", "SOFT"), act("s2", "SOFT"), act("h1"), act("n2", "NONE")]
    yard.send(order("a", "b", "c", a=actions, edges={"b-c": [act("e1", "SOFT")]}, c=[act("h2")]))
    yard.until(yard.ended("h2"))
    running: set[str] = set()
    together = False
    for each in truth(yard.folder):
        if each["what"] == "do":
            running.add(each["id"])
            together |= running >= {"s1", "s2"}
            hard = {"h1", "h2"} & running
            assert not hard or running == hard, running
            assert not each["moving"] or each["id"] == "n2"
        elif each["what"] == "done":
            running.remove(each["id"])
        elif each["what"] == "start":
            assert running <= {"n2"}
    assert together
    done = yard.did("do")
    assert (done[:3], done[3:]) == (["n1", "s1", "s2"], ["h1", "n2", "e1", "h2"])


def test_each_order_is_a_run_that_ends_with_the_next(yard: Yard) -> None:
    """Its journal tells how it ended: SUCCESS for one that was driven, FAILURE for one that failed, nothing for the
    present one."""
    yard.send(order("a", "b"))
    yard.until(yard.at("b"))
    yard.send(order("b", id="o2", b=[act("jam")]))
    yard.until(lambda state: state["errors"])
    yard.send(order("b", "c", id="o3"))
    yard.until(yard.at("c"))
    runs = sorted((yard.folder / "runs").glob("*.btr"), key=lambda path: Recording(path).head["started"])
    assert [Recording(path).result for path in runs] == ["SUCCESS", "SUCCESS", "FAILURE", ""]


def test_an_order_begins_where_the_vehicle_is(yard: Yard) -> None:
    """No edge leads to the first node of an order, so that it must be where the vehicle stands: by its id, or by its
    position."""
    yard.send(order("far", "b", x=5.0))
    yard.until(lambda state: state["errors"])
    assert ([each["errorType"] for each in yard.state["errors"]], yard.did("start")) == (["noRouteError"], [])
    yard.send(order("near", "b", x=0.1))
    yard.until(yard.at("b"))
    yard.send(order("b", "c", id="o2", x=9.0))
    yard.until(yard.at("c"))


def test_an_action_runs_once_its_skill_has_begun(folder: Path) -> None:
    """One that waits for what another action uses is INITIALIZING; no state tells RUNNING before it is done."""
    manifest = folder / "skills" / "yard.yaml"
    manifest.write_text(
        manifest.read_text().replace("    on_resume: verify\n", "    on_resume: verify\n    uses: [arm]\n")
    )
    yard = Yard(folder)
    yard.until(lambda state: True)
    yard.send(order("a", a=[act("s1", "SOFT"), act("s2", "SOFT")]))
    while yard.action("s2") != "FINISHED":
        yard.step()
        assert yard.action("s2") != "RUNNING" or "s2" in yard.did("do")
    told = [[each["actionStatus"] for each in s["actionStates"]] for s in yard.said["state"] if s["actionStates"]]
    assert ["RUNNING", "INITIALIZING"] in told
    assert ["FINISHED", "RUNNING"] in told
    yard.close()


def test_an_action_that_fails_ends_the_order(yard: Yard) -> None:
    """The error names the order and why; nothing more is driven, and the next order is taken."""
    yard.send(order("a", "b", a=[act("jam"), act("drop")]))
    state = yard.until(lambda state: state["errors"])
    (error,) = state["errors"]
    assert (error["errorType"], error["errorReferences"]) == (
        "orderError",
        [{"referenceKey": "orderId", "referenceValue": "o1"}],
    )
    assert "it is jammed" in error["errorDescription"]
    assert (yard.action("jam"), yard.action("drop"), state["nodeStates"]) == ("FAILED", "FAILED", [])
    assert yard.did("do") == ["jam"]
    yard.send(order("a", "c", id="o2"))
    yard.until(yard.at("c"))
    assert (yard.did("at"), yard.state["errors"]) == (["a", "a", "c"], [])


def test_a_tree_that_is_gone_fails_the_order(yard: Yard) -> None:
    """The vehicle's program goes on: the control is told, and when the tree is back the next order is done."""
    tree = yard.folder / "trees" / "vehicle_act.yaml"
    whole = tree.read_text()
    tree.unlink()
    yard.send(order("a", a=[act("lift")]))
    yard.until(lambda state: state["errors"])
    assert ("vehicle_act" in yard.state["errors"][0]["errorDescription"], yard.action("lift")) == (True, "FAILED")
    yard.send(instant("initPosition", "p1", lastNodeId="k"))
    yard.until(yard.ended("p1"))
    assert yard.action("p1") == "FAILED"
    tree.write_text(whole)
    yard.send(instant("initPosition", "p2", lastNodeId="k"))
    yard.until(yard.at("k"))
    yard.send(order("k", id="o2", k=[act("drop")]))
    yard.until(yard.ended("drop"))
    assert (yard.action("drop"), yard.state["errors"]) == ("FINISHED", [])


def test_the_place_is_set_by_the_project(yard: Yard) -> None:
    """`initPosition` is an action of the project; what it says is the last node, also after an order; it is refused
    during one."""
    yard.send(order("a"))
    yard.until(yard.at("a"))
    yard.send(instant("initPosition", x=1.0, y=2.0, theta=0.0, mapId="hall", lastNodeId="k"))
    yard.until(yard.ended("initPosition-1"))
    assert (yard.state["lastNodeId"], yard.did("done")) == ("k", ["initPosition-1"])
    yard.send(order("k", "l", id="o2"))
    yard.send(instant("initPosition", "p2", lastNodeId="z"))
    yard.until(yard.ended("p2"))
    assert yard.action("p2") == "FAILED"
    yard.until(yard.at("l"))


def test_an_operators_halt_is_told_as_it_is(yard: Yard) -> None:
    """The vehicle stops and the state says why; `stopPause` of a control does not lift it."""
    yard.send(order("a", "b"))
    yard.until(lambda state: state["driving"])
    yard.vehicle.take("halted", "a person is in the cell")
    yard.until(lambda state: state["paused"])
    assert (yard.state["driving"], yard.state["errors"][0]["errorDescription"]) == (False, "a person is in the cell")
    yard.send(instant("stopPause"))
    yard.again()
    for _ in range(200):
        yard.step()
    assert (yard.state["paused"], yard.did("at")) == (True, [])
    yard.vehicle.take("halted", None)
    yard.until(yard.at("b"))


def test_nothing_is_told_that_is_not_known(yard: Yard) -> None:
    """A vehicle whose facts fail tells no state until it knows them again; eStop and mode are what it says."""
    wheels(yard).blind = True
    for _ in range(100):
        yard.step()
    count = len(yard.said["state"])
    yard.send(instant("stateRequest"))
    for _ in range(3000):
        yard.step()
    assert len(yard.said["state"]) == count
    wheels(yard).blind, wheels(yard).e_stop, wheels(yard).mode = False, "MANUAL", "SERVICE"
    yard.until(lambda state: len(yard.said["state"]) > count)
    assert (yard.state["safetyState"]["eStop"], yard.state["operatingMode"]) == ("MANUAL", "SERVICE")
    assert (yard.state["agvPosition"]["mapId"], yard.state["information"]) == ("hall", [])
    yard.send(order("a", "b"))
    yard.until(lambda state: state["errors"])
    assert ("SERVICE" in yard.state["errors"][0]["errorDescription"], yard.did("start")) == (True, [])


def test_facts_that_are_measured_no_more_are_not_told(folder: Path) -> None:
    """A tree of facts that hangs lets the vehicle fall silent after some seconds, and tells again when it goes on."""
    tree = folder / "trees" / "vehicle_facts.yaml"
    head, look = tree.read_text().split("root:\n")
    stuck = "blackboard: {stuck: {type: boolean, default: false}}\n"
    tree.write_text(f"{head}{stuck}root:\n  sequence:\n    - wait: {{until: not stuck}}\n    - {look.strip()}\n")
    yard = Yard(folder)
    yard.until(lambda state: True)
    assert yard.vehicle.facts.run is not None
    yard.vehicle.facts.run.blackboard["stuck"] = True
    for _ in range(int(OLDEST / 0.02) + 100):
        yard.step()
    count = len(yard.said["state"])
    for _ in range(2000):
        yard.step()
    assert len(yard.said["state"]) == count
    yard.vehicle.facts.run.blackboard["stuck"] = False
    yard.until(lambda state: len(yard.said["state"]) > count)
    yard.close()


def test_what_the_project_does_not_know_is_named(folder: Path) -> None:
    """Without a fact the required fields are named; only a trial publishes states then, and says what is unknown."""
    tree = folder / "trees" / "vehicle_facts.yaml"
    tree.write_text("version: 1\ntree: vehicle_facts\noutputs: {driving: boolean}\nroot: {set: {driving: false}}\n")
    facts = Facts(load("vehicle_facts", project=folder))
    assert facts.missing == ["batteryState.batteryCharge", "batteryState.charging", "operatingMode",
                             "safetyState.eStop", "safetyState.fieldViolation"]  # fmt: skip
    facts.close()
    yard = Yard(folder, trial=True)
    state = yard.until(lambda state: True)
    named = [each["referenceValue"] for each in state["information"][0]["infoReferences"]]
    assert named == facts.missing
    assert "agvPosition" not in state
    yard.close()
    tree.write_text("version: 1\ntree: vehicle_facts\noutputs: {charge: number}\nroot: {set: {charge: 3}}\n")
    with pytest.raises(BtError, match="`charge` is no fact of a vehicle"):
        Facts(load("vehicle_facts", project=folder))


def test_no_message_ends_the_vehicle(yard: Yard) -> None:
    """Whatever arrives, the next order is done, and at most the latest errors are told."""
    bad = [b"", b"{", b"[]", b"null", b"3", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b'{"nodes": NaN}',
           json.dumps({**order("a", "b"), "nodes": "x"}).encode(), json.dumps(order("\ud800")).encode(),
           json.dumps({**order("a"), "orderUpdateId": 10**300}).encode(), b" " * 300_000, b"9" * 5000]  # fmt: skip
    for body in bad:
        for what in ("order", "instantActions", "else"):
            yard.vehicle.take(what, body)
            yard.step()
    for number in range(30):
        yard.send(instant(f"dance{number}"))
    yard.until(lambda state: len(state["errors"]) == 20)
    text = "{done} {{x}} {__import__('os')} \n- fail: {}"
    yard.send(order(text, "b", **{text: [act("lift-{done}", kind="{paused}")]}))
    yard.until(yard.at("b"))
    assert (yard.did("at"), yard.did("done")) == ([text, "b"], ["lift-{done}"])


@pytest.mark.parametrize("kind", ["dance", "factsheetRequest"])
def test_what_cannot_be_done_at_once_is_refused(yard: Yard, kind: str) -> None:
    """The error names the action; a cancel without an order is `noOrderToCancel`."""
    yard.send(instant(kind))
    yard.send(instant("cancelOrder"))
    yard.until(lambda state: len(state["errors"]) == 2)
    assert [each["errorType"] for each in yard.state["errors"]] == ["actionError", "noOrderToCancel"]
    assert yard.state["errors"][0]["errorReferences"] == [{"referenceKey": "actionId", "referenceValue": f"{kind}-1"}]
    assert (yard.action(f"{kind}-1"), yard.action("cancelOrder-1")) == ("FAILED", "FAILED")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"nodes": []}, "validationError"),
        ({"orderId": 7}, "validationError"),
        ({"version": "3.0.0"}, "validationError"),
        ({"edges": []}, "validationError"),
        ({"zoneSetId": "z"}, "orderError"),
        ({"orderId": "o2"}, "orderUpdateError"),
        ({"orderUpdateId": 3}, "orderUpdateError"),
        ({"orderUpdateId": 9}, "orderUpdateError"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_type(change: dict[str, Any], kind: str) -> None:
    """A refused order changes nothing but the errors, which name the order."""
    none = Progress()
    journey = Journey().accepted(order("a", "b"), none)
    assert journey is not None
    journey.update = 5
    assert journey.accepted({**order("a", "b", update=5), **change}, none) is None
    (error,) = journey.errors
    assert error["errorType"] == kind
    assert {"referenceKey": "headerId", "referenceValue": "1"} in error["errorReferences"]  # type: ignore[operator]
    assert (journey.order, journey.update, len(journey.nodes)) == ("o1", 5, 2)


def test_an_update_extends_the_base_where_it_ended() -> None:
    """The horizon is replaced, actions of the node where it begins are not taken again, and the same message brings
    nothing."""
    none = Progress()
    journey = Journey().accepted(order("a", "b", "c", base=2), none)
    assert journey is not None
    assert [n["released"] for n in journey.nodes] == [True, True, False]
    assert journey.state(Progress(done=1), False, False, "")["newBaseRequest"] is True
    update = order("b", "d", update=1, begin=2, b=[act("again")])
    assert journey.accepted(update, none) is journey
    assert [n["nodeId"] for n in journey.nodes] == ["a", "b", "d"]
    assert journey.actions == []
    assert journey.accepted(update, none) is None
    assert journey.errors == []
    assert Journey().accepted(order("c", "d", update=1, begin=4), none) is None


@pytest.mark.parametrize(
    ("more", "why"),
    [({}, "by TLS only"), ({"ca": Path("ca.pem")}, "prove who it is"), ({"user": "a", "password": "b"}, "by TLS only")],
)
def test_a_broker_of_another_machine_needs_a_key_and_tls(more: dict[str, Any], why: str) -> None:
    with pytest.raises(BtError, match=why):
        Door("10.0.0.5", 1883, **more).checked()
    Door("127.0.0.1", 1883).checked()
    Door("10.0.0.5", 8883, ca=Path("ca.pem"), user="a", password="b").checked()
    Door("10.0.0.5", 8883, ca=Path("ca.pem"), cert=Path("c.pem"), key=Path("k.pem")).checked()
