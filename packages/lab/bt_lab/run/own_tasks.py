"""A user's own tasks, for trees with skills and no world: a YAML file holds each goal and the check of its success."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language import expression, source
from bt_runtime.language.faults.diagnostic import BtError, Faults, did_you_mean
from bt_runtime.language.kinds.shape import Schema, closed
from bt_runtime.language.project import importing
from bt_runtime.language.source import YamlMap
from bt_runtime.language.spec import TreeSpec
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.skills.worlds.registry import Wanted
from bt_runtime.tree.describe.facts import entries_of
from bt_runtime.types import Json, Task, Verdict

NO_WORLD = ""  # stands for "no world" in place of a suite's name
_TEXT: Schema = {"type": "string", "minLength": 1}
_TASK: Schema = {
    "type": "object",
    **closed(
        {
            "id": _TEXT,
            "kind": _TEXT,
            "goal": _TEXT,
            "set": {"type": "object"},
            "data": {"type": "object"},
            "check": _TEXT,
        },
        ("goal",),
    ),
}
_FILE: Schema = {
    "type": "object",
    **closed(
        {"version": {"enum": [1]}, "before": _TEXT, "tasks": {"type": "array", "minItems": 1, "items": _TASK}},
        ("version", "tasks"),
    ),
}
_CHECK = DocumentCheck(_FILE, "tasks", "a file of tasks")


class Own(NamedTuple):
    tasks: list[Task]
    before: str  # `path.py:Name`, with its whole path: called before each episode

    @property
    def python(self) -> list[str]:
        """Lists what is named as `path.py:Name`: the call before an episode, and the tasks' checks."""
        return [
            each for each in (self.before, *(str(task.data["check"]) for task in self.tasks)) if importing.in_file(each)
        ]


def read(path: Path, wanted: Wanted) -> Own:
    """Reads the tasks of these kinds, in the order of the file. Raises for a file that is not valid."""
    if wanted.split == "train":
        raise BtError(
            f"{path} is not divided into tasks to train on and tasks to test on", "name two files, one for each"
        )
    document = source.read(path)
    if document.diagnostics:
        raise Faults(document.diagnostics, {str(path): document.text})
    if not isinstance(document.root, YamlMap):
        raise BtError(f"{path} is no file of tasks", "it begins with `version: 1`, and has `tasks:`")
    for _, fault in _CHECK.faults(document.root, str(path)):
        line = f":{fault.span.line}" if fault.span is not None else ""
        raise BtError(f"{path}{line}: {fault.message}", fault.label or fault.help)
    data: Any = document.root.data()
    tasks = [_task(path, number, given) for number, given in enumerate(data["tasks"], 1)]
    double = {task.id for task in tasks if sum(task.id == other.id for other in tasks) > 1}
    if double:
        raise BtError(f"{path} has two tasks `{min(double)}`", "give each an id of its own")
    before = str(data.get("before", ""))
    if before and not importing.in_file(before):
        raise BtError(f"{path}: `before` is {before!r}", "write path.py:name, from where the file lies")
    found = [task for task in tasks if not wanted.kinds or task.kind in wanted.kinds]
    return Own(found[: wanted.episodes], importing.whole(before, path.resolve().parent) if before else "")


def _task(path: Path, number: int, given: Mapping[str, Any]) -> Task:
    check = importing.whole(str(given.get("check", "")), path.resolve().parent)
    try:
        expression.compile("True" if not check or importing.in_file(check) else check)
    except expression.ExpressionError as error:
        raise BtError(f"{path}: the check of task {number}: {error.message}", error.hint) from None
    data: dict[str, Json] = {**dict(given.get("data", {})), "set": dict(given.get("set", {})), "check": check}
    return Task(str(given.get("id", number)), str(given.get("kind", "")), given["goal"], data)


def refuse_unknown(tasks: Iterable[Task], trees: Iterable[TreeSpec]) -> None:
    """Raises before the first episode when a check asks for an entry that no tree here names."""
    known: set[str] = set()
    for tree in trees:
        if any(spec.kind.foreign for spec in tree.root.walk()):
            return  # writes of a py_trees class cannot be seen
        known |= {*tree.ports, *entries_of(tree.root)}
    for task in tasks:
        check = str(task.data["check"])
        names = {} if not check or importing.in_file(check) else expression.compile(check).names
        for name in names:
            if name not in known and name not in task.data["set"]:
                hint = did_you_mean(name, known) or f"entries here: {', '.join(sorted(known)) or 'none'}"
                raise BtError(f"the check of task {task.id}: nothing in its tree names the entry `{name}`", hint)


def set_up(before: str, task: Task) -> None:
    """Puts back what the episode before has changed."""
    if before:
        _found(before)(task)


def verdict(task: Task, succeeded: bool, entries: Mapping[str, Json]) -> Verdict:
    """The verdict of the task's check, a Python function or an expression of the tree's entries; else the tree's
    result."""
    check = str(task.data["check"])
    if importing.in_file(check):
        return Verdict(int(bool(_found(check)(task))), 1)
    try:
        met = bool(expression.compile(check).evaluate(entries)) if check else succeeded
    except expression.ExpressionError as error:
        raise BtError(f"`{check}` cannot be evaluated for task {task.id}: {error.message}", error.hint) from None
    return Verdict(int(met), 1)


def _found(reference: str) -> Any:
    home, _, name = reference.rpartition(":")
    return importing.resolve(f"{Path(home).name}:{name}", Path(home).parent)
