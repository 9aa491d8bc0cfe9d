"""Finds tasks: in a world by name, or in a file whose format a suite reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bt_lab.run import own_tasks
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import importing, plugins
from bt_runtime.skills.worlds.outline import outline
from bt_runtime.skills.worlds.registry import Reading, Suite, Wanted, of_plugin, open_suite, suite_names, tasks_of
from bt_runtime.types import Json, Task


class Source(NamedTuple):
    suite: str
    tasks: list[Task]
    world: dict[str, Json]  # the options that the world is opened with
    before: str = ""  # of tasks without a world: Python that is called before each episode
    python: Sequence[str] = ()  # Python files that such tasks name


def find(name: str, wanted: Wanted, world: Mapping[str, Json] | None = None) -> Source:
    """Finds a source by a world's name or a file. Raises when neither exists."""
    if name in suite_names() or importing.in_file(name):
        return _of_suite(name, wanted, world or {})
    path = Path(name)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        own = own_tasks.read(path, wanted)
        return Source(own_tasks.NO_WORLD, own.tasks, {}, own.before, own.python)
    if path.exists():
        return _of_file(path, wanted, world or {})
    if path.suffix or len(path.parts) > 1:
        raise BtError(f"there is no file {name}", f"a world ({', '.join(suite_names())}), or a file: {_formats()}")
    return _of_suite(name, wanted, world or {})  # which says what it is near to


def apart(name: str, wanted: Wanted, episodes: int, tested: Source) -> list[Task]:
    """Returns the tasks to train on: those of the other split, or, in a source without splits, those that are not
    tested."""
    known = {task.id for task in tested.tasks}
    more = wanted._replace(split="train", episodes=episodes + len(known))
    return [task for task in find(name, more).tasks if task.id not in known][:episodes]


def _of_suite(name: str, wanted: Wanted, world: Mapping[str, Json]) -> Source:
    if not wanted.data and "source" in wanted.options:
        wanted = wanted._replace(data=os.environ.get("BTR_DATA", ""))
    made = tasks_of(open_suite(name), wanted)
    return Source(name, made.tasks, {**made.world, **world})


def _of_file(path: Path, wanted: Wanted, world: Mapping[str, Json]) -> Source:
    """Reads tasks from a file with the suites' own readers, which recognise its content; plugins' readers are asked
    first."""
    for name, suite in _readers():
        found = suite.read(path, wanted)
        if found is not None:
            return Source(name, found.tasks, {**found.world, **world})
    held = "" if path.is_dir() else f": it holds {outline(path)}"
    raise BtError(f"{path} is in no format that is known{held}", f"looked for: {_formats()}")


def _readers() -> Iterator[tuple[str, Reading]]:
    for entry in sorted(plugins.entries("suites"), key=lambda entry: entry.ours):
        suite: Suite | None = None
        with suppress(BtError):  # a plugin that cannot be used reads nothing
            suite = of_plugin(entry)
        if isinstance(suite, Reading):
            yield entry.name, suite


def _formats() -> str:
    return ", ".join(["tasks of your own (.yaml)", *(form for _, suite in _readers() for form in suite.formats)])
