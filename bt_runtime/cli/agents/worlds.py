"""Opens the world of a run and sets up one of its tasks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from bt_runtime.cli.agents.tasks import read_options
from bt_runtime.cli.set_option import given
from bt_runtime.cli.whole_number import at_least
from bt_runtime.language.faults.diagnostic import BtError, closing, did_you_mean
from bt_runtime.language.settings import Settings
from bt_runtime.language.spec import TreeSpec
from bt_runtime.tree.inputs import starting_values
from bt_runtime.types import Json, Task, World

if TYPE_CHECKING:
    from bt_runtime.skills.worlds.registry import Suite


class OpenedWorld(NamedTuple):
    world: World
    task: Task
    seen: str  # what the world showed when the task was set up


def add_task(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments for the tree, its inputs, and its task."""
    parser.add_argument("tree", metavar="TREE", help="a file, the name of a tree, or - for standard input")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an input, or an entry")
    add_world(parser)


def add_world(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--env", metavar="WORLD", help="the world to act in [BTR_ENV]")
    parser.add_argument("--task", metavar="TASK", help="of the world: a number from 1, an id, or a kind; default: 1")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the world's tasks")
    parser.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="of the world's tasks; default: 0")


def begin(
    args: argparse.Namespace, settings: Settings, tree: TreeSpec, stack: ExitStack
) -> tuple[dict[str, Json], OpenedWorld | None]:
    """Returns the tree's inputs and the task. The task's goal is the tree's goal, unless another one was given."""
    inputs = given(args.set, tree)
    if not settings["env"]:
        if args.task is not None or args.option:
            asked = "--task" if args.task is not None else "--option"
            raise BtError(f"{asked} needs a world", "name one: --env house")
        return inputs, None
    from bt_runtime.skills.worlds.registry import open_suite, open_world

    name = settings.reference("env")
    suite = open_suite(name)
    task = find_task(suite, args.task, args.seed, read_options(args.option))
    if "goal" in tree.inputs:
        task = task if task.goal else task._replace(goal=str(inputs.get("goal", "")))  # a world has no tasks
        inputs.setdefault("goal", task.goal)
    starting_values(tree, inputs)  # before a world is there that nobody needs then
    world = open_world(name)
    stack.push(closing(world.close))
    opened = OpenedWorld(world, task, world.reset(task).text)
    print(f"task {task.id}: {task.goal}\n{opened.seen}", file=sys.stderr)
    return inputs, opened


def set_up(args: argparse.Namespace, stack: ExitStack) -> OpenedWorld:
    """Opens the world that `--env` names, at the start of its task."""
    from bt_runtime.skills.worlds.registry import open_suite, open_world

    suite = open_suite(args.env)
    task = find_task(suite, args.task, args.seed, read_options(args.option))
    world = open_world(args.env)
    stack.push(closing(world.close))
    return OpenedWorld(world, task, world.reset(task).text)


def find_task(suite: Suite, wanted: str | None, seed: int, options: Mapping[str, Any]) -> Task:
    """Finds a task. `wanted` is its id, its number from 1, or a kind of task; None means the first."""
    from bt_runtime.skills.worlds.registry import Rare

    known = [*suite.kinds, *(suite.asked_for if isinstance(suite, Rare) else ())]
    kinds = [wanted] if wanted is not None and wanted in known else None
    number = int(wanted) if wanted and wanted.isdigit() and wanted != "0" else 1
    tasks = suite.tasks(seed, max(number, 1 if wanted is None or kinds else 100), kinds=kinds, **options)
    if wanted is None or kinds or wanted.isdigit():
        task = tasks[number - 1] if number <= len(tasks) else None
    else:
        task = next((t for t in tasks if t.id == wanted), None)
    if task is None:
        hint = did_you_mean(
            wanted or "", [*known, *(t.id for t in tasks)], f"a number from 1, an id, or a kind: {', '.join(known)}"
        )
        raise BtError(f"the world `{suite.name}` has no task `{wanted}`", hint)
    return task
