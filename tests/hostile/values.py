"""Values that nobody expects where they stand, and JSON documents with some of them in it."""

from __future__ import annotations

import copy
import random
from typing import Any

TERMINAL = "\x1b]0;taken\x07\x1b[2J\x9b31m\u202egnp.exe\u2028"
OUTSIDE = "../../../../outside"
NASTY: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, -5, 2**31, 2**63 - 1, -(2**63), 10**15, 10**30, 0.5, -0.0, 1e308, float("inf"),
    float("nan"),
    "", " ", "\n", "x", "nan", "1e400", "9" * 400, "a" * 100_000, "\x00", "\ud800", "😀\n" * 2000, TERMINAL,
    "<script>alert(1)</script>",
    OUTSIDE, "/etc/passwd", "/dev/zero", "con:", "{x}", "{" * 50, "%s%n", "os:system", "evil.py:f", "__class__",
    [], {}, [1], [[]], [None] * 1000, {"a": 1}, {"$": "text", "v": 1}, {"$": "text", "v": [1]}, {"$": "bytes",
    "v": "x"}, {"$": "?"},
)  # fmt: skip


def deep(levels: int) -> str:
    return '{"a":' + "[" * levels + "]" * levels + "}"


def places(holder: Any) -> list[tuple[Any, Any]]:
    todo, found = [holder], []
    while todo:
        here = todo.pop()
        for key, value in list(here.items()) if isinstance(here, dict) else list(enumerate(here)):
            found.append((here, key))
            if isinstance(value, dict | list):
                todo.append(value)
    return found


def spoiled(value: Any, dice: random.Random) -> Any:
    """A copy with one to three values replaced, lost, doubled or renamed."""
    if not isinstance(value, dict | list):
        return dice.choice(NASTY)
    bent = copy.deepcopy(value)
    for _ in range(dice.randint(1, 3)):
        found = places(bent)
        if not found:
            return dice.choice(NASTY)
        holder, key = dice.choice(found)
        match dice.randrange(6):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[dice.choice(("x", "", "__class__", "$", TERMINAL))] = holder.pop(key)
            case 1:
                holder.extend(copy.deepcopy(holder[:1000]))
            case _:
                holder[key] = copy.deepcopy(dice.choice(NASTY))
    return bent
