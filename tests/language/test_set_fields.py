"""Fields of any node among the entries of a bare `set`: told, with both things that may be meant as fixes."""

from __future__ import annotations

import pytest

from bt_runtime.language import fixes
from bt_runtime.language.kinds.kind import COMMON_NAMES
from bt_runtime.language.loader import Checked, Loader

HEAD = "version: 1\ntree: t\nblackboard: {go: {type: boolean, default: false}}\noutputs: {l: any}\nroot:\n"


def load(root: str) -> Checked:
    return Loader().text(HEAD + root, "text")


@pytest.mark.parametrize("name", sorted(COMMON_NAMES))
def test_a_field_of_any_node_among_the_entries_of_set_is_an_error(name: str) -> None:
    """`set: {l: 1, when: go}` neither writes an entry `when` nor leaves the guard out in silence."""
    found = [d for d in load(f"  set: {{l: 1, {name}: go}}\n").diagnostics if d.severity == "error"]
    assert [d.code for d in found] == ["BT013"]
    assert f"`{name}` beside it" in found[0].label


IN_A_LIST = "  sequence:\n    - set:\n        l: 1\n        when: go\n    - log: a\n"


@pytest.mark.parametrize("root", ["  set: {l: 1, when: go}\n", "  set:\n    l: 1\n    when: go\n", IN_A_LIST])
def test_its_first_fix_makes_it_a_guard_and_its_second_an_entry(root: str) -> None:
    """Both texts load, and differ in what is written."""
    found = load(root)
    (fault,) = [d for d in fixes.fixable(found.diagnostics, found.sources) if d.code == "BT013"]
    made = [load(fixes.applied(HEAD + root, fix.edits).removeprefix(HEAD)).sound() for fix in fault.fixes]
    sets = [next(n for n in tree.root.walk() if n.kind.name == "set") for tree in made]
    assert [list(node.values["values"]) for node in sets] == [["l"], ["l", "when"]]
    assert [any(n.kind.name == "guard" for n in tree.root.walk()) for tree in made] == [True, False]


def test_an_entry_of_such_a_name_is_written_below_values() -> None:
    """Nothing is lost: the long form writes entries of any name."""
    tree = load('  set: {values: {l: 1, about: "x"}}\n').sound()
    assert list(tree.root.values["values"]) == ["l", "about"]
