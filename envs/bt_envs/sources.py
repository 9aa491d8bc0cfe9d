"""Finds the data of a task: a shop or an encyclopedia, invented for a split and seed or read from a user's files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.registry import Read, Suite, Wanted, tasks_of
from bt_runtime.types import Task

T = TypeVar("T")


@dataclass(frozen=True)
class Source(Generic[T]):
    """Called with a task, gives its source: `made` for an invented task, which names its source in `invented`, such as
    `train-3`; `theirs` for the others. It can be pickled, as the worlds can that hold one."""

    made: Callable[[str, int], T]
    theirs: Callable[[], T] | None

    def __call__(self, task: Task) -> T:
        if "invented" in task.data:
            split, _, number = str(task.data["invented"]).rpartition("-")
            return self.made(split, int(number))
        if self.theirs is None:
            raise BtError(f"the task `{task.id}` is of a file", "open the world with it: data=FILE, or its folder")
        return self.theirs()


def whole(suite: Suite, path: Path, wanted: Wanted) -> Read:
    """Returns all tasks at `path`, of every split."""
    return tasks_of(suite, wanted._replace(data=str(path), options={"part": "all", **wanted.options}))
