"""A small project for the tests of `btr serve lsp`, and the workspace over a folder."""

from __future__ import annotations

from pathlib import Path

from bt_author.cli.lsp import files, sort
from bt_author.lsp.document import Document
from bt_author.lsp.workspace import Workspace
from packages.author.tests.editor.conftest import MANIFEST

MAIN = """\
version: 1
tree: main
skills: [depot]
inputs: {place: string}
blackboard: {battery: number}
root:
  sequence:
    - check: battery > 0.2 and battery < 1
    - go_to: {place: "{place}"}
    - look: {side: left, seen: "{things}"}
    - log: "at {place} there are {things}"
    - tree: {file: part, with: {room: "{place}", found: "{count}"}}
    - check: count > 0
"""
PART = """\
version: 1
tree: part
inputs: {room: string}
outputs: {found: integer}
root:
  sequence:
    - log: in {room}
    - set: {found: 3}
"""
PYTHON = "def go_to(place, speed=1):\n    return {}\n\n\ndef look(side):\n    return {'seen': []}\n"


def written(folder: Path) -> Path:
    """The project's folder."""
    for name, text in {
        "btr.yaml": "version: 1\n",
        "trees/main.yaml": MAIN,
        "trees/part.yaml": PART,
        "skills/depot.yaml": MANIFEST.replace(
            "sentence: go to {place}", "sentence: go to {place}\n    impl: depot.py:go_to"
        ),
        "skills/depot.py": PYTHON,
        "tests/test_main.py": "def test_it(run_tree): run_tree('main')\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def workspace(folder: Path) -> Workspace:
    """All of it checked."""
    made = Workspace(folder, files, sort)
    made.scan()
    made.settle()
    return made


def shown(space: Workspace, path: Path, text: str) -> Document:
    """A file, open in an editor with this text."""
    space.opened(path.resolve(), text)
    space.settle()
    document = space.document(path.resolve())
    assert document is not None
    return document


def marked(text: str) -> tuple[str, int]:
    """`lo|g: a` → the text, and where the cursor stands."""
    at = text.index("|")
    return text[:at] + text[at + 1 :], at
