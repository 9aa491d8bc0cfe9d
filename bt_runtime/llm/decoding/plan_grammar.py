"""Grammars for plans in the tree language, written out from the forms that a model may write (`schema/dialect.py`).

Depth, width and string length are unrolled from the limits, so that an answer can be long but not endless.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import yaml

from bt_runtime.language.emit.dialect import DEFAULT_LIMITS, Form, FormField, PlanLimits
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.decoding.grammar import LETTER, any_of, literal
from bt_runtime.types import Grammar

_FIRST = 16  # letters of a subgoal's first word
# beyond ASCII: what stands bare in YAML, without a blank among it
FOREIGN = "\u00c0-\u167f\u1681-\u1fff\u2c00-\u2fff\u3005-\ud7ff\uf900-\ufdff\ufe70-\ufefc\uff10-\uffdc"
_VALUES = {
    "integer": r"/0|-?[1-9][0-9]{0,5}/",
    "number": r"/-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,4})?/",
    "boolean": r"/true|false/",
    "string": "QUOTED",
}


def expansion(
    forms: Sequence[Form], limits: PlanLimits = DEFAULT_LIMITS, skills: Sequence[str] = (), subgoals: bool = True,
    open: Sequence[str] = (),
) -> Grammar:  # fmt: skip
    """A plan of these forms as block YAML: control nodes over skill sentences and free subgoals, within the limits.

    `open`: sentences with slots that are written, as regular expressions of what stands between double quotes.
    """
    return _expansion(tuple(forms), limits, tuple(skills), subgoals, tuple(open))


@lru_cache(maxsize=64)
def _expansion(*given: Any) -> Grammar:
    return Grammar("lark", _Unrolled(*given).grammar())


def _plain(longest: int) -> str:
    """Matches text that needs no quotes in block YAML and is read back as text. Two words are never `null`, `yes` or a
    date; one word is enough when it begins with a letter outside Latin script."""
    any_letter = LETTER.replace("]", f"{FOREIGN}]")
    ways = [
        rf"[A-Za-z][A-Za-z0-9_'\-{FOREIGN}]{{{first}}} [A-Za-z0-9{FOREIGN}]{any_letter}{{0,{longest - first - 3}}}"
        for first in range(min(_FIRST, longest - 3))
    ]
    return "|".join([*ways, f"[{FOREIGN}]{any_letter}{{0,{longest - 1}}}"])


def bare(text: str) -> str:
    """A sentence or a word in block YAML: plain where it parses back, else quoted."""
    try:
        same = text.isprintable() and yaml.safe_load(f"x: {text}") == {"x": text}
    except yaml.YAMLError:
        same = False
    return text if same else json.dumps(text, ensure_ascii=False)


class _Unrolled:
    """Writes each grammar rule once. A rule's name holds the remaining depth and the column."""

    def __init__(
        self, forms: Sequence[Form], limits: PlanLimits, skills: Sequence[str], subgoals: bool, open: Sequence[str]
    ) -> None:
        self.forms, self.limits, self.subgoals = forms, limits, subgoals
        self.sentences = [*([any_of([bare(s) for s in skills])] if skills else []), *(f'/"{p}"/' for p in open)]
        self.rules: dict[str, str] = {}
        self.names = {form: "k_" + re.sub(r"\W", "_", form.name.lower()) for form in forms}
        if limits.depth < 1 or limits.width < 1 or limits.string < 8:
            raise BtError(
                f"the limits {tuple(limits)} allow no plan", "a depth and a width of at least 1, strings of at least 8"
            )
        if not any(form.inner for form in forms):
            raise BtError("a plan needs a kind with children", "let the model write `sequence` or `fallback`")

    def grammar(self) -> str:
        top = [self.form(f, self.limits.depth, 0) for f in self.usable(self.limits.depth) if f.inner]
        rules = [f"{name}: {body}" for name, body in self.rules.items()]
        return "\n".join([f"start: {' | '.join(top)}", *rules, *self.terminals(), ""])

    def usable(self, depth: int) -> list[Form]:
        """The plan forms allowed at this depth; forms with children only while depth remains."""
        return [f for f in self.forms if (bool(self.sentences) if f.shape == "sentence" else depth > 0 or not f.inner)]

    def terminals(self) -> list[str]:
        letter = r'[^"\\\x00-\x1f]'
        lines = [f'QUOTED: /"{letter}{{1,{self.limits.string}}}"/']
        if self.sentences:
            lines.append("SENTENCE: " + " | ".join(self.sentences))
        if not self.subgoals:
            return lines
        quote = letter.replace(r"\x1f", r"\x20")  # one that begins with a letter: blanks alone say nothing
        longest = self.limits.string
        return [*lines, f"PLAIN: /{_plain(longest)}/", f'QUOTE: /"{quote}{letter}{{0,{longest - 1}}}"/']

    def value(self, field: FormField) -> str:
        return f"({any_of([bare(t) for t in field.type])})" if isinstance(field.type, tuple) else _VALUES[field.type]

    def node(self, depth: int, column: int) -> str:
        """The node after a dash, or alone on an indented line."""
        name = f"node_{depth}_{column}"
        if name not in self.rules:
            self.rules[name] = ""  # holds the place while the forms below ask for deeper nodes
            ways = [self.form(f, depth, column) for f in self.usable(depth)]
            self.rules[name] = " | ".join([*ways, 'PLAIN "\\n"', 'QUOTE "\\n"'] if self.subgoals else ways)
        return name

    def form(self, form: Form, depth: int, column: int) -> str:
        name = f"{self.names[form]}_{depth}_{column}"
        if name in self.rules:
            return name
        if form.shape == "sentence":
            self.rules[name] = f'{literal(form.name + ": ")} SENTENCE "\\n"'
        elif form.shape == "children" and not form.fields:
            self.rules[name] = f'{literal(form.name + ":")} "\\n" {self.children(depth - 1, column)}'
        else:
            self.rules[name] = self.mapping(form, depth, column)
        return name

    def children(self, depth: int, column: int) -> str:
        item = f"item_{depth}_{column}"
        if item not in self.rules:
            self.rules[item] = f"{literal(' ' * column + '- ')} {self.node(depth, column + 2)}"
        return f"{item}{{1,{self.limits.width}}}"

    def mapping(self, form: Form, depth: int, column: int) -> str:
        inner = " " * (column + 2)
        parts = [f'{literal(f"{inner}{field.name}: ")} {self.value(field)} "\\n"' for field in form.fields]
        if form.shape == "children":
            parts.append(f'{literal(inner + "children:")} "\\n" {self.children(depth - 1, column + 2)}')
        elif form.shape == "child":
            below = f'{literal(inner + "child:")} "\\n" {literal(inner + "  ")} {self.node(depth - 1, column + 4)}'
            parts.append(below)
        if not form.fields and form.shape == "leaf":
            return f'{literal(form.name + ": {}")} "\\n"'  # a key without a value would read as null
        return f'{literal(form.name + ":")} "\\n" {" ".join(parts)}'
