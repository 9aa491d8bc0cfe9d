"""A proof knows that a skill never runs while its `requires` is false, and nothing more than that."""

from __future__ import annotations

from typing import Any

import pytest

import bt_runtime as bt
from bt_author.proof.check import check

HEAD = """version: 1
tree: t
blackboard:
  closed: {type: boolean, default: true}
  speed: {type: number, default: 0}
root:
"""
ROOTS = {"alone": "  drive: {}\n", "retried": "  retry: {times: 3, child: {drive: {}}}\n",
         "beside": "  parallel: [{drive: {}}, {set: {speed: 1}}]\n"}  # fmt: skip


def drive(requires: str) -> Any:
    @bt.skill("drive", requires=requires)
    class Drive(bt.Skill):
        def start(self) -> None: ...

        def poll(self) -> bt.Status:
            return bt.Status.RUNNING

    return Drive


def outcome(requires: str, never: str, root: str = "alone") -> str:
    [result] = check(bt.load(HEAD + ROOTS[root], skills=[drive(requires)]), never=never)
    return result.outcome


@pytest.mark.parametrize("root", ["alone", "retried"])
@pytest.mark.parametrize(
    ("requires", "never"),
    [("closed", "not closed"), ("closed and speed < 0.5", "speed > 0.7"), ("speed < 0.5", "speed >= 0.5")],
)
def test_what_it_requires_holds_whenever_it_runs(requires: str, never: str, root: str) -> None:
    assert outcome(requires, f"drive is running and {never}", root) == "proved"


@pytest.mark.parametrize(
    ("requires", "never"),
    [("closed or speed < 0.5", "not closed"), ("closed", "speed > 0.7"), ("speed < 0.5", "speed > 0.2")],
)
def test_what_it_does_not_require_may_be(requires: str, never: str) -> None:
    assert outcome(requires, f"drive is running and {never}") == "refuted"


def test_an_entry_that_a_node_changes_later_in_the_tick_is_seen() -> None:
    """The skill is halted at the next tick, not within this one."""
    assert outcome("speed < 0.5", "drive is running and speed > 0.7", "beside") == "refuted"
