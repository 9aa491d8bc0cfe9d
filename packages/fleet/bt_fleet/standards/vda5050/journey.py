"""A robot's order as VDA 5050 knows it: what was accepted, what is done, and what goes into the state message.

What nobody has told the bridge is left out of the state; where the schema requires a value, `information` names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bt_fleet.standards.vda5050.messages import faults, unusable
from bt_fleet.standards.vda5050.stages import stages
from bt_runtime.types import Json

Message = Mapping[str, Any]
ENDED = ("FINISHED", "FAILED")
MOST_ERRORS, MOST_ACTIONS = 20, 500  # in a state message: the latest errors, and actions that have not ended
_KEPT = ("order", "update", "nodes", "edges", "base_end", "last_node", "last_sequence", "actions", "errors", "waiting")


class Part(NamedTuple):
    """A released part of an order: one task of the fleet."""

    id: str  # of the task: the same message twice gives the same
    stages: list[dict[str, Json]]


class Vehicle(NamedTuple):
    """What a robot's heartbeat says."""

    heard: float = 0.0  # when; 0: never
    halted: str | None = None  # why it stands still
    running: bool = False  # a process of a task is there, so that something may move
    battery: float | None = None  # percent; None: not told

    @property
    def stands(self) -> bool:
        return self.halted is not None and not self.running


UNHEARD = Vehicle()


class Journey:
    """The state of one robot's order. It has no clock and no connection."""

    def __init__(self, serial: str) -> None:
        self.serial = serial
        self.order, self.update = "", 0
        self.nodes: list[dict[str, Any]] = []  # that are still to be reached, the horizon's too
        self.edges: list[dict[str, Any]] = []
        self.base_end: tuple[str, int] | None = None  # the last released node: where an update begins
        self.last_node, self.last_sequence = "", 0
        self.actions: dict[str, dict[str, Json]] = {}
        self.driving = False
        self.errors: list[dict[str, Json]] = []
        self.waiting: dict[str, str] = {}  # instant actions that are not done yet: their ids and types

    def plain(self) -> dict[str, Any]:
        """Returns what a bridge that is started again goes on with."""
        return {name: getattr(self, name) for name in _KEPT}

    @classmethod
    def of(cls, serial: str, kept: Mapping[str, Any]) -> Journey:
        made = cls(serial)
        for name in _KEPT:
            setattr(made, name, kept[name])
        made.base_end = tuple(made.base_end) if made.base_end is not None else None  # type: ignore[assignment]
        return made

    @property
    def cancelling(self) -> bool:
        """True from `cancelOrder` until the robot has stopped."""
        return "cancelOrder" in self.waiting.values()

    @property
    def active(self) -> bool:
        """True while released nodes are to be reached, or actions to be ended."""
        own = (each for id, each in self.actions.items() if id not in self.waiting)
        waiting = any(each["actionStatus"] not in ENDED for each in own)
        return waiting or any(node["released"] for node in self.nodes)

    # Orders in ---------------------------------------------------------------------------------

    def accept(self, message: Json) -> Part | None:
        """Takes an order or its update; None when it brings nothing to do. What is refused is in `errors`."""
        wrong = faults("order", message) or _order_faults(message)
        if wrong:
            return self._refuse("validationError", wrong[0], message)
        assert isinstance(message, dict)
        if fields := unusable(message):
            references = [{"referenceKey": "field", "referenceValue": field} for field in fields]
            return self._refuse("orderError", f"this robot cannot use {', '.join(fields)}", message, references)
        order, update = str(message["orderId"]), int(message["orderUpdateId"])
        if order != self.order:
            if self.active or self.nodes:
                return self._refuse("orderUpdateError", f"the order `{self.order}` is not done", message)
            if update:
                return self._refuse("orderUpdateError", f"update {update} of an order that is not known here", message)
            return self._begin(message)
        if self.cancelling:
            return self._refuse("orderUpdateError", f"the order `{order}` is being cancelled", message)
        if update == self.update:
            return None  # sent twice
        if update < self.update:
            return self._refuse("orderUpdateError", f"update {self.update} was accepted before", message)
        first = message["nodes"][0]
        if (first["nodeId"], first["sequenceId"]) != self.base_end:
            at = "{} (sequence {})".format(*self.base_end) if self.base_end else "nothing"
            return self._refuse("orderUpdateError", f"the update must begin at the end of the base, {at}", message)
        return self._extend(message)

    def _begin(self, message: Message) -> Part | None:
        self.order, self.update = message["orderId"], message["orderUpdateId"]
        self.errors = []
        self.actions = {id: each for id, each in self.actions.items() if id in self.waiting}
        self.nodes, self.edges = [dict(n) for n in message["nodes"]], [dict(e) for e in message["edges"]]
        return self._part(message, begin=True)

    def _extend(self, message: Message) -> Part | None:
        self.update, self.errors = message["orderUpdateId"], []
        self.nodes = [n for n in self.nodes if n["released"]] + [dict(n) for n in message["nodes"][1:]]
        self.edges = [e for e in self.edges if e["released"]] + [dict(e) for e in message["edges"]]
        return self._part(message, begin=False)

    def _part(self, message: Message, begin: bool) -> Part | None:
        nodes = [n for n in message["nodes"] if n["released"]]
        edges = [e for e in message["edges"] if e["released"]]
        self.base_end = (nodes[-1]["nodeId"], nodes[-1]["sequenceId"])
        for place in [*(nodes if begin else nodes[1:]), *edges]:
            for each in place["actions"]:
                self.actions[each["actionId"]] = {
                    "actionId": each["actionId"], "actionType": each["actionType"], "actionStatus": "WAITING"
                }  # fmt: skip
        todo = stages(nodes[0], edges, nodes[1:], begin)
        return Part(f"vda5050/{self.serial}/{self.order}/{self.update}", todo) if todo else None

    def _refuse(self, kind: str, why: str, message: Json, fields: list[dict[str, str]] | None = None) -> Part | None:
        keys = ("headerId", "orderId", "orderUpdateId")
        given = message if isinstance(message, dict) else {}
        references = [{"referenceKey": key, "referenceValue": str(given[key])} for key in keys if key in given]
        self.error(kind, why, [*references, *(fields or ())])
        return None

    def error(
        self, kind: str, why: str, references: list[dict[str, str]] | None = None, fatal: bool = False
    ) -> None:  # fmt: skip
        self.errors.append({
            "errorType": kind, "errorLevel": "FATAL" if fatal else "WARNING", "errorDescription": why,
            "errorReferences": [dict(each) for each in references or ()],
        })  # fmt: skip
        del self.errors[:-MOST_ERRORS]

    def instant(self, id: str, kind: str, status: str, why: str = "") -> None:
        """Notes how an instant action stands. One that is not done is waited for."""
        self.actions.pop(id, None)
        self.actions[id] = {"actionId": id, "actionType": kind, "actionStatus": status, "resultDescription": why}
        (self.waiting.pop(id, None) if status in ENDED else self.waiting.update({id: kind}))
        ended = [each for each, action in self.actions.items() if action["actionStatus"] in ENDED]
        for old in ended[: max(0, len(self.actions) - MOST_ACTIONS)]:
            del self.actions[old]

    def done(self, kind: str) -> None:
        """All instant actions of this type that were waited for are done."""
        for id in [id for id, each in self.waiting.items() if each == kind]:
            self.instant(id, kind, "FINISHED")

    # What the robot does -----------------------------------------------------------------------

    def begun(self, params: Mapping[str, Json]) -> bool:
        """Notes that a skill with these parameters has started; True when it is one of this order."""
        if (found := self.actions.get(str(params.get("action_id", "")))) is not None:
            found["actionStatus"] = "RUNNING"
        elif self._node(params) is not None:
            self.driving = True
        else:
            return False
        return True

    def ended(self, params: Mapping[str, Json], success: bool, why: str = "") -> bool:
        """Notes that a skill with these parameters has ended; True when it is one of this order."""
        if (found := self.actions.get(str(params.get("action_id", "")))) is not None:
            found["actionStatus"] = "FINISHED" if success else "FAILED"
            found["resultDescription"] = why
        elif (node := self._node(params)) is not None:
            self.driving = False
            if success:
                self._reached(node)
        else:
            return False
        return True

    def _node(self, params: Mapping[str, Json]) -> dict[str, Any] | None:
        at = params.get("sequence_id")
        return (
            next((n for n in self.nodes if n["released"] and n["sequenceId"] == at), None) if at is not None else None
        )

    def _reached(self, node: Mapping[str, Any]) -> None:
        self.last_node, self.last_sequence = node["nodeId"], node["sequenceId"]
        self.nodes = [n for n in self.nodes if n["sequenceId"] > self.last_sequence]
        self.edges = [e for e in self.edges if e["sequenceId"] > self.last_sequence]

    def dropped(self, why: str, failed: bool) -> None:
        """The order's task has failed or was cancelled: nothing of it is to be done any more."""
        if failed:
            self.error("orderError", why, [{"referenceKey": "orderId", "referenceValue": self.order}])
        self.driving = False
        self.nodes, self.edges = [], []
        self.base_end = (self.last_node, self.last_sequence)
        for id, each in self.actions.items():
            if each["actionStatus"] not in ENDED and id not in self.waiting:
                each["actionStatus"], each["resultDescription"] = "FAILED", why

    # State out ---------------------------------------------------------------------------------

    def state(self, vehicle: Vehicle = UNHEARD) -> dict[str, Json]:
        """Returns the body of the state message."""
        keep = ("nodeId", "edgeId", "sequenceId", "released")
        halted = [] if vehicle.halted is None else [{
            "errorType": "halted", "errorLevel": "WARNING", "errorDescription": vehicle.halted, "errorReferences": [],
        }]  # fmt: skip
        return {
            "orderId": self.order, "orderUpdateId": self.update,
            "lastNodeId": self.last_node, "lastNodeSequenceId": self.last_sequence,
            "nodeStates": [{key: n[key] for key in keep if key in n} for n in self.nodes],
            "edgeStates": [{key: e[key] for key in keep if key in e} for e in self.edges],
            "driving": self.driving and not vehicle.stands, "paused": vehicle.halted is not None,
            "newBaseRequest": len(self.nodes) > 0 and sum(n["released"] for n in self.nodes) <= 1 < len(self.nodes),
            "actionStates": [dict(each) for each in self.actions.values()],
            "batteryState": {"batteryCharge": vehicle.battery or 0.0, "charging": False},
            "operatingMode": "AUTOMATIC", "errors": [*map(dict, self.errors), *halted],
            "safetyState": {"eStop": "NONE", "fieldViolation": False},
            "information": [_unknown(vehicle)],
        }  # fmt: skip


def _unknown(vehicle: Vehicle) -> dict[str, Json]:
    """Names the fields that the schema requires, and that nobody has told the bridge."""
    fields = ["batteryState.charging", "safetyState.eStop", "safetyState.fieldViolation", "operatingMode"]
    fields = [*(["batteryState.batteryCharge"] if vehicle.battery is None else []), *fields]
    return {
        "infoType": "unknown", "infoLevel": "INFO", "infoDescription": f"not known here: {', '.join(fields)}",
        "infoReferences": [{"referenceKey": "field", "referenceValue": field} for field in fields],
    }  # fmt: skip


def _order_faults(message: Json) -> list[str]:
    """Returns what is wrong with the graph of an order: nodes and edges must alternate, the base before the horizon."""
    assert isinstance(message, dict)
    nodes, edges = message["nodes"], message["edges"]
    if len(edges) != len(nodes) - 1:
        return [f"{len(nodes)} nodes need {len(nodes) - 1} edges, not {len(edges)}"]
    for before, edge, after in zip(nodes, edges, nodes[1:], strict=False):
        if (edge["startNodeId"], edge["endNodeId"]) != (before["nodeId"], after["nodeId"]):
            return [f"the edge `{edge['edgeId']}` does not join `{before['nodeId']}` and `{after['nodeId']}`"]
        if not before["sequenceId"] < edge["sequenceId"] < after["sequenceId"]:
            return [f"the sequence of the edge `{edge['edgeId']}` is not between those of its nodes"]
        if edge["released"] != after["released"] or (after["released"] and not before["released"]):
            return [f"the base must come before the horizon: see the edge `{edge['edgeId']}`"]
    return [] if nodes[0]["released"] else ["the first node is not released"]
