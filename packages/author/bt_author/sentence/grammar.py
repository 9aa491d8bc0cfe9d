"""The grammar of whole trees in the canonical layout, made of the kinds that a tree here may have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from bt_runtime.language.kinds.kind import COMMON, Field, Kind
from bt_runtime.llm.decoding.grammar import any_of, literal
from bt_runtime.types import Grammar

DEEPEST = 40  # columns of indentation
_CHARACTER = r'([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))'
MOST_ABOUT = 400  # characters: a small model that repeats itself would fill its draft with them
TERMINALS = (
    f'STRING: /"{_CHARACTER}*"/',
    f'ABOUT: /"{_CHARACTER}{{0,{MOST_ABOUT}}}"/',
    r"NUMBER: /-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,16})?(e-?[0-9]{1,3})?/",
    r"NAME: /[a-z_][a-z0-9_]{0,60}/",
    'value: STRING | NUMBER | "true" | "false" | "null" | object | array',
    'object: "{" (pair (", " pair)*)? "}"',
    'pair: STRING ": " value',
    'array: "[" (value (", " value)*)? "]"',
)
_VALUES = {"integer": "(NUMBER | STRING)", "number": "(NUMBER | STRING)", "string": "STRING", "text": "STRING",
           "boolean": '("true" | "false" | STRING)', "key": "STRING", "list": "(array | STRING)"}  # fmt: skip


def whole_tree(kinds: Iterable[Kind], manifests: Sequence[str] = (), name: str = "") -> Grammar:
    """A tree of these kinds. `manifests`: those that it may list; `name`: what it is called."""
    return Grammar("lark", _Written(list(kinds), manifests, name).grammar())


class _Written:
    """Writes each rule once; a rule's name holds its column."""

    def __init__(self, kinds: list[Kind], manifests: Sequence[str], name: str) -> None:
        self.kinds, self.manifests, self.name = kinds, manifests, name
        self.rules: dict[str, str] = {}

    def grammar(self) -> str:
        tree = literal(self.name) if self.name else "NAME"
        listed = any_of([json.dumps(each) for each in self.manifests]) if self.manifests else ""
        more = f'(", " ({listed})){{0,{len(self.manifests) - 1}}}' if len(self.manifests) > 1 else ""
        skills = f'("skills: [" ({listed}) {more} "]\\n")?' if listed else '("skills: " array "\\n")?'
        ports = " ".join(f'("{each}: " object "\\n")?' for each in ("inputs", "outputs", "blackboard"))
        head = f'"version: 1\\ntree: " {tree} "\\n" ("about: " ABOUT "\\n")? {skills} {ports}'
        start = f'start: {head} "root:\\n  " {self.node(2)}'
        rules = [f"{rule}: {body}" for rule, body in self.rules.items()]
        return "\n".join([start, *rules, *TERMINALS, ""])

    def node(self, column: int) -> str:
        rule = f"node_{column}"
        if rule not in self.rules:
            self.rules[rule] = ""  # holds the place while the kinds below ask for deeper nodes
            self.rules[rule] = " | ".join(self.kind(kind, column) for kind in self.kinds if self.fits(kind, column))
        return rule

    def fits(self, kind: Kind, column: int) -> bool:
        """Kinds that need a node below end at the deepest column."""
        return column < DEEPEST or not any(field.required for field in kind.node_fields)

    def kind(self, kind: Kind, column: int) -> str:
        rule = f"k_{re.sub(r'[^a-z0-9_]', '_', kind.name.lower())}_{column}"
        if rule not in self.rules:
            self.rules[rule] = ""
            ways = (
                []
                if any(f.required for f in kind.node_fields)
                else [f'{literal(kind.name + ": ")} {self.flow(kind)} "\\n"']
            )
            if column < DEEPEST:
                ways += self.blocks(kind, column)
            self.rules[rule] = " | ".join(ways)
        return rule

    def flow(self, kind: Kind) -> str:
        """A node's value on one line: its fields by name, or the value of its bare field."""
        rule = f"f_{re.sub(r'[^a-z0-9_]', '_', kind.name.lower())}"
        if rule not in self.rules:
            fields = [field for field in (*kind.fields, *COMMON) if field not in kind.node_fields]
            pairs = " | ".join(f"{literal(json.dumps(f.name) + ': ')} {value(f)}" for f in fields)
            self.rules[f"{rule}_pair"] = pairs
            bare = kind.field(kind.bare) if kind.bare else None
            ways = [f'"{{" ({rule}_pair (", " {rule}_pair)*)? "}}"']
            if bare is not None and bare not in kind.node_fields:
                ways.append(value(bare))
            self.rules[rule] = " | ".join(ways)
        return rule

    def blocks(self, kind: Kind, column: int) -> list[str]:
        """A node with nodes below it."""
        head = f'{literal(kind.name + ":")} "\\n"'
        bare = kind.field(kind.bare) if kind.bare else None
        ways = [f"{head} {self.items(column + 2)}"] if bare is not None and bare.type == "nodes" else []
        if kind.node_fields or any(field.asks for field in kind.fields) or column < DEEPEST - 4:
            lines = " | ".join(self.field(field, column + 2) for field in (*kind.fields, *COMMON))
            rule = f"l_{re.sub(r'[^a-z0-9_]', '_', kind.name.lower())}_{column}"
            self.rules[rule] = lines
            ways.append(f"{head} {rule}+")
        return ways

    def field(self, field: Field, column: int) -> str:
        pad = " " * column
        head = f'{literal(f"{pad}{field.name}:")} "\\n"'
        if field.type == "nodes":
            return f"{head} {self.items(column + 2)}"
        if field.type == "cases":
            return f'{head} ({literal(pad + "  ")} STRING ":\\n" {self.placed(column + 4)})+'
        if field.type == "node":
            return f"{head} {self.placed(column + 2)}"
        line = f'{literal(f"{pad}{field.name}: ")} {value(field)} "\\n"'
        return f"{line} | {head} {self.placed(column + 2)}" if field.asks else line

    def placed(self, column: int) -> str:
        return f"{literal(' ' * column)} {self.node(column)}"

    def items(self, column: int) -> str:
        rule = f"i_{column}"
        if rule not in self.rules:
            self.rules[rule] = ""
            self.rules[rule] = f"({literal(' ' * column + '- ')} {self.node(column + 2)})+"
        return rule


def value(field: Field) -> str:
    """The values of a field, as JSON. A text may stand for any of them: it may be a template or an expression."""
    if field.type == "word" and field.choices:
        return f"({any_of([json.dumps(each) for each in field.choices])})"
    if field.choices and field.type != "any":
        return f"({any_of([json.dumps(each, ensure_ascii=False) for each in field.choices])} | STRING)"
    return "value" if field.asks or field.writes else _VALUES.get(field.type, "value")
