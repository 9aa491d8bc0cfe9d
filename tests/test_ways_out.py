"""Whoever refuses something says what to do about it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.workspace import WHEELS

# the rooms of the runtime, and the other wheels
ROOMS = {**{p.name: p for p in sorted(WHEELS["bt_runtime"].iterdir()) if p.is_dir() and p.name != "__pycache__"},
         **{name: home for name, home in WHEELS.items() if name != "bt_runtime"}}  # fmt: skip
# A class that says what it is, and by what a person gets on: the second argument.
FAULTS = ("BtError", "ImportFault")
NOBODY_READS = {
    "cli/agents/prompt.py": "it ends a question that was only to be heard",
    "bt_lab/distill/network.py": "of sizes that stand in the code, or in a file that was made of them",
    "bt_lab/distill/size.py": "the same",
}


def bare(path: Path) -> list[int]:
    """The lines on which a fault is made of its message alone."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    made = [call for call in calls if getattr(call.func, "id", "") in FAULTS]
    return [
        call.lineno
        for call in made
        if len(call.args) + len(call.keywords) < 2 and not any(isinstance(each, ast.Starred) for each in call.args)
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_no_fault_is_without_a_way_out(room: str) -> None:
    """`BtError(message)` alone tells what is wrong, and leaves a person there."""
    found = {str(path.relative_to(ROOMS[room].parent)): bare(path) for path in ROOMS[room].rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines and name not in NOBODY_READS} == {}


def test_the_sweep_sees_what_it_is_for(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text('raise BtError("no")\nraise BtError("no", "yes")\nraise BtError(*both)\n')
    assert bare(path) == [1]
