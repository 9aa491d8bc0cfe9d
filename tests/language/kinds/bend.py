"""Trees whose shape was bent at random: a key misspelt, a value of another type, a field lost, a node misplaced."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 7, 0.5, "word", "two words", "{battery}", [], {}, [1, 2], {"a": 1}, {"check": "battery > 0"},
    [{"check": "battery > 0"}], "success", "skip",
)  # fmt: skip
KEYS = (
    "chek",
    "children",
    "child",
    "name",
    "when",
    "times",
    "seconds",
    "check",
    "wait",
    "sequence",
    "invert",
    "on",
    "1a",
    "",
)


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every (holder, key) of the document."""
    todo = [tree]
    while todo:
        holder = todo.pop()
        pairs = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        for key, value in pairs:
            yield holder, key
            if isinstance(value, dict | list):
                todo.append(value)


def bend(tree: Any, dice: random.Random) -> Any:
    """A copy with one to three changes."""
    bent = copy.deepcopy(tree)
    for _ in range(dice.randint(1, 3)):
        holder, key = dice.choice(list(places(bent)) or [(bent, None)])
        if key is None:
            return bent
        match dice.randrange(5):
            case 0 | 1:
                holder[key] = copy.deepcopy(dice.choice(VALUES))
            case 2:
                del holder[key]
            case 3 if isinstance(holder, dict):
                holder[dice.choice(KEYS)] = holder.pop(key)
            case 4 if isinstance(holder, dict):
                holder[dice.choice(KEYS)] = copy.deepcopy(dice.choice(VALUES))
            case _:
                holder[key] = [copy.deepcopy(holder[key])]
    return bent
