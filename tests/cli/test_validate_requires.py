"""What a skill requires is looked for where a run looks: in the outermost tree, wherever the skill stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Btr

PRESS = "{sentence: press, impl: cell.py:press, on_resume: fail, requires: closed}"
SKILLS = f"version: 1\nskills: cell\nkinds:\n  press: {PRESS}\n"
INNER = "version: 1\ntree: inner\nskills: [cell]\nroot:\n  press: {}\n"


def outer(entry: str) -> str:
    return f"version: 1\ntree: outer\n{entry}root:\n  tree: {{file: inner.yaml}}\n"


@pytest.fixture
def cell(here: Path) -> Path:
    for name, text in {"btr.yaml": "", "skills/cell.yaml": SKILLS, "skills/cell.py": "def press() -> None: ...\n",
                       "trees/inner.yaml": INNER}.items():  # fmt: skip
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(text)
    return here


def test_an_included_tree_is_not_warned_about_where_the_outermost_has_the_entry(btr: Btr, cell: Path) -> None:
    (cell / "trees" / "outer.yaml").write_text(outer("blackboard: {closed: {type: boolean, default: true}}\n"))
    assert "no faults" in btr("validate", "trees").err


def test_the_outermost_tree_is_warned_about_once_though_the_included_one_has_the_entry(btr: Btr, cell: Path) -> None:
    """No included tree can stand in for it: see tests/tree/test_requires.py."""
    own = INNER.replace("root:", "blackboard: {closed: {type: boolean, default: true}}\nroot:")
    (cell / "trees" / "inner.yaml").write_text(own)
    (cell / "trees" / "outer.yaml").write_text(outer(""))
    said = btr("validate", "trees").out
    assert said.count("requires `closed`, and the outermost tree `outer` has no entry `closed`") == 1
    assert said.count("warning") == 1


def test_a_requirement_over_a_fact_is_a_fault_that_says_where_facts_belong(btr: Btr, cell: Path) -> None:
    for fact in ("the gate is closed", "holding(cup)"):
        (cell / "skills" / "cell.yaml").write_text(SKILLS.replace("requires: closed", f"requires: {fact}"))
        said = btr("validate", "skills").out
        assert "it names entries, as `guard_closed and pressure < 6`; facts go in `needs`" in said
