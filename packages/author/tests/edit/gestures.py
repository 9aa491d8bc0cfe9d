"""Random gestures on a tree's text, by seed."""

from __future__ import annotations

import random
from collections.abc import Callable

from bt_author.edit import moves, swap, values
from bt_author.edit.draft import Draft

Gesture = Callable[[], Draft]
KEEPS = {"add", "copy", "move", "wrap", "unwrap", "swap", "set"}  # after which no comment may be missing
FIELDS = ("name", "when", "about", "on_success", "on_end")
VALUES = {
    "name": "hello",
    "about": '"there is: more # of it"',
    "when": '"a > 1"',
    "on_success": "{a: 1}",
    "on_end": "{b: x}",
}


def drawn(draw: random.Random, draft: Draft) -> tuple[str, Gesture]:
    """One gesture on this text; it may be one that the text refuses."""
    assert draft.root is not None
    items = list(draft.root.walk())
    path, other = draw.choice(items).path, draw.choice(items).path
    kinds = list(draft.registry)
    around = [kind for kind in kinds if kind.family in ("control", "decorator")]
    kind, wrapper, at = draw.choice(kinds), draw.choice(around), draw.randrange(4)
    field = draw.choice(FIELDS)
    gestures: dict[str, Gesture] = {
        "add": lambda: moves.insert(draft, other, at, swap.fresh(kind)),
        "copy": lambda: moves.insert(draft, other, at, moves.copied(draft, path)),
        "delete": lambda: moves.delete(draft, path),
        "move": lambda: moves.move(draft, path, other, at),
        "wrap": lambda: moves.wrap(draft, path, wrapper),
        "unwrap": lambda: moves.unwrap(draft, path),
        "swap": lambda: swap.swap(draft, path, kind),
        "set": lambda: values.set_field(draft, path, field, VALUES[field]),
        "remove": lambda: values.remove_field(draft, path, field),
    }
    name = draw.choice(sorted(gestures))
    return name, gestures[name]


def text(draw: random.Random, depth: int = 4) -> str:
    """A tree as a person might have written it: brackets here, lines there, comments and blank lines anywhere."""
    head = ["# patrol", "version: 1", "tree: t  # its name", "root:"]
    return "\n".join([*head, *_rows(draw, depth, 2)]) + "\n"


def _rows(draw: random.Random, depth: int, column: int) -> list[str]:
    pad, note = " " * column, draw.choice(["", "", "  # note"])
    leaf = draw.choice(
        ["log: hello", 'log: "a # b"', "wait: 1", "check: a > 1", "succeed: {}", "set: {a: 1, b: [1, 2]}"]
    )
    if not depth or draw.random() < 0.3:
        long = draw.random()
        if long < 0.15:
            return [f"{pad}log: |", f"{pad}  two lines", f"{pad}  # of text, no comment"]
        if long < 0.3:
            return [f"{pad}log:{note}", f"{pad}  text: hello", f"{pad}  # why", f"{pad}  level: warning"]
        return [pad + leaf + note]
    shape = draw.random()
    if shape < 0.2:
        return [f"{pad}retry: {{times: 3, child: {{check: a > 1}}}}{note}"]
    if shape < 0.35:
        return [f"{pad}fallback: [{{log: x}}, {{wait: 2}}]{note}"]
    if shape < 0.5:
        return [f"{pad}timeout:{note}", f"{pad}  seconds: 5", f"{pad}  child:", *_rows(draw, depth - 1, column + 4)]
    rows = [f"{pad}{draw.choice(['sequence', 'fallback', 'reactive_sequence'])}:{note}"]
    step = draw.choice([0, 2])
    for _ in range(draw.randint(1, 3)):
        if draw.random() < 0.3:
            rows += [""] if draw.random() < 0.5 else []
            rows.append(" " * (column + step) + "# above")
        inner = _rows(draw, depth - 1, column + step + 2)
        inner[0] = " " * (column + step) + "- " + inner[0].lstrip(" ")
        rows += inner
    if draw.random() < 0.2:
        rows.append(" " * (column + step + 1) + "# at the end")
    return rows
