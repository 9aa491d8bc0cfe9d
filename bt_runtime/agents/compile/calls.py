"""Which cases of a compiled tree call which: a part that one case calls once is written in place there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bt_runtime.agents.compile.cases import CompiledCase
from bt_runtime.agents.compile.procedure import Block, every
from bt_runtime.agents.compile.steps import IT
from bt_runtime.agents.compile.yaml_text import N

LEAVE = "leave"  # the input with the values that a search leaves out
_HOLE = re.compile(rf"\{{{IT}\.(\w+)")


class InlinedPart(NamedTuple):
    """A part that is written where it is called. `slots`: what its slots are called there."""

    case: CompiledCase
    slots: Mapping[str, str]


class Calls:
    """`parts`: forms that no agent had as a goal."""

    def __init__(self, cases: Iterable[CompiledCase], parts: frozenset[str]) -> None:
        self.parts = [case for case in cases if parts.issuperset(case.forms)]
        called = [block.step for case in cases for block in every(Block, case.items) if block.step.what == "call"]
        goals = [(goal, step.leave) for step in called for goal in step.goals]
        found = [(inside.case.name, leave) for goal, leave in goals if (inside := self._part(goal)) is not None]
        counted = Counter(name for name, _ in found)
        self.once = frozenset(case.name for case in self.parts if counted[case.name] < 2)
        self.leaving = frozenset(name for name, leave in found if leave and name not in self.once)

    def inside(self, goal: str) -> InlinedPart | None:
        """Returns the part that is written in place of a call with this goal."""
        found = self._part(goal)
        return found if found is not None and found.case.name in self.once else None

    def leaves(self, goal: str) -> bool:
        """True when a call with this goal may say what its search leaves out."""
        found = self._part(goal)
        return found is not None and found.case.name in self.leaving

    def _part(self, goal: str) -> InlinedPart | None:
        for case in self.parts:
            for form in case.forms:
                slots = _read(form, goal)
                if slots is not None:
                    return InlinedPart(case, slots)
        return None


def _read(form: str, goal: str) -> dict[str, str] | None:
    """`take <thing>` and `take {it.thing_2}` → {thing: thing_2}."""
    wanted = re.sub(r"<(\w+)>", rf"\\{{{IT}\\.(?P<\1>\\w+)\\}}", re.escape(form))
    found = re.fullmatch(wanted, goal)
    return found.groupdict() if found is not None else None


def renamed(node: N, slots: Mapping[str, str]) -> N:
    """Returns a node with other names for the goal's slots."""
    return N(node.kind, _renamed(node.value, slots), node.note)


def _renamed(value: Any, slots: Mapping[str, str]) -> Any:
    if isinstance(value, N):
        return renamed(value, slots)
    if isinstance(value, str):
        return _HOLE.sub(lambda hole: f"{{{IT}.{slots.get(hole[1], hole[1])}", value)
    if isinstance(value, Mapping):
        return {key: _renamed(each, slots) for key, each in value.items()}
    return [_renamed(each, slots) for each in value] if isinstance(value, list | tuple) else value
