"""A vehicle's order as VDA 5050 knows it: what is accepted, what is refused, and what the state message says of it.

It has no clock, no connection and no tree. It is kept as two entries of the vehicle's run, `order` and `notes`; how far
the order has come is what the run's tree writes (`Progress`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_fleet.standards.vda5050.messages import faults, unusable
from bt_fleet.standards.vda5050.steps import Step, Steps
from bt_runtime.types import Json

Message = Mapping[str, Any]
ENDED = ("FINISHED", "FAILED")
MOST_ERRORS, MOST_INSTANTS = 20, 100  # in a state message: the latest errors, and instant actions that have ended
NEAR = 0.3  # metres from a node at which a vehicle is there, unless the order allows more
CANCELLED = "cancelled by the master control"
_ORDER = ("order", "update", "nodes", "edges", "base_end", "last", "placed", "steps", "actions", "given", "next",
          "beside", "dropping", "over", "fixed")  # fmt: skip
_NOTES = ("instants", "errors", "running", "seen")


class Progress(NamedTuple):
    """How far the tree has come, by the entries that it writes."""

    done: int = 0  # steps of the queue
    beside: int = 0  # NONE actions
    failed: str = ""
    statuses: Mapping[int, str] = {}  # status of begun actions, by number
    whys: Mapping[int, str] = {}


class Journey:
    """The state of one vehicle's order."""

    def __init__(self, order: Message | None = None, notes: Message | None = None) -> None:
        self.order, self.update = "", 0
        self.nodes: list[dict[str, Any]] = []  # nodes of the order and its horizon, from the first on
        self.edges: list[dict[str, Any]] = []
        self.base_end: list[Any] = []  # the last released node, where an update begins: its id and sequence
        self.last: list[Any] = ["", 0]  # the node that was reached last before this order
        self.placed: list[Any] = []  # positions set by `initPosition`
        self.steps: list[list[Any]] = []  # steps of the tree
        self.actions: list[list[Any]] = []  # [number, id, type] of each action of the order
        self.given: dict[str, Any] = {}  # actions as the master control sent them, by number
        self.next, self.beside = 0, 0  # numbers for the next step, and of NONE actions
        self.dropping: list[str] = []  # while the order ends before its time: why, and the type of error; [] otherwise
        self.over = False  # the order has ended before its time
        self.fixed: dict[str, list[str]] = {}  # status and reason of each action then, by its number
        self.instants: dict[str, dict[str, Any]] = {}
        self.running: dict[str, int] = {}  # instant actions that steps do, with their numbers
        self.errors: list[dict[str, Json]] = []
        self.seen: list[str] = []  # ids of instant actions, also before this order: one that is sent twice is one
        for name in (*(_ORDER if order else ()), *(_NOTES if notes else ())):
            setattr(self, name, (order if name in _ORDER else notes or {})[name])  # type: ignore[index]

    def kept(self) -> dict[str, Json]:
        """Returns the entries of the run that keep this."""
        return {"order": {name: getattr(self, name) for name in _ORDER},
                "notes": {name: getattr(self, name) for name in _NOTES}}  # fmt: skip

    def planned(self) -> list[Step]:
        """Returns the steps that belong into the tree: of the order while it stands, and of instant actions."""
        gone = bool(self.dropping) or self.over
        return [Step(*each) for each in self.steps if each[0] == "instant" or not gone]

    def left(self, progress: Progress) -> list[Step]:
        """Returns the steps that have not ended."""
        return [each for each in self.planned() if not _over(each, progress)]

    # How far it has come -----------------------------------------------------------------------

    def passed(self, progress: Progress) -> list[Any]:
        """Returns the node of this order that was reached last: its id and sequence; [] for none."""
        reached = [step.node for step in (Step(*each) for each in self.steps)
                   if step.kind == "drive" and step.at < progress.done]  # fmt: skip
        return [reached[-1]["nodeId"], reached[-1]["sequenceId"]] if reached else []

    def at(self, progress: Progress) -> list[Any]:
        """Returns the last node of the vehicle, and its sequence."""
        return self.placed or self.passed(progress) or self.last

    def ahead(self, progress: Progress) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Returns the nodes and edges that are still to be reached."""
        if self.over:
            return [], []
        reached = (self.passed(progress) or ["", -1])[1]
        return ([n for n in self.nodes if n["sequenceId"] > reached],
                [e for e in self.edges if e["sequenceId"] > reached])  # fmt: skip

    def status(self, number: int, progress: Progress) -> list[str]:
        now = [progress.statuses.get(number, "WAITING"), progress.whys.get(number, "")]
        return self.fixed.get(str(number)) or now

    def active(self, progress: Progress) -> bool:
        """True while something of the order is to be done or waited for: also nodes of the horizon."""
        waiting = any(self.status(each[0], progress)[0] not in ENDED for each in self.actions)
        return waiting or bool(self.ahead(progress)[0])

    # Orders in ---------------------------------------------------------------------------------

    def accepted(self, message: Json, progress: Progress, position: Json = None) -> Journey | None:
        """Takes an order or its update. Returns another journey for a new order, itself for an update, and None when
        the message brings nothing to do. What is refused is in `errors`. `position`: the vehicle's, if it knows it."""
        wrong = faults("order", message) or _order_faults(message)
        if wrong:
            return self._refuse("validationError", wrong[0], message)
        assert isinstance(message, dict)
        if fields := unusable(message):
            references = [{"referenceKey": "field", "referenceValue": field} for field in fields]
            return self._refuse("orderError", f"this vehicle cannot use {', '.join(fields)}", message, references)
        order, update = str(message["orderId"]), int(message["orderUpdateId"])
        if order != self.order:
            if self.active(progress) or self.running:
                return self._refuse("orderUpdateError", f"the order `{self.order}` is not done", message)
            if update:
                return self._refuse("orderUpdateError", f"update {update} of an order that is not known here", message)
            node, last = message["nodes"][0], self.at(progress)[0]
            if node["nodeId"] != last and not _near(node, position, unknown=not last):
                return self._refuse(
                    "noRouteError", f"the vehicle is not at the first node, `{node['nodeId']}`", message
                )
            return self._begun(message, progress)
        if update == self.update:
            return None  # sent twice
        if self.dropping or self.over:
            return self._refuse("orderUpdateError", f"the order `{order}` has ended before its time", message)
        if update < self.update:
            return self._refuse("orderUpdateError", f"update {self.update} was accepted before", message)
        first = message["nodes"][0]
        if [first["nodeId"], first["sequenceId"]] != self.base_end:
            at = "{} (sequence {})".format(*self.base_end)
            return self._refuse("orderUpdateError", f"the update must begin at the end of the base, {at}", message)
        return self._extended(message, progress)

    def _begun(self, message: Message, progress: Progress) -> Journey:
        new = Journey()
        new.order, new.update = message["orderId"], message["orderUpdateId"]
        new.last = self.at(progress)
        new.nodes, new.edges = ([_named(each) for each in message[name]] for name in ("nodes", "edges"))
        new.seen = self.seen
        new.instants = {id: each for id, each in self.instants.items() if each["actionStatus"] not in ENDED}
        new._add(message, begin=True)
        return new

    def _extended(self, message: Message, progress: Progress) -> Journey:
        self.update, self.errors = message["orderUpdateId"], []
        self.nodes = [n for n in self.nodes if n["released"]] + [_named(n) for n in message["nodes"][1:]]
        self.edges = [e for e in self.edges if e["released"]] + [_named(e) for e in message["edges"]]
        self._add(message, begin=False)
        return self

    def _add(self, message: Message, begin: bool) -> None:
        nodes = [n for n in message["nodes"] if n["released"]]
        edges = [e for e in message["edges"] if e["released"]]
        self.base_end = [nodes[-1]["nodeId"], nodes[-1]["sequenceId"]]
        steps = Steps(self.next, self.beside, len(self.given))
        steps.take(nodes[0], edges, nodes[1:], begin)
        self.next, self.beside = steps.next, steps.beside
        self.steps += [list(each) for each in steps.made]
        self.actions += [[n, each["actionId"], each["actionType"]] for n, each in steps.actions.items()]
        self.given |= {str(number): action(each) for number, each in steps.actions.items()}

    def stops(self, step: Step) -> bool:
        """True when the vehicle has to stand at the end of this drive: the base ends there, or actions do not let it
        go on."""
        return not any(each[0] == "drive" and each[1] == step.at + 1 for each in self.steps)

    def _refuse(self, kind: str, why: str, message: Json, fields: Sequence[Mapping[str, str]] = ()) -> Journey | None:
        keys = ("headerId", "orderId", "orderUpdateId")
        given = message if isinstance(message, dict) else {}
        references = [{"referenceKey": key, "referenceValue": str(given[key])} for key in keys if key in given]
        self.error(kind, why, [*references, *fields])
        return None

    def error(self, kind: str, why: str, references: Sequence[Mapping[str, str]] = ()) -> None:
        error: dict[str, Json] = {
            "errorType": kind, "errorLevel": "WARNING", "errorDescription": why,
            "errorReferences": [dict(each) for each in references],
        }  # fmt: skip
        self.errors = [*(each for each in self.errors if each != error), error]
        del self.errors[:-MOST_ERRORS]

    # Ends before their time --------------------------------------------------------------------

    def drop(self, why: str, kind: str = "") -> None:
        """Ends the order: its steps leave the tree. `kind`: the type of the error; "" for a cancel."""
        self.dropping = self.dropping or [why, kind]

    def dropped(self, progress: Progress) -> None:
        """The vehicle stands: nothing of the order is to be done any more."""
        why, kind = self.dropping
        if kind:
            self.error(kind, why, [{"referenceKey": "orderId", "referenceValue": self.order}])
        for number, *_ in self.actions:
            status, reason = self.status(number, progress)
            self.fixed[str(number)] = [status, reason] if status in ENDED else ["FAILED", reason or why]
        self.dropping, self.over = [], True
        self.ended("cancelOrder")

    def refused(self, step: Step, why: str) -> None:
        """Takes that the tree cannot have this step: its instant action has failed, or the order."""
        if step.kind != "instant":
            self.drop(why, "orderError")
            return
        given = self.given[str(step.acts[0])]
        self.instant(given["actionId"], given["actionType"], "FAILED", why)
        self.running.pop(given["actionId"], None)
        self.steps = [each for each in self.steps if Step(*each).name != step.name]

    # Instant actions ---------------------------------------------------------------------------

    def instant(self, id: str, kind: str, status: str, why: str = "") -> None:
        """Notes how an instant action stands. One that is RUNNING is waited for."""
        self.seen = [*(each for each in self.seen if each != id), id][-MOST_INSTANTS:]
        self.instants.pop(id, None)
        self.instants[id] = {"actionId": id, "actionType": kind, "actionStatus": status, "resultDescription": why}
        ended = [each for each, action in self.instants.items() if action["actionStatus"] in ENDED]
        for old in ended[: max(0, len(ended) - MOST_INSTANTS)]:
            del self.instants[old]

    def ended(self, kind: str) -> bool:
        """Notes that all instant actions of this type are done; True when there were any."""
        found = [id for id, e in self.instants.items() if e["actionType"] == kind and e["actionStatus"] not in ENDED]
        for id in found:
            self.instant(id, kind, "FINISHED")
        return bool(found)

    def do(self, given: Message) -> None:
        """Lets the project's tree do an instant action, beside the order."""
        number = len(self.given)
        self.given[str(number)] = action(given)
        self.running[given["actionId"]] = number
        self.steps.append(list(Step("instant", 0, acts=(number,))))
        self.instant(given["actionId"], given["actionType"], "RUNNING")

    def look(self, progress: Progress) -> bool:
        """Takes the ends of instant actions that the tree has done; True when there were any."""
        over = [(id, n) for id, n in self.running.items() if progress.statuses.get(n) in ENDED]
        for id, number in over:
            given, status = self.given[str(number)], progress.statuses[number]
            self.instant(id, given["actionType"], status, progress.whys.get(number, ""))
            del self.running[id]
            if given["actionType"] == "initPosition" and status == "FINISHED":
                self.placed = [str(given["parameters"].get("lastNodeId", "")), 0]
        return bool(over)

    # State out ---------------------------------------------------------------------------------

    def state(self, progress: Progress, moving: bool, paused: bool, halted: str) -> dict[str, Json]:
        """Returns what the state message says of the order."""
        nodes, edges = self.ahead(progress)
        node, sequence = self.at(progress)
        actions = [
            {"actionId": id, "actionType": kind, "actionStatus": status, "resultDescription": why}
            for number, id, kind in self.actions
            for status, why in [self.status(number, progress)]
        ]
        halts = [{
            "errorType": "halted", "errorLevel": "WARNING", "errorDescription": halted, "errorReferences": [],
        }] if halted else []  # fmt: skip
        return {
            "orderId": self.order, "orderUpdateId": self.update, "lastNodeId": node, "lastNodeSequenceId": sequence,
            "nodeStates": nodes, "edgeStates": edges, "driving": moving, "paused": paused,
            "newBaseRequest": sum(n["released"] for n in nodes) <= 1 < len(nodes),
            "actionStates": [*actions, *self.instants.values()], "errors": [*self.errors, *halts],
        }  # fmt: skip


def action(given: Message) -> dict[str, Json]:
    """Returns an action as the project's tree gets it."""
    parameters = {each["key"]: each["value"] for each in given.get("actionParameters", ())}
    return {"actionId": given["actionId"], "actionType": given["actionType"], "parameters": parameters}


def _named(place: Message) -> dict[str, Any]:
    return {key: place[key] for key in ("nodeId", "edgeId", "sequenceId", "released") if key in place}


def _near(node: Message, position: Json, unknown: bool) -> bool:
    """True when the vehicle is where the node is; `unknown` when that cannot be told."""
    place = node.get("nodePosition")
    if not isinstance(position, dict) or place is None:
        return unknown
    away = math.hypot(place["x"] - position["x"], place["y"] - position["y"])
    return bool(place["mapId"] == position["mapId"]) and away <= max(place.get("allowedDeviationXY", 0.0), NEAR)


def _over(step: Step, progress: Progress) -> bool:
    if step.kind in ("drive", "acts"):
        return step.at < progress.done
    return progress.statuses.get(step.acts[0], "") in ENDED


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
    ids = [each["actionId"] for place in (*nodes, *edges) for each in place["actions"]]
    if len(ids) != len(set(ids)):
        return ["two actions have one actionId"]
    return [] if nodes[0]["released"] else ["the first node is not released"]
