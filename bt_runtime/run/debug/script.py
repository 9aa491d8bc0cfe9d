"""A stand-in for a node or a skill: each start follows its script and is recorded."""

from __future__ import annotations

import json
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.language.kinds.kind import Field
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.types import Json

# One start of a scripted skill: a status, ticks to run before success, `after(…)`, an exception, a value that it
# returns, or a function of the parameters that gives any of these.
Act = Any
FOR_EVER = -1  # ticks


class LaterResult:
    """RUNNING for some ticks, then a result."""

    def __init__(self, ticks: int, result: Act) -> None:
        self.ticks = ticks
        self.result = result

    def __repr__(self) -> str:
        return f"after({self.ticks}, {said(self.result)})"


def after(ticks: int, result: Act = SUCCESS) -> LaterResult:
    return LaterResult(ticks, result)


def said(act: Act) -> str:
    """Returns an act as a user would write it."""
    if isinstance(act, list):
        return f"[{', '.join(map(said, act))}]"
    if isinstance(act, BaseException):
        return f"{type(act).__name__}({', '.join(map(literal, act.args))})"
    return act.name if isinstance(act, Status) else repr(act) if isinstance(act, LaterResult) else literal(act)


def literal(value: object) -> str:
    """Formats a value as Python source, with double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(each)}" for key, each in value.items()) + "}"
    return f"[{', '.join(map(literal, value))}]" if isinstance(value, list) else repr(value)


class Script:
    """The script of a skill, and a record of its starts. `acts` is one act for every start, or a list: one a start,
    with the last one repeated."""

    def __init__(self, acts: Act | list[Act] = SUCCESS) -> None:
        self.acts: list[Act] = list(acts) if isinstance(acts, list) else [acts]
        self.starts: list[dict[str, Json]] = []  # the parameters of each start
        self.cancels = 0
        self.polls = 0

    def begin(self, params: dict[str, Json]) -> LaterResult:
        self.starts.append(params)
        act = self.acts[min(len(self.starts), len(self.acts)) - 1] if self.acts else SUCCESS
        if callable(act) and not isinstance(act, type):
            act = act(**params)
        if isinstance(act, LaterResult):
            return LaterResult(FOR_EVER, SUCCESS) if act.result is RUNNING else act
        if act is RUNNING:
            return LaterResult(FOR_EVER, SUCCESS)
        return LaterResult(act, SUCCESS) if isinstance(act, int) and not isinstance(act, bool) else LaterResult(0, act)

    @property
    def started(self) -> int:
        return len(self.starts)


def outputs_of(node: Any) -> list[Field]:
    """Returns the outputs that a skill's node writes into entries."""
    return list(getattr(node, "written", ()))


def entry_of(node: Any, field: Field) -> str:
    return str(node.spec.values[field.name].text.strip())


class Double(Behaviour):
    """Replaces a node; each start follows its script. A mapping is a success that writes the outputs of a skill."""

    def __init__(self, name: str, script: Script, replaced: Any = None) -> None:
        super().__init__(name)
        self.script = script
        self.replaced = replaced
        self.left = 0
        self.result: Act = SUCCESS

    def initialise(self) -> None:
        begun = self.script.begin({})
        self.left, self.result = begun.ticks, begun.result

    def update(self) -> Status:
        self.script.polls += 1
        if self.left:
            self.left -= 1 if self.left > 0 else 0
            return RUNNING
        if isinstance(self.result, BaseException):
            raise self.result
        if isinstance(self.result, dict):
            for field in outputs_of(self.replaced):
                if field.name in self.result:
                    self.replaced.scope[entry_of(self.replaced, field)] = self.result[field.name]
        return self.result if isinstance(self.result, Status) else FAILURE if self.result is False else SUCCESS

    def terminate(self, new_status: Status) -> None:
        if new_status is INVALID and self.status is RUNNING:
            self.script.cancels += 1
