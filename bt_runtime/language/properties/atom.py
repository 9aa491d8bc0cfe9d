"""Atoms of a property: expressions over entries, nodes and skills. `/main/dock is running` asks about a node,
`go_to is running` about a skill, `go_to(place == "hall") is running` about its starts with these parameters, and
`tree is success` about the whole tree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from bt_runtime.language.expression import Expression, compile

NODE, SKILL, TREE = "node", "skill", "tree"  # the names by which an atom reads statuses
WORDS = ("running", "success", "failure", "idle")
_IS = re.compile(
    r"(?<![\w\])./-])(?:(?P<path>(?:/[\w.-]+)+)|(?P<name>[A-Za-z_]\w*)(?:\((?P<given>(?:[^()]|\([^()]*\))*)\))?)"
    rf"\s+is\s+(?P<no>not\s+)?(?P<word>{'|'.join(WORDS)})\b"
)
_TEXT = re.compile(r'"[^"]*"|\'[^\']*\'')
_PATH = re.compile(r'\bnode\["(/[^"]+)"\]')


class StartsWatch(NamedTuple):
    """The starts of a skill that an atom asks about."""

    skill: str
    given: Expression | None = None  # condition on the parameters


class Atom(NamedTuple):
    text: str  # the atom's text as written
    test: Expression
    paths: tuple[str, ...]
    watches: Mapping[str, StartsWatch]  # starts of skills, by the key that the test reads
    tree: bool  # does it read the status of the whole tree

    @property
    def entries(self) -> list[str]:
        return [name for name in self.test.names if name not in (NODE, SKILL, TREE)]


def places(text: str, name: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Returns where the text of a property names this entry, and where it names this skill."""
    asked = list(_IS.finditer(text))
    skills = [m.span("name") for m in asked if m["name"] == name != TREE]
    kept = [*(m.span() for m in asked), *(m.span() for m in _TEXT.finditer(text))]
    entries = [
        m.span()
        for m in re.finditer(rf"(?<![\w/.]){re.escape(name)}(?!\w|\s*\()", text)
        if not any(start <= m.start() < end for start, end in kept)
    ]
    return entries, skills


@lru_cache(maxsize=1024)
def read(text: str) -> Atom:
    """Raises ExpressionError."""
    watches: dict[str, StartsWatch] = {}

    def plainly(said: re.Match[str]) -> str:
        sign = "!=" if said["no"] else "=="
        if said["path"]:
            return f'{NODE}["{said["path"]}"] {sign} "{said["word"]}"'
        if said["name"] == TREE and said["given"] is None:
            return f'{TREE} {sign} "{said["word"]}"'
        given = said["given"] if said["given"] and said["given"].strip() else None
        key = f"{said['name']} {len(watches)}" if given else said["name"]
        watches[key] = StartsWatch(said["name"], compile(given) if given else None)
        return f'{SKILL}["{key}"] {sign} "{said["word"]}"'

    test = compile(_IS.sub(plainly, text))
    return Atom(text, test, tuple(dict.fromkeys(_PATH.findall(test.text))), watches, TREE in test.names)
