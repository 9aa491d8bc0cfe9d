"""Nodes that choose one of a few named branches: if, while, switch, try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py_trees import composites
from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, Steppable, halt, path_of
from bt_runtime.tree.nodes.parent import Chooser, Turn
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context


class Branches(Chooser, composites.Composite):
    """A node with children at named places; at most one of them is active."""

    STATE = ("places",)

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.places = list(spec.places)

    def branch(self, place: str) -> Steppable | None:
        """The child at this place, or None."""
        return self.children[self.places.index(place)] if place in self.places else None

    def at_place(self, place: str) -> Steppable:
        return self.children[self.places.index(place)]

    def removed(self, index: int, child: Behaviour) -> None:
        super().removed(index, child)
        del self.places[index]


class If(Branches):
    HOLDS = True
    ROUND = ("taken",)
    taken = ""  # the place of the branch that this round has taken

    def choose(self) -> Turn:
        if self.status is not RUNNING:
            self.taken = ""
        if not self.taken:
            answer = self.ask("check")
            if answer is RUNNING:
                return RUNNING
            self.taken = "then" if answer is SUCCESS else "else"
        return self.branch(self.taken) or FAILURE


class While(Branches):
    def choose(self) -> Turn:
        answer = self.ask("check")
        if answer is RUNNING:
            return RUNNING
        return self.branch("do" if answer is SUCCESS else "else") or FAILURE


class Switch(Branches):
    def choose(self) -> Turn:
        if "on" in self.spec.values:
            case = _text(self.value("on"))
        else:
            answer = self.ask("on")
            if answer is RUNNING:
                return RUNNING
            case = answer.name.lower()
        return self.branch(f"cases:{case}") or self.branch("default") or FAILURE


class Try(Branches):
    """Runs `do`, then `catch` if it failed, then `finally`."""

    HOLDS = True
    ROUND = ("at", "result", "crashes_before")
    at = "do"
    result: Status = INVALID  # the result to give once `finally` has run
    crashes_before = 0

    def choose(self) -> Turn:
        if self.status is not RUNNING:
            self.at = "do"
            self.crashes_before = self.context.crash_count
        return self.at_place(self.at)

    def conclude(self, status: Status) -> Turn:
        if status is RUNNING:
            return status
        if self.at == "finally":
            return self.result
        if self.at == "do" and status is FAILURE and "catch" in self.places:
            fault = self.fault()
            if fault["exception"] or self.spec.values["on"] != "exception":
                return self.turn_to("catch", fault)
        if "finally" in self.places and not (self.at == "do" and status is INVALID):
            self.at, self.result = "finally", status
            return self.at_place("finally")
        return status

    def turn_to(self, place: str, fault: dict[str, Json]) -> Steppable:
        self.scope[self.spec.values["as"]] = fault
        self.at = place
        return self.at_place(place)

    def terminate(self, new_status: Status) -> None:
        """Handles a halt: the children have stopped, and `finally` gets one tick."""
        super().terminate(new_status)
        why = self.context.halting
        todo: list[Steppable] = []
        if self.at == "do" and self.spec.values["on"] == "any" and "catch" in self.places:
            message = f"halted: {why.reason}"
            todo.append(self.turn_to("catch", {"path": path_of(self), "message": message, "exception": False}))
        if self.at != "finally" and "finally" in self.places:
            todo.append(self.at_place("finally"))
        for child in todo:
            child.step()
            if child.status is RUNNING:
                halt(child, self.context, why)

    def ended_by(self, at: int, status: Status) -> Status | None:
        place = self.places[at]
        goes_on = place == "do" and ("finally" in self.places or (status is FAILURE and "catch" in self.places))
        if place == "finally":
            return self.result if self.at == place else None
        return None if goes_on or (place == "catch" and "finally" in self.places) else status

    def explain(self) -> str:
        return f"it has come to its `{self.at}`" if self.at != "do" else super().explain()

    def fault(self) -> dict[str, Json]:
        """Returns the failed node and its message: the first that crashed, else the last that failed.

        Only nodes whose failure made `do` fail count: a handled failure is none."""
        failed: list[Behaviour] = []
        todo: list[Behaviour] = [self.at_place("do")]
        while todo:
            failed.append(todo.pop())
            todo.extend(c for c in reversed(failed[-1].children) if c.status is FAILURE)
        paths = {path_of(node) for node in failed}
        for crash in self.context.crashes:
            if crash.number > self.crashes_before and crash.path in paths:
                return {"path": crash.path, "message": crash.message, "exception": True}
        last = failed[-1]
        return {"path": path_of(last), "message": last.feedback_message, "exception": False}


def _text(value: Json) -> str:
    """Returns a value as text for a case: `true`, `3`, `kitchen`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
