"""A tree, a skill and an entry are renamed in all files as one step; a missing skill is made after it was shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.commands import Commands
from bt_author.edit.session import Session
from bt_author.lsp.workspace import Workspace
from bt_runtime import BtError

MAIN = """\
version: 1
tree: main   # the first
skills: [arm]
properties:
  calm: {never: "pick(x == 1) is running and a > 3"}   # pick and a
  said: {eventually: 'pick is success or a == "a"'}
blackboard: {a: {type: integer, default: 1}}
root:
  sequence:
    - tree: {file: part, with: {n: "{a}"}}   # the part
    - pick: {}   # it picks
    - log: pick
"""
PART = "version: 1\ntree: part   # pick nothing\nskills: [arm]\ninputs: {n: integer}\nroot:\n  pick: {}\n"
ARM = 'version: 1\nskills: arm\nkinds:\n  pick: {sentence: pick it, impl: "arm.py:pick"}   # picks\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("trees", "skills", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    for name, text in (("trees/main", MAIN), ("trees/part", PART), ("skills/arm", ARM)):
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "skills/arm.py").write_text("def pick(): ...\n\n\nraise SystemExit('never imported')\n")
    (tmp_path / "tests/test_part.py").write_text('# a test\nrun_tree("part", skills={"pick": SUCCESS})\n')
    return tmp_path


@pytest.fixture
def commands(project: Path) -> Commands:
    return Commands(Session(Workspace(project, files, sort)))


def asked(commands: Commands, do: str, /, **given: Any) -> Any:
    path = given.setdefault("path", "trees/main.yaml")
    given.setdefault("version", commands.session.buffer(commands.session.path(path)).version)
    return commands(do, given)


def texts(project: Path) -> dict[str, str]:
    return {file.relative_to(project).as_posix(): file.read_text() for file in sorted(project.rglob("*.yaml"))}


def test_a_tree_is_renamed_with_its_file_and_all_that_include_it(commands: Commands, project: Path) -> None:
    """Nothing is written before; Save all writes the new file, removes the old one, and undo leads back."""
    before = texts(project)
    state = asked(commands, "rename_tree", node=[0], included=True, name="piece")
    assert state["text"] == MAIN.replace("file: part", "file: piece") and not state["faults"]
    assert state["mentions"] == ["tests/test_part.py:2"] and texts(project) == before
    assert asked(commands, "open", path="trees/part.yaml", version=0)["path"] == "trees/piece.yaml"
    names = [each["path"] for each in asked(commands, "files")["trees"]]
    assert names == ["trees/main.yaml", "trees/piece.yaml"]
    asked(commands, "save_all")
    assert texts(project) == {
        **{name: text for name, text in before.items() if name != "trees/part.yaml"},
        "trees/main.yaml": state["text"],
        "trees/piece.yaml": PART.replace("tree: part", "tree: piece"),
    }
    asked(commands, "undo")
    asked(commands, "save_all")
    assert texts(project) == before


def test_a_tree_that_is_shown_keeps_being_shown_under_its_new_name(commands: Commands, project: Path) -> None:
    """Two renamings before a save leave one file."""
    assert asked(commands, "rename_tree", path="trees/part.yaml", node=[], name="piece")["path"] == "trees/piece.yaml"
    state = asked(commands, "rename_tree", path="trees/piece.yaml", node=[], name="bit")
    assert state["path"] == "trees/bit.yaml" and state["others"] == ["trees/main.yaml"]
    asked(commands, "save", path="trees/bit.yaml")
    assert sorted(texts(project)) == ["btr.yaml", "skills/arm.yaml", "trees/bit.yaml", "trees/main.yaml"]
    assert asked(commands, "undo", path="trees/bit.yaml")["path"] == "trees/piece.yaml"


def test_a_file_that_somebody_else_changed_is_not_removed(commands: Commands, project: Path) -> None:
    asked(commands, "rename_tree", path="trees/part.yaml", node=[], name="piece")
    (project / "trees/part.yaml").write_text(PART + "# mine\n")
    asked(commands, "save_all")
    assert (project / "trees/part.yaml").read_text() == PART + "# mine\n"


def test_a_skill_is_renamed_in_its_manifest_in_trees_and_in_properties(commands: Commands, project: Path) -> None:
    """Comments, texts and the Python stay; one undo takes back all files."""
    state = asked(commands, "rename_skill", node=[1], name="grip")
    assert state["text"] == MAIN.replace("pick(x", "grip(x").replace("pick is", "grip is").replace(
        "- pick: {}", "- grip: {}"
    )
    assert not state["faults"] and sorted(state["others"]) == ["skills/arm.yaml", "trees/part.yaml"]
    asked(commands, "save_all")
    assert (project / "skills/arm.yaml").read_text() == ARM.replace("  pick:", "  grip:")
    assert (project / "trees/part.yaml").read_text() == PART.replace("  pick:", "  grip:")
    asked(commands, "undo")
    asked(commands, "save_all")
    assert texts(project)["trees/main.yaml"] == MAIN and texts(project)["skills/arm.yaml"] == ARM


@pytest.mark.parametrize("name", ["sequence", "Pick up", "../x", ""])
def test_a_name_that_is_taken_or_no_name_changes_nothing(commands: Commands, project: Path, name: str) -> None:
    for do, node in (("rename_skill", [1]), ("rename_tree", [0])):
        if do == "rename_tree" and name == "sequence":
            continue  # a tree may be called so
        with pytest.raises(BtError):
            asked(commands, do, node=node, included=True, name=name)
    assert asked(commands, "open")["text"] == MAIN and not commands.session.history.done


def test_an_entry_is_renamed_from_the_head(commands: Commands) -> None:
    state = asked(commands, "rename_entry", section="blackboard", entry="a", name="count")
    assert state["text"] == MAIN.replace("{a:", "{count:").replace("{a}", "{count}").replace(
        "a > 3", "count > 3"
    ).replace("a ==", "count ==")


POLICIES = """\
policies:
  skills: {pick: [operator, author]}
  reads: [pick]
  labels: {entries: {a: outside}, skills: {pick: outside}}
  endorse: [a]
"""


def test_policies_follow_an_entry_and_a_skill_to_their_new_names(project: Path) -> None:
    """A label that kept the old name would hold for nothing, and what strangers write would pass."""
    text = MAIN.replace("blackboard:", f"{POLICIES}blackboard:")
    (project / "btr.yaml").write_text("version: 1\npolicies: {skills: {pick: [operator, author]}}\n")
    (project / "trees/main.yaml").write_text(text)
    commands = Commands(Session(Workspace(project, files, sort)))
    state = asked(commands, "rename_entry", section="blackboard", entry="a", name="count")
    assert "entries: {count: outside}" in state["text"] and "endorse: [count]" in state["text"]
    state = asked(commands, "rename_skill", node=[1], name="grip")
    assert "skills: {grip: [operator, author]}" in state["text"] and "reads: [grip]" in state["text"]
    assert "skills: {grip: outside}" in state["text"] and not state["faults"]
    asked(commands, "save_all")
    assert "{grip: [operator, author]}" in (project / "btr.yaml").read_text()


def test_a_missing_skill_is_shown_and_then_made(commands: Commands, project: Path) -> None:
    """The diff names both files and the tree's new line; only a yes writes, and nothing is run. The parameters are
    those that the node gives."""
    asked(commands, "text", text=MAIN.replace("- log: pick", '- turn_on: {lamp: hall, level: 3, why: "{a}"}'))
    before = texts(project)
    diff = asked(commands, "skill", node=[2])["diff"]
    for row in ("+++ skills/turn_on.yaml", "+      lamp: string", "+++ skills/turn_on.py", "+skills: [arm, turn_on]"):
        assert row in diff.splitlines()
    assert texts(project) == before and asked(commands, "open")["faults"]
    state = asked(commands, "skill", node=[2], write=True)
    assert state["faults"] == [] and "skills: [arm, turn_on]" in state["text"] and state["unsaved"]
    stub = (project / "skills/turn_on.py").read_text()
    assert "def turn_on(lamp: str, level: int, why: object) -> bool:" in stub
    with pytest.raises(BtError, match="already"):
        asked(commands, "skill", node=[2])
