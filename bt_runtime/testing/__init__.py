"""Helpers for testing trees: a clock that the test moves, scripted skills, and counts of ticks.

trial = run_tree(text, skills={"go_to(place)": [FAILURE, SUCCESS]})
assert trial.status is SUCCESS
assert trial.skills["go_to"].starts == [{"place": "kitchen"}] * 2
"""

from __future__ import annotations

from bt_runtime.run.debug.pattern import matches as matches
from bt_runtime.run.debug.script import Double, Script, after
from bt_runtime.testing.trial import Trial, run_tree
from bt_runtime.tree.clock import Manual
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS

__all__ = ["FAILURE", "INVALID", "RUNNING", "SUCCESS", "Double", "Manual", "Script", "Trial", "after", "run_tree"]
