"""The world in which a run acts, with one of its tasks set up."""

from __future__ import annotations

from typing import NamedTuple

from bt_runtime.diagnose import BtError, nearest
from bt_runtime.types import Task, World


class Opened(NamedTuple):
    world: World
    task: Task
    seen: str  # what the world showed when the task was set up


def open_task(name: str, wanted: str | None, seed: int) -> Opened:
    """`wanted` is the id of a task, its number from 1, or a kind of task; the first one when it is None."""
    from bt_runtime.envs.registry import open_suite

    suite = open_suite(name)
    kinds = [wanted] if wanted is not None and wanted in suite.kinds else None
    number = int(wanted) if wanted and wanted.isdigit() and wanted != "0" else 1
    tasks = suite.tasks(seed, max(number, 1 if wanted is None or kinds else 100), kinds=kinds)
    if wanted is None or kinds or wanted.isdigit():
        task = tasks[number - 1] if number <= len(tasks) else None
    else:
        task = next((t for t in tasks if t.id == wanted), None)
    if task is None:
        close = nearest(wanted or "", [*suite.kinds, *(t.id for t in tasks)])
        hint = f"did you mean `{close}`?" if close else f"a number from 1, an id, or a kind: {', '.join(suite.kinds)}"
        raise BtError(f"the world `{name}` has no task `{wanted}`", hint)
    world = suite.open()
    return Opened(world, task, world.reset(task).text)
