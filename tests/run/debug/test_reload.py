"""A tree whose files are edited while it runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import BtError, debugger_of
from bt_runtime.events import Line, Tick
from bt_runtime.journal import replay, resume
from bt_runtime.run.debug.file_watch import FileWatch
from bt_runtime.tree.node import path_of

MAIN = """
version: 1
tree: main
blackboard: {seen: {type: integer, default: 0}}
root:
  parallel:
    success: 3
    children:
      - sequence:
          name: left
          children:
            - set: {seen: "{seen + 1}"}
            - {wait: {seconds: 100, name: rest}}  # as long as it takes
      - {wait: {seconds: 50, name: other}}
      - {tree: {file: inner, name: below}}
"""
INNER = """
version: 1
tree: inner
root:
  sequence:
    - {wait: {seconds: 70, name: first}}
    - log: inner is done
"""


SKILLS = """version: 1
skills: own
about: Lifting.
impl: world
kinds:
  lift: {sentence: lift it, about: Lift it., needs: [], brings: [], on_resume: repeat}
"""


class Edited:
    """A project, a run of it, and whoever edits its files."""

    def __init__(self, folder: Path, **texts: str) -> None:
        self.folder = folder
        (folder / "btr.yaml").write_text("", "utf-8")
        (folder / "trees").mkdir()
        (folder / "skills").mkdir()
        (folder / "skills" / "own.yaml").write_text(SKILLS, "utf-8")
        for name, text in {"main": MAIN, "inner": INNER, **texts}.items():
            (folder / "trees" / f"{name}.yaml").write_text(text, "utf-8")
        self.edits = 0
        self.clock = bt.clock.Manual()
        self.run = bt.Run(self.load(), clock=self.clock, journal=folder / "runs")
        self.lines: list[str] = []
        self.halts: list[tuple[str, str, str]] = []
        self.run.listen(lambda line: self.lines.append(line.text), Line)
        self.run.listen(self.halted, Tick)
        self.watch = FileWatch(self.run, self.load, start=False)

    def load(self) -> bt.Tree:
        return bt.load(self.folder / "trees" / "main.yaml", project=self.folder)

    def halted(self, tick: Tick) -> None:
        self.halts += [(path_of(node), why.by, why.reason) for node, why in tick.halts]

    def edit(self, name: str, old: str, new: str) -> bool:
        path = self.folder / "trees" / f"{name}.yaml"
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")
        self.edits += 1
        os.utime(path, ns=(0, self.edits))  # a disk whose clock is coarse would show no edit
        assert not self.watch.check()  # it may be written still
        return self.watch.check()

    def node(self, path: str) -> Any:
        return self.run.parts.engine.find(path)

    def journal(self) -> Path:
        assert self.run.parts.journal is not None and self.run.parts.journal.path is not None
        return self.run.parts.journal.path


@pytest.fixture
def edited(tmp_path: Path) -> Any:
    made = Edited(tmp_path)
    made.run.tick()
    yield made
    made.run.close()


def test_only_the_node_that_is_another_one_is_replaced_and_all_else_goes_on(edited: Edited) -> None:
    kept = {path: edited.node(path) for path in ("/main", "/main/left", "/main/other", "/main/below/inner/first")}
    before = edited.node("/main/left/rest")
    assert edited.edit("main", "seconds: 100", "seconds: 20")
    edited.run.tick()
    assert {path: edited.node(path) for path in kept} == kept
    assert all(node.status is bt.Status.RUNNING for node in kept.values())
    assert edited.node("/main/left/rest") is not before and before.status is bt.Status.INVALID
    ((path, by, reason),) = edited.halts
    assert (path, by) == ("/rest", "watch") and "main.yaml was edited: /main/left/rest" in reason  # it has left
    assert edited.run.blackboard["seen"] == 1  # nothing was begun anew
    edited.clock.advance(20)
    edited.run.tick()
    assert edited.node("/main/left").status is bt.Status.SUCCESS


def test_an_included_tree_is_watched_and_a_part_may_be_edited_again(edited: Edited) -> None:
    left = edited.node("/main/left/rest")
    for seconds in (60, 40, 10):
        old = {60: 70, 40: 60, 10: 40}[seconds]
        assert edited.edit("inner", f"seconds: {old}", f"seconds: {seconds}"), edited.lines
        edited.run.tick()
    edited.clock.advance(10)
    edited.run.tick()
    assert "inner is done" in edited.lines and edited.node("/main/left/rest") is left


def test_an_edit_that_is_at_fault_is_told_with_its_place_and_changes_nothing(edited: Edited) -> None:
    before = edited.node("/main/left/rest")
    assert not edited.edit("main", "seconds: 100", "secnds: 100")
    assert "main.yaml:13:" in edited.lines[-1] and "goes on as it was" in edited.lines[-1]
    edited.run.tick()
    assert edited.node("/main/left/rest") is before and before.status is bt.Status.RUNNING
    assert edited.edit("main", "secnds: 100", "seconds: 5")
    edited.run.tick()
    assert edited.node("/main/left/rest") is not before


def test_several_places_are_replaced_together_or_none_is(edited: Edited, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = debugger_of(edited.run).check

    def check(path: str, text: str) -> Any:
        if path == "/main/other":
            raise BtError("it cannot stand there", "write another one")
        return checks(path, text)

    before = edited.node("/main/left/rest")
    with monkeypatch.context() as patched:
        patched.setattr(debugger_of(edited.run), "check", check)
        assert not edited.edit("main", "seconds: ", "seconds: 1")  # 1100 and 150
    edited.run.tick()
    assert edited.node("/main/left/rest") is before and "cannot stand there" in edited.lines[-1]
    assert edited.edit("main", "seconds: 1", "seconds: 2")
    edited.run.tick()
    assert len(edited.halts) == 2


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("main", "default: 0", "default: 3", "blackboard are others now"),
        ("main", "file: inner", "file: other", "a file that the run does not know"),
    ],
)
def test_what_cannot_be_taken_while_it_runs_is_told(edited: Edited, name: str, old: str, new: str, said: str) -> None:
    (edited.folder / "trees" / "other.yaml").write_text(INNER.replace("inner", "other"), "utf-8")
    assert not edited.edit(name, old, new)
    assert said in edited.lines[-1] and "start the run anew" in edited.lines[-1]


def test_an_edited_manifest_is_told_and_one_at_fault_with_its_place(tmp_path: Path) -> None:
    made = Edited(tmp_path, main=MAIN.replace("root:", "skills: [own]\nroot:", 1))
    with made.run:
        made.run.tick()
        assert not made.edit("../skills/own", "lift it", "lift this")
        assert "this changes the skills of the run" in made.lines[-1]
        assert not made.edit("../skills/own", "sentence", "sentense")
        assert "own.yaml:6:" in made.lines[-1]


def test_a_comment_is_no_other_tree(edited: Edited) -> None:
    root = edited.node("/main")
    assert not edited.edit("main", "# as long as it takes", "# or longer")
    edited.run.tick()
    assert "nothing is different" in edited.lines[-1] and edited.node("/main") is root and not edited.halts


def test_a_replay_and_a_resume_come_to_the_same(edited: Edited) -> None:
    assert edited.edit("main", "seconds: 100", "seconds: 20")
    edited.run.tick()
    assert edited.edit("inner", "seconds: 70", "seconds: 30")
    edited.clock.advance(20)
    edited.run.tick()
    edited.run.close()
    assert replay(edited.journal()).difference == ""
    with resume(edited.journal(), clock=bt.clock.Manual(), changed=True) as run:
        assert run.parts.engine.find("/main/left").status is bt.Status.SUCCESS
        assert run.parts.engine.find("/main/below/inner/first").status is bt.Status.RUNNING


def test_a_root_in_one_line_and_a_child_in_one_line_are_taken(tmp_path: Path) -> None:
    text = "version: 1\ntree: main\nroot: {parallel: {success: 2, children: [{wait: 3}, {wait: 4}]}}\n"
    made = Edited(tmp_path, main=text)
    with made.run:
        made.run.tick()
        assert made.edit("main", "wait: 4", "wait: 1")
        made.run.tick()
        made.clock.advance(3)
        assert made.run.tick().status is bt.Status.SUCCESS
