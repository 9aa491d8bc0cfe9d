"""Expressions that want memory, time or what lies behind a value."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.hostile.case import Case

WRITTEN = (
    'str(["😀\\n" * 50000] * 2000) == ""', '"a" * 10 ** 9', '["a"] * 10 ** 9', "9 ** 9 ** 9",
    "[[[1] * 1000] * 1000] * 1000", "text * 10 ** 6",
    "len(str([text] * 10000))", "str(rooms * 100000)", "'{room}' * 10 ** 8", "(" * 400 + "1" + ")" * 400,
    "not " * 500 + "1", "rooms" + "[0]" * 400,
    "1 if " * 300 + "1" + " else 0" * 300, "-" * 1000 + "1", "().__class__", "room.__class__.__mro__",
    "rooms[0].__init__.__globals__", "text.format(room)",
    "'%s' % text", "rooms + " * 1000 + "rooms", "[" * 300 + "]" * 300, "1 < " * 2000 + "2", "{" * 99,
    "room in " * 500 + "room", "\ud800", "'" + "\\" * 999 + "'",
)  # fmt: skip
ATOMS = (
    "battery", "room", "cups", "rooms", "text", "error", "none", "0", "1", "-1", "0.5", "1e308", "10 ** 9",
    "9" * 30, "'a'", "'😀\\n'", "''", "[]", "[1]", "true",
    "rooms[0]", "error['path']", "missing",
)  # fmt: skip
AROUND = ("({})", "not {}", "-{}", "[{}]", "len({})", "str({})", "{}[0]", "{}[-1]", "min({})", "max({})",
"round({})", "int({})", "lower({})", "exists({})",
          "abs({})", "sum({})", "sorted({})", "{}['x']", "join({})", "[{}] * 1000", "str([{}] * 1000)")  # fmt: skip
BETWEEN = ("+", "-", "*", "/", "//", "%", "**", "<", "==", "and", "or", "in", "not in", "if {} else", ",")


def grown(dice: random.Random, depth: int) -> str:
    if depth == 0 or dice.random() < 0.1:
        return dice.choice(ATOMS)
    if dice.random() < 0.5:
        return dice.choice(AROUND).replace("{}", grown(dice, depth - 1))
    sign = dice.choice(BETWEEN).replace("{}", dice.choice(ATOMS))
    return f"{grown(dice, depth - 1)} {sign} {grown(dice, depth - 1)}"


def cases(seed: int, count: int) -> Iterator[Case]:
    for number in range(count):
        dice = random.Random(f"expressions/{seed}/{number}")
        text = WRITTEN[number] if number < len(WRITTEN) else grown(dice, dice.randint(2, 9))
        yield Case(f"expressions/{seed}/{number}/value", (text,), call="tests.hostile.calls:expression")
