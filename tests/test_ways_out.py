"""Who reads what somebody else wrote says what to do about it."""

from __future__ import annotations

import ast
from pathlib import Path

import bt_runtime

READERS = ("memory", "journal", "envs", "source", "skills")


def test_no_fault_of_a_reader_is_without_a_way_out() -> None:
    """`BtError(message)` alone tells what is wrong, and leaves a person there."""
    bare = []
    for folder in READERS:
        for path in (Path(bt_runtime.__file__).parent / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "BtError":
                    whole = len(node.args) + len(node.keywords) > 1 or any(
                        isinstance(a, ast.Starred) for a in node.args
                    )
                    bare += [] if whole else [f"{path}:{node.lineno}"]
    assert not bare
