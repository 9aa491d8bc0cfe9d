"""Valid names for imported names: made of their letters, and different from all others."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Container

from bt_robots.imports.yaml import Step
from bt_runtime.language.expression.scope import WORDS
from bt_runtime.language.kinds.kind import COMMON_NAMES

_NAME = re.compile(r"[^A-Za-z0-9_]+")


def identifier(text: str, otherwise: str = "entry") -> str:
    """Replaces all but letters, digits and _ in a name; a word that no expression reads as a name gets a `_`."""
    made = _NAME.sub("_", text).strip("_") if not text.isidentifier() or not text.isascii() else text
    if not made:
        return otherwise
    return f"_{made}" if made[0].isdigit() else f"{made}_" if made in WORDS else made


def parameter(name: str) -> str:
    """Makes a port's name valid as a parameter of ours and in a Python function."""
    made = identifier(name, "port")
    return f"{made}_" if made in COMMON_NAMES or keyword.iskeyword(made) else made


class Names:
    """Chooses free names. Names that differ only in punctuation get a number, as do file names that differ only in
    case.

    `avoid`: what is no free name.
    """

    def __init__(self, otherwise: str, avoid: Container[str] = (), files: bool = True) -> None:
        self.otherwise, self.avoid, self.files = otherwise, avoid, files
        self.known: dict[str, str] = {}
        self.taken: dict[str, int] = {}

    def of(self, said: str) -> str:
        if said in self.known:
            return self.known[said]
        name = plain = identifier(said, self.otherwise)
        if name == said and not self.files:
            return name
        number = self.taken.get(self.key(plain), 1)
        while self.key(name) in self.taken or (name != said and name in self.avoid):
            number += 1
            name = f"{plain}_{number}"
        self.taken[self.key(plain)] = number
        self.taken.setdefault(self.key(name), 1)
        self.known[said] = name
        return name

    def key(self, name: str) -> str:
        return name.lower() if self.files else name


def node_name(said: str) -> str:
    """Returns the text as the name of a node, without the signs that mean something in a path."""
    clean = "".join("_" if c in "/*?[]{}" or not c.isprintable() else c for c in said).strip()
    clean = clean[:70].strip()
    return f"node {clean}" if clean.isdigit() or not clean else clean


def unique(steps: list[Step]) -> None:
    """Gives siblings different names."""
    seen: set[str] = set()
    numbers: Counter[str] = Counter()
    for step in steps:
        holder = step
        while "name" not in holder.fields and holder.kind == "precondition":
            holder = holder.fields["child"]
        name = plain = holder.fields.get("name")
        if not isinstance(name, str) or not isinstance(plain, str):
            continue
        while name in seen:
            numbers[plain] += 1
            name = f"{plain} {numbers[plain] + 1}"
        seen.add(name)
        holder.fields["name"] = name
