"""A project, and assistants that are scripted on the SDK's own client."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

MANIFEST = """\
version: 1
skills: rover
kinds:
  drive:
    sentence: drive to {place}
    params:
      place: {type: string, choices: [dock, hall, kitchen]}
    on_resume: repeat
    impl: rover.py:drive
  charge:
    sentence: charge at the dock
    on_resume: repeat
    outputs: {level: number}
    impl: rover.py:charge
"""
CODE = """\
open(__file__ + ".ran", "w").close()


def drive(place):
    return True


def charge():
    return 1.0
"""
TREE = """\
version: 1
tree: rounds
skills: [rover]
root:
  for_each:
    in: [hall, kitchen]
    as: place
    child:
      drive: "{place}"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two skills in Python and one tree. Nothing is trusted."""
    monkeypatch.delenv("BTR_TRUST")
    root = tmp_path / "rover"
    for folder in ("trees", "skills"):
        (root / folder).mkdir(parents=True)
    (root / "btr.yaml").write_text("version: 1\n")
    (root / "skills" / "rover.yaml").write_text(MANIFEST)
    (root / "skills" / "rover.py").write_text(CODE)
    (root / "trees" / "rounds.yaml").write_text(TREE)
    monkeypatch.chdir(root)
    return root


def ran(root: Path) -> bool:
    """True once Python of the project was imported."""
    return any(root.rglob("*.ran"))
