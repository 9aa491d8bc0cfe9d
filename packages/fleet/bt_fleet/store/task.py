"""A task: a tree with its inputs, who may do it and when, under an id that makes sending it twice harmless."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bt_fleet.server.names import named
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

_NEED = re.compile(r"([A-Za-z_]\w*)(?:\s*(<=|>=|!=|==|=|<|>)\s*([\w.+-]+))?\Z")
_WORLD = ("env", "task", "seed", "option")


@dataclass(frozen=True)
class Task:
    """What is to be done. Times are seconds since 1970."""

    id: str
    tree: str
    inputs: Mapping[str, Json] = field(default_factory=dict)
    needs: str = ""  # "gripper,level<3": each must hold of the robot's facts
    to: str | None = None  # the only robot that may take it
    at: float | None = None  # moment before which it does not begin
    by: float | None = None  # moment after which it does not begin
    priority: int = 0  # larger: earlier
    world: Mapping[str, Json] = field(default_factory=dict)  # env, task, seed, option: as `btr run` takes them
    digest: str | None = None  # the version of the tree; None: as the robot's project has it
    sender: str = ""

    def __post_init__(self) -> None:
        named(self.id, "a task")
        if self.to is not None:
            named(self.to, "a robot")
        needed(self.needs)
        if odd := set(self.world) - set(_WORLD):
            raise BtError(f"`{min(odd)}` is nothing that a task says of its world", f"it may say {', '.join(_WORLD)}")

    def words(self) -> list[str]:
        """Returns the arguments of `btr run` for this task."""
        text = [
            f"--set={name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in self.inputs.items()
        ]
        for name, value in self.world.items():
            text += [f"--{name}={each}" for each in (value if isinstance(value, list) else [value])]
        return [self.tree, *text]

    def plain(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in (None, "", {}, 0) or name == "id"}


def of(data: Mapping[str, Any]) -> Task:
    """Returns the task that `plain` wrote; fields of a later version are ignored."""
    return Task(**{name: value for name, value in data.items() if name in Task.__dataclass_fields__})


def placed(tree: str) -> str:
    """Returns a tree's name when a robot looks for it in its own project; BtError for a path that leads elsewhere."""
    if not tree or tree.startswith("-") or Path(tree).is_absolute() or ".." in Path(tree).parts:
        raise BtError(f"`{tree:.80}` names no tree of the robots' projects", "write its name, or its path in a project")
    return tree


def new_id() -> str:
    return secrets.token_hex(6)


def needed(text: str) -> list[tuple[str, str, str]]:
    """Returns the needs as name, comparison, value; BtError for a text that is none."""
    found = []
    for each in filter(str.strip, text.split(",")):
        match = _NEED.match(each.strip())
        if match is None:
            raise BtError(f"`{each.strip()}` is no need", "write a fact's name, or compare it: --needs gripper,level<3")
        found.append((match[1], match[2] or "", match[3] or ""))
    return found


def lacking(needs: str, facts: Mapping[str, Json]) -> str:
    """Returns the first need that the facts do not meet; "" when they meet all. A bare name must be there and true."""
    for name, comparison, value in needed(needs):
        fact = facts.get(name)
        if not (bool(fact) if not comparison else fact is not None and _compared(fact, comparison, value)):
            return f"{name}{comparison}{value}"
    return ""


def _compared(fact: Json, comparison: str, value: str) -> bool:
    try:
        left: Any = float(fact)
        right: Any = float(value)
    except (TypeError, ValueError):
        left, right = (str(fact).lower() if isinstance(fact, bool) else str(fact)), value
        if comparison not in {"=", "==", "!="}:
            return False
    return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right,
                 "=": left == right, "==": left == right, "!=": left != right}[comparison])  # fmt: skip
