"""Generalises goals: a part that differs between goals, and is a value of actions, becomes a slot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from bt_runtime.agents.compile.form import single

_WORD = re.compile(r"\w+(?:['-]\w+)*|[^\w\s]")


class Goal(NamedTuple):
    """A goal as its form, `find and pick up the <thing> in <place>`, and its slot values."""

    form: str
    slots: Mapping[str, str]


class GoalReader:
    """Reads goals by the slots that values fill in actions."""

    def __init__(self, roles: Mapping[str, str]) -> None:
        self.roles = {value.lower(): slot for value, slot in roles.items()}
        self.longest = max((len(_WORD.findall(value)) for value in self.roles), default=0)
        self.read = lru_cache(maxsize=20_000)(self._read)

    def _read(self, goal: str) -> Goal:
        spans = [(m.start(), m.end()) for m in _WORD.finditer(goal)]
        at, out, last, slots = 0, "", 0, dict[str, str]()
        while at < len(spans):
            for count in range(min(self.longest, len(spans) - at), 0, -1):
                start, end = spans[at][0], spans[at + count - 1][1]
                value = goal[start:end]
                one, plural = self._single(value)
                slot = self.roles.get(one.lower())
                if slot is not None:
                    name = self._named(slot, one, slots)
                    out, last, at = f"{out}{goal[last:start]}<{name}>{plural}", end, at + count
                    break
            else:
                at += 1
        return Goal(out + goal[last:], slots)

    def _single(self, value: str) -> tuple[str, str]:
        """Returns a value in the singular, and its plural ending: `wine glass`, `s`."""
        if value.lower() in self.roles:
            return value, ""
        one = single(value)
        return (one, "s") if one != value and one.lower() in self.roles else (value, "")

    def _named(self, slot: str, value: str, slots: dict[str, str]) -> str:
        """Returns the slot's name, with a number when another value has it. Equal values share a slot."""
        for name, given in slots.items():
            if given == value:
                return name
        name, count = slot, 1
        while name in slots:
            count += 1
            name = f"{slot}_{count}"
        slots[name] = value
        return name
