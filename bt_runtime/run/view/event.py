"""The events that the page, `btr view top` and recorded runs share: small JSON objects with a kind `k` and a time `t`.

| k | fields | says |
|---|---|---|
| start | run, tree, text, file, inputs, wall, signs | a run begins; `t` counts seconds from `wall`; `signs`: what is
    drawn beside the name of a kind; of coverage also is, percent, files |
| shape | add [[id, parent, segment, kind, family, name, gist]], gone, order {parent: [id]}, grafts | the tree changed |
| facts | source, file, text, nodes [{id, at, place, fields, names, writes, ports, asks}] | `text`: only once |
| tick | n, s [[id, status, feedback?]], w {id: statuses}, c | statuses that changed: R, S, F or I; `w`: of a node
    that began anew, all of them in order; `c`: of a picture, how often and how long: see `Spot.counts` |
| agent | id, what, and what it tells | goal, prompt, decision, act, step, expand, refused, end, … |
| line | path, level, text | a line of the log |
| write | scope, name, value or patch, n, by, past | a blackboard entry, in which tick, by which node (a number) or
    whom (a word); the patch as `patch.py` says; `past`: of a picture, what it was before |
| unset | scope, name | it is gone |
| world | picture | the world as it now stands |
| spent | decisions, tokens, steps, nodes | of the whole run |
| halt | path, by, why, ids | these nodes were stopped |
| crash | path, id, message, traceback | |
| asks | open [{id, text}] | the questions to a person that stand open |
| hold | on, at, why, points, changes, then, limit? | paused at a node, or going on; breakpoints and changes of the
    debugger; seconds after which the pause ends, and how |
| over | status, verdict, path, why | the run has ended; of a failure, where and why |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from py_trees.common import Status

from bt_runtime.language.kinds.kind import Kind
from bt_runtime.tree.describe.gist import signs

Event = dict[str, Any]
SIGNS: Final = {Status.RUNNING: "R", Status.SUCCESS: "S", Status.FAILURE: "F", Status.INVALID: "I"}
WORDS: Final = {"R": "running", "S": "success", "F": "failure", "I": "idle"}


def started(
    run: str, tree: str, file: str | None, text: str, wall: float, recorded: bool = False,
    kinds: Iterable[Kind] | None = None,
) -> Event:  # fmt: skip
    """The first event of a run. `recorded`: it is shown after it has ended. `kinds`: None means the installed ones."""
    event: Event = {"k": "start", "t": 0.0, "run": run, "tree": tree, "file": file, "text": text, "wall": wall}
    return {**event, "signs": signs(kinds), **({"recorded": True} if recorded else {})}


def ended(t: float, status: str, verdict: Sequence[int] | None = None, path: str = "", why: str = "") -> Event:
    """The last event of a run. `status` is a letter, `verdict` the goals met and all; `path`, `why`: of a failure."""
    judged = None if verdict is None else list(verdict)
    return {"k": "over", "t": t, "status": status, "verdict": judged, "path": path, "why": why}
