"""No regular expression of the package takes longer than in proportion to its text, whoever wrote the text."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import linear
from tests.support.workspace import WHEELS, home_of

METHODS = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
# Patterns that are made of what only a call knows, by module: why they cannot take long, or where they are tried.
MADE = {
    "bt_envs.house.speech": "kept in a mapping, and tried from there; its slots are found in our own text",
    "bt_envs.textcraft.invent": "four words of a list each, one after another",
    "bt_runtime.llm.chat.chat": "one of so many letters: the first ones of the vocabulary's markers",
    "bt_runtime.llm.server.key": "one of so many texts as they stand: the guises of the key",
    "bt_runtime.language.schema_quick": "the names that our own schemas allow: runs of one class of characters",
    "bt_runtime.run.debug.pattern": "what an author writes about the paths of their own tree",
    "bt_runtime.language.checks.entries": "a name as it stands, between two ends of words",
    "bt_robots.btcpp.element_writer": "the same",
    "bt_author.lsp.outline": "the same",
    "bt_author.edit.across": "the same",
    "bt_lab.distill.called": "the marks of a template's calls as they stand, with the texts between them",
    "bt_runtime.language.properties.atom": "what an author writes in a property",
    "bt_runtime.agents.compile.asking": "words of recorded sentences as they stand, with slots between them",
    "bt_runtime.agents.compile.calls": "a recorded goal as it stands, with holes between its words",
    "bt_runtime.agents.compile.condition": "the same",
    "bt_runtime.agents.compile.fuzzing": "the same",
    "bt_runtime.agents.compile.steps": "the same",
    "bt_runtime.agents.backchain.wording": "a word of letters as it stands, and one of four endings",
    "bt_author.suggest.seen": "runs of one class of characters of recorded values",
    "bt_runtime.skills.phrase": "the form that the author of a manifest writes for a slot, of plain parts alone",
    "bt_runtime.language.agent_options": "the same",
    "bt_runtime.language.fixes": "a key of ours as it stands, at the beginning of a line",
}


class Found(NamedTuple):
    module: str
    source: str  # as it stands in the file
    pattern: re.Pattern[str] | None  # None: made of what only a call knows
    methods: frozenset[str]

    def __str__(self) -> str:
        return f"{self.module}:{self.source}"


def _methods(tree: ast.AST, name: str) -> frozenset[str]:
    """How a module uses the pattern that it has named so."""
    return frozenset(
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and node.attr in METHODS
    )


def _patterns(path: Path) -> Iterator[Found]:
    text = path.read_text("utf-8")
    if "re." not in text:
        return
    tree, module = ast.parse(text), ".".join(path.relative_to(home_of(path)).with_suffix("").parts)
    named = {
        id(node.value): target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(function, ast.Attribute) or function.attr not in METHODS:
            continue
        if not (isinstance(function.value, ast.Name) and function.value.id == "re"):
            continue
        assert isinstance(node, ast.Call)
        used = _methods(tree, named.get(id(node), "")) if function.attr == "compile" else frozenset({function.attr})
        flags = [each for each in [*node.args[1:], *(k.value for k in node.keywords)] if "re." in ast.unparse(each)]
        pattern = _evaluated(module, node.args[0], flags)
        if pattern is None:
            yield from _kept(module)
        yield Found(module, ast.unparse(node.args[0]), pattern, used or frozenset({"fullmatch"}))


def _evaluated(module: str, source: ast.expr, flags: list[ast.expr]) -> re.Pattern[str] | None:
    known: dict[str, Any] = vars(importlib.import_module(module)) if _names(source) else {"re": re}
    try:
        pattern = eval(ast.unparse(source), {"re": re, **known})
        if isinstance(pattern, re.Pattern):
            return pattern
        return re.compile(pattern, eval(ast.unparse(flags[0]), {"re": re}) if flags else 0)
    except NameError:
        return None


def _kept(module: str) -> Iterator[Found]:
    """Patterns that a module makes when it is imported and keeps in a mapping or a tuple."""
    for name, value in vars(importlib.import_module(module)).items():
        rows = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
        for row in rows:
            for each in row if isinstance(row, tuple) else (row,):
                if isinstance(each, re.Pattern):
                    yield Found(module, f"{name}: {each.pattern}", each, frozenset({"fullmatch"}))


def _names(source: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) for node in ast.walk(source))


PATTERNS = [found for home in WHEELS.values() for path in sorted(home.rglob("*.py")) for found in _patterns(path)]


@pytest.mark.parametrize("found", [f for f in PATTERNS if f.pattern is not None], ids=str)
def test_a_pattern_takes_no_longer_than_in_proportion_to_its_text(found: Found) -> None:
    assert found.pattern is not None
    pattern = found.pattern
    if isinstance(pattern.pattern, bytes):  # tried as text, a letter for each byte
        pattern = re.compile(pattern.pattern.decode("latin-1"), pattern.flags)
    for method in sorted(found.methods):
        texts = linear.for_pattern(pattern.pattern, pattern.flags)
        assert not linear.worst(linear.use(pattern, method), texts), method


def test_a_pattern_that_cannot_be_tried_here_says_why() -> None:
    assert {found.module for found in PATTERNS if found.pattern is None} == set(MADE)
