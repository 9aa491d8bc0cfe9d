"""Finds the data of a task: a shop or an encyclopedia, invented for a split and seed or read from a user's files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bt_runtime.envs.registry import Read, Suite, Wanted, tasks_of
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Task

T = TypeVar("T")


def source(made: Callable[[str, int], T], theirs: Callable[[], T] | None) -> Callable[[Task], T]:
    """Returns a function from task to source. An invented task names its source in `invented`, such as `train-3`;
    others use `theirs`."""

    def of(task: Task) -> T:
        if "invented" in task.data:
            split, _, number = str(task.data["invented"]).rpartition("-")
            return made(split, int(number))
        if theirs is None:
            raise BtError(f"the task `{task.id}` is of a file", "open the world with it: data=FILE, or its folder")
        return theirs()

    return of


def whole(suite: Suite, path: Path, wanted: Wanted) -> Read:
    """Returns all tasks at `path`, of every split."""
    return tasks_of(suite, wanted._replace(data=str(path), options={"part": "all", **wanted.options}))
