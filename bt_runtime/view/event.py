"""What the page, `btr top` and a recorded run speak: events, each a small JSON object with a kind `k` and a time `t`.

| k | fields | says |
|---|---|---|
| start | run, tree, text, file, inputs, wall | a run begins; `t` counts seconds from `wall` |
| shape | add [[id, parent, segment, kind, family, name, gist]], gone, order {parent: [id]}, grafts | the tree changed |
| tick | n, s [[id, status, feedback?]], status | statuses that changed: R, S, F or I |
| agent | id, what, and what it tells | goal, prompt, decision, act, step, expand, refused, end, … |
| line | path, level, text | a line of the log |
| write | scope, name, value or patch | a blackboard entry; the latter as `patch.py` says |
| world | picture | the world as it now stands |
| spent | decisions, tokens, steps, nodes | of the whole run |
| halt, crash | path, why / path, message | |
| hold | on, at, why, points, changes | paused at a node, or going on; breakpoints and changes of the debugger |
| over | status, verdict, why | the run has ended |
"""

from __future__ import annotations

from typing import Any, Final

from py_trees.common import Status

Event = dict[str, Any]
SIGNS: Final = {Status.RUNNING: "R", Status.SUCCESS: "S", Status.FAILURE: "F", Status.INVALID: "I"}
WORDS: Final = {"R": "running", "S": "success", "F": "failure", "I": "idle"}
