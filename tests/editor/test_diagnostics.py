"""What an editor shows about a tree file: one diagnostic for a fault, at the fault, and none for a sound tree."""

from __future__ import annotations

from itertools import count

import pytest

from bt_runtime.language.kinds.registry import shipped_kinds
from tests.editor.conftest import MANIFEST
from tests.editor.lsp import Server
from tests.language.kinds.samples import tree_text

pytestmark = pytest.mark.editor
HEAD = "# yaml-language-server: $schema=tree.schema.json\nversion: 1\ntree: t\nskills: [depot]\nroot:\n"
FIRST = HEAD.count("\n") + 1  # the line after it
_numbers = count()


def shown(server: Server, text: str) -> list[tuple[int, int, str]]:
    """Line and column (from 1) and message of each diagnostic."""
    found = server.diagnostics(f"tree{next(_numbers)}.yaml", text)
    return [(d["range"]["start"]["line"] + 1, d["range"]["start"]["character"] + 1, d["message"]) for d in found]


# one fault each: (what is written under `root:`, line below the head, column, a part of the message)
ONE_FAULT = {
    "unknown kind": ("  seqence:\n    - log: a\n", 0, 3, "seqence is not allowed"),
    "unknown kind inside": ("  sequence:\n    - chek: a > 1\n", 1, 7, "chek is not allowed"),
    "unknown kind below a bare decorator": ("  invert:\n    chek: a > 1\n", 1, 5, "chek is not allowed"),
    "unknown field": ("  log: {text: a, levl: info}\n", 0, 18, "levl is not allowed"),
    "misspelt needed field": ("  retry:\n    time: 3\n    child: {log: a}\n", 1, 5, "time is not allowed"),
    "missing field": ("  retry:\n    times: 3\n", 0, 3, 'Missing property "child"'),
    "nothing where fields are needed": ("  retry:\n", 0, 9, "a mapping of its fields"),
    "two keys": ("  sequence:\n  - retry:\n    times: 3\n", 1, 5, "more properties"),
    "kind alone": ("  sequence:\n    - succeed\n", 1, 7, "one key, its kind"),
    "list for a node": ("  - log: a\n", 0, 3, "one key, its kind"),
    "text for a child": ("  invert:\n    child: go home\n", 1, 12, "one key, its kind"),
    "empty node": ("  sequence:\n    - {}\n", 1, 7, "fewer properties"),
    "empty list": ("  sequence: []\n", 0, 13, "too few items"),
    "no list": ("  sequence: hello\n", 0, 13, "a list of nodes"),
    "no list, by field": ("  sequence:\n    children: {log: a}\n", 1, 15, "array"),
    "number wanted": ("  wait: soon\n", 0, 9, "a number, or a template"),
    "integer wanted": ("  retry: {times: 1.5, child: {log: a}}\n", 0, 18, "an integer, or a template"),
    "text wanted": ("  agent: {goal: 3}\n", 0, 17, "put in quotes"),
    "expression wanted": ("  check: [a]\n", 0, 10, "an expression"),
    "below the least": ("  retry:\n    times: 0\n    child: {log: a}\n", 1, 12, "below the minimum of 1"),
    "no such word": ("  force:\n    status: sucess\n    child: {log: a}\n", 1, 13, '"success", "failure"'),
    "empty cases": ("  switch: {on: a, cases: {}}\n", 0, 26, "fewer properties"),
    "bad name of an entry": ("  set: {1st: 2}\n", 0, 9, "letters, digits and _"),
    "bad name of a node": ("  log: {text: a, name: a/b}\n", 0, 24, "none of / *"),
    "value for a kind without": ("  succeed: now\n", 0, 12, "takes no value"),
    "wait for nothing": ("  wait: {}\n", 0, 3, 'Missing property "until"'),
    "skill with an unknown field": ("  go_to: {place: hall, sped: 1}\n", 0, 24, "sped is not allowed"),
    "skill without a parameter": ("  go_to: {speed: 1}\n", 0, 3, 'Missing property "place"'),
    "skill beyond its bounds": ("  go_to: {place: hall, speed: 5}\n", 0, 31, "above the maximum of 2"),
    "skill with no such choice": ("  look: {side: up}\n", 0, 16, '"left", "right"'),
    "output of a skill that is no entry": ("  look: {side: left, seen: things}\n", 0, 28, "entry that is written"),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_FAULT)
def test_one_fault_gives_one_diagnostic(server: Server, name: str) -> None:
    text, line, column, said = ONE_FAULT[name]
    found = shown(server, HEAD + text)
    assert [(at, where) for at, where, _ in found] == [(FIRST + line, column)], found
    assert said in found[0][2]


HEADS = {
    "version": ("version: 2\ntree: t\nroot: {log: a}\n", 2, 10, "reads version 1"),
    "name": ("version: 1\ntree: a tree\nroot: {log: a}\n", 3, 7, "letters, digits and _"),
    "unknown key": ("version: 1\ntree: t\nrot: 1\nroot: {log: a}\n", 4, 1, "rot is not allowed"),
    "no such manifest": ("version: 1\ntree: t\nskills: [garage]\nroot: {log: a}\n", 4, 10, '"depot"'),
    "type": ("version: 1\ntree: t\ninputs: {a: strin}\nroot: {log: a}\n", 4, 13, "one of these types"),
    "field": ("version: 1\ntree: t\ninputs: {a: {typ: any}}\nroot: {log: a}\n", 4, 14, "typ is not allowed"),
    "default": ("version: 1\ntree: t\ninputs: {a: {type: list, default: b}}\nroot: {fail: }\n", 4, 35, '"array"'),
}  # fmt: skip


@pytest.mark.parametrize("name", HEADS)
def test_one_fault_above_the_root_gives_one_diagnostic(server: Server, name: str) -> None:
    text, line, column, said = HEADS[name]
    found = shown(server, f"# yaml-language-server: $schema=tree.schema.json\n{text}")
    assert [(at, where) for at, where, _ in found] == [(line, column)], found
    assert said in found[0][2]


def test_several_faults_give_one_diagnostic_each(server: Server) -> None:
    text = """\
  sequence:
    - seqence: []
    - wait: soon
    - log: {txt: a}
    - retry: {times: 0, child: {chek: a}}
"""
    lines = [line - FIRST for line, _, _ in sorted(shown(server, HEAD + text))]
    assert lines == [1, 2, 3, 4, 4]


@pytest.mark.parametrize("kind", tuple(shipped_kinds()), ids=lambda kind: kind.name)
def test_the_example_of_a_kind_has_no_diagnostic(server: Server, kind: object) -> None:
    text = tree_text(kind.example)  # type: ignore[attr-defined]
    assert shown(server, f"# yaml-language-server: $schema=tree.schema.json\n{text}") == []


def test_all_forms_of_a_node_have_no_diagnostic(server: Server) -> None:
    text = """\
  sequence:
    name: all
    when: a > 1
    children:
      - invert: {log: a}
      - invert: {child: {log: a}, on_success: {b: 1}}
      - once:
          log: a
      - wait: "{seconds}"
      - wait: {until: a > 1}
      - fail:
      - succeed:
      - check: true
      - set: {values: {a: 1}, unless: a}
      - retry: {times: -1, child: {go_to: hall}}
      - go_to: {place: "{room}", speed: "{speed}"}
      - look: {side: "{side}", seen: "{things}"}
      - parallel: [{log: a}, {log: b}]
"""
    assert shown(server, HEAD + text) == []


def test_a_manifest_is_checked_too(server: Server) -> None:
    modeline = "# yaml-language-server: $schema=skills.schema.json\n"
    assert shown(server, modeline + MANIFEST) == []
    broken = MANIFEST.replace("place: string", "place: strin")
    assert [(line, column) for line, column, _ in shown(server, modeline + broken)] == [(8, 21)]
