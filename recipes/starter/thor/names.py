"""The names of THOR's objects as its world writes them: `Drawer (1)`."""

from __future__ import annotations

import re

from bt_envs.alfred import kinds
from bt_envs.thor.tasks import LAMPS

_GROUP = re.compile(r"(\w+) \(([\d, ]+)\)")
LAMP = "lamp"  # whatever gives light, where a person says no more
EITHER = {"knife": kinds.KNIVES, LAMP: frozenset(LAMPS)}


def names_in(told: str) -> list[str]:
    """`Drawer (1, 2)` → Drawer (1), Drawer (2)."""
    return [f"{kind} ({number})" for kind, numbers in _GROUP.findall(told) for number in numbers.split(", ")]


def kind_of(name: str) -> str:
    return name.partition(" ")[0]


def is_a(name: str, kind: str) -> bool:
    """`knife`: whatever cuts."""
    return kind_of(name) == kind or kind_of(name) in EITHER.get(kind, ())


def a(kind: str) -> str:
    return f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"
