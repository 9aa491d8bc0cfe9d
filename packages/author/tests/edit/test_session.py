"""A person edits files while others do, too: nothing is overwritten unseen, and everything can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.commands import Commands
from bt_author.edit.merge import merge
from bt_author.edit.session import Session
from bt_author.lsp.workspace import Workspace
from bt_runtime import BtError

TREE = """\
version: 1
tree: main   # the first
blackboard: {a: {type: integer, default: 1}}
root:
  sequence:
    - log: "a is {a}"   # told
    - set: {a: "{a + 1}"}
    - wait: 1
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "trees").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "trees" / "main.yaml").write_text(TREE)
    return tmp_path


@pytest.fixture
def commands(project: Path) -> Commands:
    return Commands(Session(Workspace(project, files, sort)))


def asked(commands: Commands, do: str, /, **given: Any) -> Any:
    """A command on the tree as it is now."""
    path = given.setdefault("path", "trees/main.yaml")
    given.setdefault("version", commands.session.buffer(commands.session.path(path)).version)
    return commands(do, given)


def test_a_gesture_changes_the_text_here_and_the_disk_only_when_it_is_saved(commands: Commands, project: Path) -> None:
    state = asked(commands, "delete", nodes=[[2]])
    assert "wait" not in state["text"] and state["unsaved"] and state["undo"] == "delete"
    assert (project / "trees/main.yaml").read_text() == TREE
    asked(commands, "save")
    assert (project / "trees/main.yaml").read_text() == state["text"]


def test_a_guard_stands_on_its_box_once(commands: Commands) -> None:
    state = asked(commands, "set", node=[2], field="when", value="a > 1")
    box = state["nodes"][-1]
    assert (box["gist"], box["guard"]) == ("1", "when a > 1")
    state = asked(commands, "text", text=TREE.replace("- wait: 1", "- succeed: {unless: a > 1}"))
    box = state["nodes"][-1]
    assert (box["gist"], box["guard"]) == ("", "unless a > 1")


def test_undo_goes_over_files(commands: Commands, project: Path) -> None:
    """A branch that became a tree of its own is one step; so is its way back."""
    state = asked(commands, "extract", node=[1], name="more")
    assert 'tree:\n        file: more\n        with:\n          a: "{a}"' in state["text"]
    made = asked(commands, "open", path="trees/more.yaml")
    assert made["text"] == 'version: 1\ntree: more\noutputs:\n  a: integer\nroot:\n  set: {a: "{a + 1}"}\n'
    assert not state["faults"] and not made["faults"]
    assert not (project / "trees/more.yaml").exists()
    assert asked(commands, "undo")["text"] == TREE
    assert "file: more" in asked(commands, "redo")["text"]


def test_a_tree_that_was_taken_out_goes_back_to_the_same_words(commands: Commands) -> None:
    asked(commands, "extract", node=[1], name="more")
    assert asked(commands, "inline", node=[1])["text"] == TREE


def test_a_port_keeps_its_types_bounds(commands: Commands) -> None:
    text = TREE.replace("type: integer,", "type: integer, minimum: 0, maximum: 9,")
    asked(commands, "text", text=text)
    asked(commands, "extract", node=[0], name="said")
    assert (
        "inputs:\n  a: {type: integer, minimum: 0, maximum: 9}\n"
        in asked(commands, "open", path="trees/said.yaml")["text"]
    )


def test_another_writer_of_other_lines_is_merged(commands: Commands, project: Path) -> None:
    asked(commands, "set", node=[2], field="seconds", value="5")
    file = project / "trees/main.yaml"
    file.write_text(TREE.replace("# the first", "# my first"))
    session = commands.session
    assert session.look(session.path("trees/main.yaml"))
    state = asked(commands, "open")
    assert "# my first" in state["text"] and "wait: 5" in state["text"] and state["theirs"] is None
    asked(commands, "save")
    assert file.read_text() == state["text"]


def test_another_writer_of_the_same_line_is_never_overwritten_unseen(commands: Commands, project: Path) -> None:
    asked(commands, "set", node=[2], field="seconds", value="5")
    file = project / "trees/main.yaml"
    theirs = TREE.replace("wait: 1", "wait: 9")
    file.write_text(theirs)
    with pytest.raises(BtError, match="same lines"):
        asked(commands, "save")
    assert file.read_text() == theirs
    assert asked(commands, "open")["theirs"] == theirs
    assert asked(commands, "settle", take="theirs")["text"] == theirs


def test_an_old_page_cannot_change_a_newer_text(commands: Commands) -> None:
    asked(commands, "delete", nodes=[[2]])
    with pytest.raises(BtError, match="changed meanwhile"):
        asked(commands, "delete", nodes=[[1]], version=0)


@pytest.mark.parametrize("name", ["../other.yaml", "/etc/hosts.yaml", "trees/../../x.yaml", "skills/a.py"])
def test_nothing_outside_of_the_project_is_read_or_written(commands: Commands, name: str) -> None:
    with pytest.raises(BtError):
        asked(commands, "open", path=name, version=0)


def test_an_empty_text_is_not_saved_over_a_file(commands: Commands, project: Path) -> None:
    asked(commands, "text", text="")
    with pytest.raises(BtError, match="empty"):
        asked(commands, "save")
    assert (project / "trees/main.yaml").read_text() == TREE


def test_a_file_at_fault_opens_with_its_faults_at_their_nodes(commands: Commands) -> None:
    state = asked(commands, "text", text=TREE.replace("wait: 1", "wiat: 1"))
    (fault,) = state["faults"]
    assert state["nodes"][fault["node"]]["kind"] == "wiat" and fault["line"] == 8
    assert asked(commands, "fix", n=0)["text"] == TREE


def test_an_entry_is_renamed_in_all_places(commands: Commands) -> None:
    state = asked(commands, "rename", line=3, column=14, name="count")
    assert state["text"] == TREE.replace("{a:", "{count:").replace("{a}", "{count}").replace("{a + 1}", "{count + 1}")


def test_a_command_that_is_no_command_is_refused_in_words(commands: Commands) -> None:
    for name, given in (
        ("rm", {}),
        ("delete", {"path": "trees/main.yaml"}),
        ("move", {"path": "trees/main.yaml", "node": "x"}),
    ):
        with pytest.raises(BtError):
            commands(name, given)


def test_a_merge_takes_both_sides_or_says_that_it_cannot() -> None:
    base = "a\nb\nc\nd\n"
    assert merge(base, "A\nb\nc\nd\n", "a\nb\nc\nD\n") == ("A\nb\nc\nD\n", False)
    assert merge(base, "a\nX\nc\nd\n", "a\nY\nc\nd\n").conflict
    assert merge(base, "a\nX\nc\nd\n", "a\nX\nc\nd\n") == ("a\nX\nc\nd\n", False)


def test_files_that_are_not_saved_are_tried_and_drawn_as_they_stand(commands: Commands, project: Path) -> None:
    """A tree that was just taken out is played and drawn, and so is one with a new name."""
    asked(commands, "extract", node=[1], name="more")
    assert asked(commands, "try", move="begin")["nodes"]
    asked(commands, "rename_tree", path="trees/more.yaml", node=[], name="rest")
    assert asked(commands, "try", move="tick", times=3)["board"]["a"] == "2"
    assert "rest" in asked(commands, "picture", whole=True)["picture"] and not (project / "trees/rest.yaml").exists()
