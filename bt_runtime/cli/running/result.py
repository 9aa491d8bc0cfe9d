"""The result of a run: status and outputs for standard output, exit code, and the cause of a failure."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import NamedTuple

from py_trees.common import Status

from bt_runtime.cli import Exit
from bt_runtime.cli.failure import say
from bt_runtime.cli.journals import sealed
from bt_runtime.cli.terminal import json_text
from bt_runtime.events import Tick
from bt_runtime.language.faults.format import visible
from bt_runtime.run.run import Run
from bt_runtime.tree.describe.blame import blame
from bt_runtime.tree.node import path_of
from bt_runtime.types import Json, Verdict


class Result(NamedTuple):
    tree: str
    status: str  # SUCCESS, FAILURE, SKIPPED, TIMEOUT or INTERRUPTED
    outputs: Mapping[str, Json]
    ticks: int
    seconds: float
    path: str  # path of the node that failed, or ran when the time was up
    reason: str
    exit: int
    run: str = ""  # the run's name, when it has a journal
    slow: Mapping[str, int] = {}  # how many ticks a node held for too long, by its path
    goals: Verdict | None = None  # of a world's task: how many of its goals are met


def result(run: Run, seconds: float, running: str, goals: Verdict | None = None) -> Result:
    """Prints the result. `running` names the node that ran when the run was stopped, if it was."""
    runner, status = run.parts.runner, run.status.name
    slow = dict(run.parts.engine.watchdog.counts) if run.parts.engine.watchdog else {}
    name = run.parts.name if run.parts.journal is not None and run.parts.journal.path is not None else ""
    if runner.stopped:
        reason = "" if runner.stopped == "interrupted" else runner.stopped
        word, code, path = "INTERRUPTED", Exit.INTERRUPTED, running
    elif runner.timed_out:
        word, code, path, reason = "TIMEOUT", Exit.BUDGET, running, "the time or the ticks of the run are used up"
    elif run.status is Status.SUCCESS:
        word, code, path, reason = status, Exit.SUCCESS, "", ""
    elif run.status is Status.FAILURE:
        path, reason = blame(run.parts.engine.root)
        word, code = status, Exit.FAILURE
    else:
        word, code, path, reason = "SKIPPED", Exit.FAILURE, path_of(run.parts.engine.root), "every node was skipped"
    return Result(
        run.parts.tree.spec.name,
        word,
        _outputs(run),
        run.parts.engine.count,
        round(seconds, 3),
        path,
        reason,
        code,
        name,
        slow,
        goals,
    )


def recorded(run: Run, code: int) -> int:
    """Seals the journal of a closed run, if that is wanted. Returns the exit code: not 0 when the journal had to
    be complete and is not."""
    if run.parts.journal is None or not run.parts.journal.broken:
        sealed(run.parts.journal.path if run.parts.journal is not None else None)
        return code
    from bt_runtime.journal.outage import BEST_EFFORT

    must = run.parts.journal.policy != BEST_EFFORT
    hint = (
        "`btr runs list` shows where it ends"
        if run.parts.journal.path and run.parts.journal.path.exists()
        else "run it again"
    )
    say(
        "error" if must else "warning",
        visible(f"the record of {run.parts.name} is not whole: {run.parts.journal.broken}"),
        hint,
    )
    return code or (Exit.FAILURE if must else Exit.SUCCESS)


class CutShort:
    """Notes the first node that the runner halted when it stopped the tree."""

    def __init__(self, run: Run) -> None:
        self.path = path_of(run.parts.engine.root)
        run.listen(self.tick, Tick)

    def tick(self, tick: Tick) -> None:
        for node, why in tick.halts:
            if why.by == "runner":
                self.path = path_of(node)
                return


def _outputs(run: Run) -> dict[str, Json]:
    """Returns the written outputs; a failed run may lack some."""
    found = {}
    for name in run.parts.tree.spec.outputs:
        try:
            found[name] = run.blackboard.get(name)
        except KeyError:
            found[name] = None
    return found


def show(result: Result, as_json: bool) -> None:
    if as_json:
        row = result._asdict() | {"goals": result.goals._asdict() if result.goals else None}
        print(json.dumps(row, indent=2, default=str))
        return
    print(result.status)
    for name, value in result.outputs.items():
        print(f"{name}: {json_text(value, default=str)}")
    if result.goals:
        print(f"goals: {result.goals.met} of {result.goals.total}")
    if result.slow:
        sys.stdout.flush()
        held = ", ".join(f"{path} {count}" for path, count in list(result.slow.items())[:5])
        hint = "leave long work to a skill's own thread; `--slow S` sets the limit"
        say("warning", visible(f"ticks that a node held too long: {held}"), hint)
    if result.exit and result.path:
        sys.stdout.flush()
        said = f"at {result.path}" + (f": {result.reason}" if result.reason else "")
        resumable = result.run and result.exit in (Exit.BUDGET, Exit.INTERRUPTED)
        say(result.status.lower(), visible(said), f"btr runs resume {result.run} goes on with it" if resumable else "")
