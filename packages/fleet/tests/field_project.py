"""A project for robots of the field: each tree drives to a shelf and does one thing there, witnessed by the ledger."""

from __future__ import annotations

from pathlib import Path

from bt_fleet.store.task import Task

WORLD = {"env": "field", "task": "reach", "option": ["speed=0", "calm=yes"]}
_SKILLS = """\
version: 1
skills: cell
about: What a robot of the field does at a shelf.
kinds:
  drive:
    sentence: "go to {place}"
    params: {place: {type: string}}
    on_resume: repeat
    impl: world
  undock: {sentence: "undock", on_resume: repeat, impl: world}
  look: {sentence: "look at {what}", params: {what: {type: string}}, on_resume: repeat, impl: "cell.py:note"}
  weld: {sentence: "weld {what}", params: {what: {type: string}}, on_resume: fail, impl: "cell.py:note"}
  fit: {sentence: "fit {what}", params: {what: {type: string}}, on_resume: verify, impl: "cell.py:Fit"}
"""
_PYTHON = """\
import os
import time

import bt_runtime as bt

LEDGER = os.environ["LEDGER"]


def witness(what, word):
    file = os.open(LEDGER, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, f"{word} {what} {os.getpid()} {time.time():.6f}\\n".encode())
    os.close(file)


def note(what):
    yield "about to"
    witness(what, "effect")
    yield "done"


class Fit(bt.Skill):
    def start(self, what):
        self.what = what
        witness(what, "effect")

    def poll(self):
        return bt.Status.SUCCESS

    def verify(self, what):
        with open(LEDGER) as file:
            return any(line.split()[:2] == ["effect", what] for line in file)
"""
TREES = (("repeat", "look"), ("stays", "weld"), ("stays_verify", "fit"), ("moves", "weld"), ("moves_verify", "fit"))
_TREE = """\
version: 1
tree: {name}{moves}
skills: [cell]
inputs:
  what: {{type: string}}
root:
  sequence:
    - undock: {{}}
    - drive: shelf a
    - {skill}: "{{what}}"
    - drive: shelf b
"""


def made(folder: Path) -> Path:
    """Writes the project, and returns its folder."""
    for name in ("trees", "skills"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "btr.yaml").write_text("version: 1\n")
    (folder / "skills" / "cell.yaml").write_text(_SKILLS)
    (folder / "skills" / "cell.py").write_text(_PYTHON)
    for name, skill in TREES:
        moves = "\nmoves: true" if name.startswith("moves") else ""
        (folder / "trees" / f"{name}.yaml").write_text(_TREE.format(name=name, moves=moves, skill=skill))
    return folder


def task(id: str, tree: str) -> Task:
    return Task(id, tree, {"what": id}, world=WORLD)
