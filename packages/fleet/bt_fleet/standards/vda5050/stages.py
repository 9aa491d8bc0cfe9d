"""The released part of an order as stages, one after another. What a stage holds happens at the same time.

A drive and the actions of its edge are one stage. Actions of a node follow its drive: a HARD action is a stage of its
own, SOFT and NONE actions between two HARD ones share a stage. NONE actions at the end of a node's list may go on while
the robot drives, so they belong to the next drive's stage, if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bt_runtime.types import Json

Message = Mapping[str, Any]


def stages(first: Message, edges: Sequence[Message], nodes: Sequence[Message], begin: bool) -> list[dict[str, Json]]:
    """Returns the stages from `first`, a node that the robot is at or goes to, over these edges to these nodes.

    begin: a new order, whose first node is driven to and has its actions done; else `first` was done before.
    """
    made: list[dict[str, Json]] = []
    carried: list[dict[str, Json]] = []
    if begin:
        made.append({"drive": drive(first, None), "actions": []})
        carried = _at_node(first, made)
    for edge, node in zip(edges, nodes, strict=True):
        along = [action(each) for each in edge["actions"]]
        made.append({"drive": drive(node, edge), "actions": [*carried, *along]})
        carried = _at_node(node, made)
    if carried:
        made.append({"drive": None, "actions": list[Json](carried)})
    return made


def drive(node: Message, edge: Message | None) -> dict[str, Json]:
    place = node.get("nodePosition", {})
    return {
        "node_id": node["nodeId"], "sequence_id": node["sequenceId"],
        "x": place.get("x"), "y": place.get("y"), "theta": place.get("theta"), "map": place.get("mapId", ""),
        "edge_id": edge["edgeId"] if edge is not None else "",
        "speed": edge.get("maxSpeed") if edge is not None else None,
    }  # fmt: skip


def action(given: Message) -> dict[str, Json]:
    parameters = {each["key"]: each["value"] for each in given.get("actionParameters", ())}
    return {"action_id": given["actionId"], "type": given["actionType"], "parameters": parameters}


def _at_node(node: Message, made: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Adds the stages of a node's actions; returns those that may go on while the robot drives."""
    groups = list(_groups(node["actions"]))
    carried: list[dict[str, Json]] = []
    if groups and all(each["blockingType"] == "NONE" for each in groups[-1]):
        carried = [action(each) for each in groups.pop()]
    made += [{"drive": None, "actions": [action(each) for each in group]} for group in groups]
    return carried


def _groups(actions: Sequence[Message]) -> Iterator[list[Message]]:
    """Yields the actions that may happen at the same time, in their order."""
    together: list[Message] = []
    for each in actions:
        if each["blockingType"] != "HARD":
            together.append(each)
            continue
        if together:
            yield together
        together = []
        yield [each]
    if together:
        yield together
