"""Grammars for plans in the tree language, as block YAML or JSON, written out from descriptions of node kinds.

Depth, width and string length are unrolled from the budget, so that an answer can be long but not endless.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import yaml

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.grammar import LETTER, any_of, literal
from bt_runtime.types import Grammar

Type = Literal["integer", "number", "boolean", "string", "sentence"]
_FIRST = 16  # letters of a subgoal's first word
_VALUES = {
    "integer": r"/0|-?[1-9][0-9]{0,5}/",
    "number": r"/-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,4})?/",
    "boolean": r"/true|false/",
    "sentence": "SENTENCE",
    "string": "QUOTED",
}


class Field(NamedTuple):
    name: str
    type: Type | tuple[str, ...]  # a tuple: one of these words
    required: bool = True


class Kind(NamedTuple):
    """A node kind as a grammar sees it. `sentence`: its value is a skill's sentence, as in `act: go to fridge 1`."""

    name: str
    shape: Literal["children", "child", "leaf", "sentence"]
    fields: tuple[Field, ...] = ()


class Budget(NamedTuple):
    depth: int = 3  # control nodes inside each other
    width: int = 5  # children of a node
    string: int = 80  # characters of a subgoal


def expansion(
    kinds: Sequence[Kind],
    budget: Budget | None = None,
    skills: Sequence[str] = (),
    subgoals: bool = True,
    form: Literal["yaml", "json"] = "yaml",
) -> Grammar:
    """A plan of these kinds: control nodes over skill sentences and free subgoals, within the budget."""
    writer = (_Yaml if form == "yaml" else _Json)(kinds, budget or Budget(), skills, subgoals)
    return Grammar("lark", writer.grammar())


def _plain(longest: int) -> str:
    """Text that stands bare in block YAML and reads back as itself: two words, so never `null`, `yes` or a date."""
    ways = (
        rf"[A-Za-z][A-Za-z0-9_'\-]{{{first}}} [A-Za-z0-9]{LETTER}{{0,{longest - first - 3}}}"
        for first in range(min(_FIRST, longest - 3))
    )
    return "|".join(ways)


def bare(text: str) -> str:
    """A sentence or a word as it stands in block YAML: as it is where that reads back, else quoted."""
    try:
        same = text.isprintable() and yaml.safe_load(f"x: {text}") == {"x": text}
    except yaml.YAMLError:
        same = False
    return text if same else json.dumps(text, ensure_ascii=False)


class _Unrolled:
    """Rules are named by what is left of the depth (and, in YAML, the column); each is written once."""

    def __init__(self, kinds: Sequence[Kind], budget: Budget, skills: Sequence[str], subgoals: bool) -> None:
        self.kinds, self.budget, self.skills, self.subgoals = kinds, budget, skills, subgoals
        self.rules: dict[str, str] = {}
        self.control = [k for k in kinds if k.shape in ("children", "child")]
        if budget.depth < 1 or budget.width < 1 or budget.string < 8:
            raise BtError(
                f"the budget {budget} allows no plan", "a depth and a width of at least 1, strings of at least 8"
            )
        if not self.control:
            raise BtError("a plan needs a kind with children")

    def usable(self, depth: int) -> list[Kind]:
        """The kinds that may stand here; those with children only while depth is left."""
        return [
            k
            for k in self.kinds
            if (k.shape == "leaf" and self._can_fill(k))
            or (k.shape == "sentence" and self.skills)
            or (k.shape in ("children", "child") and depth > 0 and self._can_fill(k))
        ]

    def _can_fill(self, kind: Kind) -> bool:
        return bool(self.skills) or all(f.type != "sentence" or not f.required for f in kind.fields)

    def fields(self, kind: Kind) -> list[Field]:
        return [f for f in kind.fields if f.type != "sentence" or self.skills]

    def terminals(self) -> str:
        letter = r'[^"\\\x00-\x1f]'
        lines = [f'QUOTED: /"{letter}{{1,{self.budget.string}}}"/']
        if self.skills:
            lines.append("SENTENCE: " + any_of([self.word(s) for s in self.skills]))
        return "\n".join(lines)

    def value(self, type: Type | tuple[str, ...]) -> str:
        return f"({any_of([self.word(t) for t in type])})" if isinstance(type, tuple) else _VALUES[type]

    def word(self, text: str) -> str:
        """A sentence or a word of a choice, as it stands in the answer."""
        return json.dumps(text, ensure_ascii=False)

    def text(self, start: str, extra: Sequence[str]) -> str:
        return "\n".join([f"start: {start}", *(f"{name}: {body}" for name, body in self.rules.items()), *extra, ""])


class _Yaml(_Unrolled):
    def word(self, text: str) -> str:
        return bare(text)

    def grammar(self) -> str:
        top = [self.kind(k, self.budget.depth, 0) for k in self.usable(self.budget.depth) if k in self.control]
        plain = f"PLAIN: /{_plain(self.budget.string)}/"
        terminals = self.terminals()
        return self.text(" | ".join(top), [terminals, plain] if self.subgoals else [terminals])

    def node(self, depth: int, column: int) -> str:
        """What follows a dash, or stands alone on a line already indented."""
        name = f"node_{depth}_{column}"
        if name not in self.rules:
            self.rules[name] = ""  # holds the place while the kinds below ask for deeper nodes
            ways = [self.kind(k, depth, column) for k in self.usable(depth)]
            self.rules[name] = " | ".join([*ways, 'PLAIN "\\n"'] if self.subgoals else ways)
        return name

    def kind(self, kind: Kind, depth: int, column: int) -> str:
        name = f"{_rule(kind.name)}_{depth}_{column}"
        if name in self.rules:
            return name
        if kind.shape == "sentence":
            self.rules[name] = f'{literal(kind.name + ": ")} SENTENCE "\\n"'
        elif kind.shape == "children" and not kind.fields:
            self.rules[name] = f'{literal(kind.name + ":")} "\\n" {self.children(depth - 1, column)}'
        else:
            self.rules[name] = self.mapping(kind, depth, column)
        return name

    def children(self, depth: int, column: int) -> str:
        item = f"item_{depth}_{column}"
        if item not in self.rules:
            self.rules[item] = f"{literal(' ' * column + '- ')} {self.node(depth, column + 2)}"
        return f"{item}{{1,{self.budget.width}}}"

    def mapping(self, kind: Kind, depth: int, column: int) -> str:
        inner = " " * (column + 2)
        parts = []
        for field in self.fields(kind):
            part = f'{literal(f"{inner}{field.name}: ")} {self.value(field.type)} "\\n"'
            parts.append(part if field.required else f"({part})?")
        if kind.shape == "children":
            parts.append(f'{literal(inner + "children:")} "\\n" {self.children(depth - 1, column + 2)}')
        elif kind.shape == "child":
            below = f'{literal(inner + "child:")} "\\n" {literal(inner + "  ")} {self.node(depth - 1, column + 4)}'
            parts.append(below)
        if not any(f.required for f in self.fields(kind)) and kind.shape == "leaf":
            return f'{literal(kind.name + ": {}")} "\\n"'  # a key without a value would read as null
        return f'{literal(kind.name + ":")} "\\n" {" ".join(parts)}'


class _Json(_Unrolled):
    def grammar(self) -> str:
        top = [self.kind(k, self.budget.depth) for k in self.usable(self.budget.depth) if k in self.control]
        return self.text(" | ".join(top), [self.terminals()])

    def node(self, depth: int) -> str:
        name = f"node_{depth}"
        if name not in self.rules:
            self.rules[name] = ""
            ways = [self.kind(k, depth) for k in self.usable(depth)]
            self.rules[name] = " | ".join([*ways, "QUOTED"] if self.subgoals else ways)
        return name

    def kind(self, kind: Kind, depth: int) -> str:
        name = f"{_rule(kind.name)}_{depth}"
        if name in self.rules:
            return name
        if kind.shape == "sentence":
            inside = "SENTENCE"
        elif kind.shape == "children" and not kind.fields:
            inside = self.children(depth - 1)
        else:
            inside = self.mapping(kind, depth)
        self.rules[name] = f'{literal("{" + json.dumps(kind.name) + ": ")} {inside} "}}"'
        return name

    def children(self, depth: int) -> str:
        node = self.node(depth)
        more = f'(", " {node}){{0,{self.budget.width - 1}}}' if self.budget.width > 1 else ""
        return f'"[" {node} {more} "]"'

    def mapping(self, kind: Kind, depth: int) -> str:
        """Required fields only: what is optional is left to the default."""
        pairs = [(f.name, self.value(f.type)) for f in self.fields(kind) if f.required]
        if kind.shape == "children":
            pairs.append(("children", self.children(depth - 1)))
        elif kind.shape == "child":
            pairs.append(("child", self.node(depth - 1)))
        inside = ' ", " '.join(f"{literal(json.dumps(name) + ': ')} {value}" for name, value in pairs)
        return f'"{{" {inside} "}}"'


def _rule(name: str) -> str:
    return "k_" + re.sub(r"\W", "_", name.lower())
