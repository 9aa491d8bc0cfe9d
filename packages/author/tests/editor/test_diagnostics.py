"""What an editor shows about a tree file: one diagnostic for a fault, at the fault, and none for a sound tree."""

from __future__ import annotations

from itertools import count

import pytest

from bt_runtime.language.kinds.registry import shipped_kinds
from packages.author.tests.editor.conftest import MANIFEST
from packages.author.tests.editor.lsp import Server
from packages.author.tests.editor.one_fault import HEAD, ONE_FAULT
from tests.language.kinds.samples import tree_text

pytestmark = pytest.mark.editor
FIRST = HEAD.count("\n") + 1  # the line after it
_numbers = count()


def shown(server: Server, text: str) -> list[tuple[int, int, str]]:
    """Line and column (from 1) and message of each diagnostic."""
    found = server.diagnostics(f"tree{next(_numbers)}.yaml", text)
    return [(d["range"]["start"]["line"] + 1, d["range"]["start"]["character"] + 1, d["message"]) for d in found]


# one fault each: (what is written under `root:`, line below the head, column, a part of the message)


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
