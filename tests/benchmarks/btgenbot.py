"""The public instruction set of BTGenBot-2 (MIT; the file `dataset/bt_dataset.json` of its repository, which a person
fetches): each row names actions, describes a behaviour, and has a tree of BehaviorTree.CPP as its answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

_ACTION = re.compile(r"(\w+) \(parameters: ([^)]*)\)")
_TAG = re.compile(r"<(\w+)[\s/>]")


class Row(NamedTuple):
    text: str
    actions: dict[str, list[str]]  # with their parameters
    used: frozenset[str]  # actions of the tree that is given as the answer


def rows(path: Path, most: int) -> list[Row]:
    found = []
    for each in json.loads(path.read_text("utf-8"))[:most]:
        text, _, listed = each["input"].partition("Actions:")
        actions = {
            name: [p.strip() for p in params.split(",") if p.strip()] for name, params in _ACTION.findall(listed)
        }
        used = frozenset(snake(tag) for tag in _TAG.findall(each["output"]) if tag in actions)
        found.append(Row(" ".join(text.split()), {snake(name): params for name, params in actions.items()}, used))
    return [row for row in found if row.actions and row.used]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def project(root: Path, row: Row) -> Path:
    """A project with the row's actions as skills; `name` is what any node carries."""
    for folder in ("skills", "trees"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "btr.yaml").write_text("version: 1\n")
    kinds = {
        action: {
            "sentence": action.replace("_", " "),
            "params": {p: {"type": "any", "default": None} for p in params if p != "name"},
        }
        for action, params in row.actions.items()
    }
    (root / "skills" / "robot.yaml").write_text(
        json.dumps({"version": 1, "skills": "robot", "impl": "world", "kinds": kinds})
    )
    return root


def passes(kinds: set[str], row: Row) -> bool:
    """True for a tree with the same actions as the answer: no more is known of what is right."""
    return kinds & set(row.actions) == row.used
