"""The released part of an order as steps of the vehicle's tree, each a node that is grafted into its run.

A drive to a node is a step of the queue. So are the actions that keep the vehicle from driving: a HARD action alone,
SOFT actions between two HARD ones together. A step begins when the one before it has ended. A NONE action stands beside
the queue: it begins when the queue has come to its place, and keeps nothing waiting but a HARD action.

The text of a graft holds numbers only. What the master control has written is handed on in entries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from bt_runtime.types import Json

Message = Mapping[str, Any]
TREE = "vda5050"  # the run's tree
STEPS = f"/{TREE}/steps"  # where steps are grafted
DRIVE, ACT = "vehicle_drive", "vehicle_act"  # the project's trees
ACTING = "action_"  # the node of an action, with its number
WHY = "{error.message}"
RUN = f"""
version: 1
tree: {TREE}
about: A vehicle's order. Its steps stand side by side, and each waits for its turn.
blackboard:
  order: {{type: object, about: What the master control has sent.}}
  notes: {{type: object, default: {{}}, about: Instant actions and errors.}}
  paused: {{type: boolean, default: false, outside: true, about: The master control has paused the vehicle.}}
  halted: {{type: string, default: "", outside: true, about: Why an operator has halted it.}}
  done: {{type: integer, default: 0, outside: false, about: Steps of the queue that have ended.}}
  beside: {{type: integer, default: 0, outside: false, about: NONE actions that have ended.}}
  driving: {{type: boolean, default: false, outside: false, about: A drive is at work.}}
  failed: {{type: string, default: "", outside: false, about: Why a step has failed.}}
  over: {{type: boolean, default: false, outside: true, about: The next order has begun.}}
root:
  sequence:
    - parallel:
        name: steps
        children:
          - wait: {{until: over}}
    - check: failed == ""
"""

# How steps call the project's trees: loaded at the start, so that their faults are told then.
CALLS = f"""
version: 1
tree: {TREE}
blackboard: {{node: object, edge: object, stop: boolean, action: object}}
root:
  sequence:
    - tree: {{file: {DRIVE}, with: {{node: "{{node}}", edge: "{{edge}}", stop: "{{stop}}"}}}}
    - tree: {{file: {ACT}, with: {{action: "{{action}}"}}}}
"""


class Step(NamedTuple):
    """A part of the tree. It is kept as a list in the run's entry `order`."""

    kind: Literal["drive", "acts", "beside", "instant"]
    at: int  # its number in the queue; of a NONE action: the number that it waits for
    node: Json = None  # target node of a drive
    edge: Json = None
    acts: Sequence[int] = ()  # the numbers of its actions
    before: int = 0  # NONE actions that must have ended first

    @property
    def name(self) -> str:
        queued = self.kind in ("drive", "acts")
        return f"step_{self.at}" if queued else f"{self.kind}_{self.acts[0]}"


class Steps:
    """Makes steps: `first` is the number of the next step of the queue, `beside` counts the NONE actions so far."""

    def __init__(self, first: int = 0, beside: int = 0, actions: int = 0) -> None:
        self.next, self.beside = first, beside
        self.made: list[Step] = []
        self.actions: dict[int, Message] = {}  # actions by number
        self._numbers = actions

    def take(self, first: Message, edges: Sequence[Message], nodes: Sequence[Message], begin: bool) -> None:
        """Takes the way from `first` over these edges to these nodes.

        begin: a new order, whose first node is driven to and has its actions done; else `first` was taken before.
        """
        if begin:
            self._drive(first, {})
        for edge, node in zip(edges, nodes, strict=True):
            self._act(edge["actions"])
            self._drive(node, edge)

    def _drive(self, node: Message, edge: Message) -> None:
        self.made.append(Step("drive", self._queued(), dict(node), dict(edge)))
        self._act(node["actions"])

    def _queued(self) -> int:
        self.next += 1
        return self.next - 1

    def _act(self, actions: Sequence[Message]) -> None:
        together: list[int] = []  # SOFT actions
        for each in actions:
            number, blocking = self._numbers, each["blockingType"]
            self._numbers += 1
            self.actions[number] = each
            if blocking == "SOFT":
                together.append(number)
            elif blocking == "NONE":
                self.made.append(Step("beside", self.next, acts=(number,)))
                self.beside += 1
            else:
                self._together(together)
                together = []
                self.made.append(Step("acts", self._queued(), acts=(number,), before=self.beside))
        self._together(together)

    def _together(self, actions: list[int]) -> None:
        if actions:
            self.made.append(Step("acts", self._queued(), acts=tuple(actions)))


def entries(step: Step, actions: Mapping[int, Message], stop: bool) -> dict[str, Json]:
    """Returns what a step's nodes read: the node and the edge of a drive, the parameters of actions."""
    if step.kind == "drive":
        return {f"node_{step.at}": step.node, f"edge_{step.at}": step.edge, f"stop_{step.at}": stop}
    return {f"action_{number}": {**actions[number]} for number in step.acts}


def graft(step: Step) -> str:
    """Returns the nodes of a step, as JSON, which is YAML too."""
    k, order = step.at, step.kind != "instant"
    work: list[Json] = [_driven(k)] if step.kind == "drive" else [_action(each, order) for each in step.acts]
    begin, end = f"done == {k}", dict[str, Json](done=k + 1)
    if step.kind in ("beside", "instant"):
        begin, end = f"done >= {k}", {"beside": "{beside + 1}"} if order else {}
    elif step.before:
        begin += f" and beside >= {step.before}"
    at_once: Json = work[0] if len(work) == 1 else {"parallel": work}
    children = [{"wait": {"until": begin}}, at_once, *([{"set": end}] if end else [])]
    return json.dumps({"sequence": {"name": step.name, "children": children}})


def _driven(k: int) -> Json:
    """A drive. A pause and a halt cancel it, and it is started again after them."""
    given = {name: f"{{{name}_{k}}}" for name in ("node", "edge", "stop")}
    drive = {
        "children": [{"set": {"driving": True}}, {"tree": {"file": DRIVE, "with": given}}],
        "on_end": {"driving": False}, "on_halt": {"driving": False},
    }  # fmt: skip
    free = {"wait": {"until": 'not paused and halted == ""'}}
    return _tried({"reactive_sequence": [free, {"sequence": drive}]}, {"failed": WHY}, stays=True)


def _action(n: int, order: bool) -> Json:
    """An action. One of an order that fails ends the order; an instant one fails alone."""
    work = [
        {"set": {f"status_{n}": "INITIALIZING"}},
        {"tree": {"file": ACT, "with": {"action": f"{{action_{n}}}"}, "name": f"{ACTING}{n}"}},
        {"set": {f"status_{n}": "FINISHED"}},
    ]  # fmt: skip
    failed = {f"status_{n}": "FAILED", f"why_{n}": WHY, **({"failed": WHY} if order else {})}
    return _tried({"sequence": work}, failed, stays=order)


def _tried(work: Json, failed: dict[str, Json], stays: bool) -> Json:
    """stays: after a failure it is RUNNING until it is taken out of the tree, so that no later step begins."""
    catch: list[Json] = [{"set": failed}, *([{"wait": {"until": "over"}}] if stays else [])]
    return {"try": {"do": work, "catch": {"sequence": catch}}}
