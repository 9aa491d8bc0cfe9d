"""Orders of VDA 5050 become stages of tasks; what robots do becomes state messages that the specification allows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from bt_runtime.fleet.vda5050.journey import Journey
from bt_runtime.fleet.vda5050.messages import faults


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
    journey.accept(order("a", "b", update=5))
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
