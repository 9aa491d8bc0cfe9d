"""`btr lab tasks ENV`: lists tasks of a world, drawn by a seed."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from bt_runtime.cli import Exit
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.whole_number import at_least
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import importing
from bt_runtime.skills.worlds.registry import Split, Suite, check_split, open_suite, suite_names, takes_data
from bt_runtime.types import Task


def configure(parser: argparse.ArgumentParser) -> None:
    which_tasks(parser)
    parser.add_argument("--count", type=at_least(1), default=5, metavar="N", help="how many (default 5)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, with everything a world needs")


def which_tasks(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that name a world and its tasks; `btr lab play` uses them too."""
    parser.add_argument("env", metavar="ENV", help=f"a world: {', '.join(suite_names())}, or path.py:Name")
    parser.add_argument("--seed", type=at_least(0), default=0, help="the same seed gives the same tasks (default 0)")
    parser.add_argument(
        "--split", choices=get_args(Split), default="train", help="no task is in two of them (default train)"
    )
    parser.add_argument("--kind", action="append", metavar="KIND", help="only this kind of task; may be repeated")
    parser.add_argument(
        "--rules", metavar="N", help="the N-th set of house rules of that split: which appliance heats, and how"
    )
    parser.add_argument(
        "--data", metavar="DIR", help="your copy of the data sets (default: BTR_DATA, where it is of use)"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="an option of that world's tasks"
    )


def in_file_here(name: str) -> str:
    """A `path.py:Name` is resolved relative to the working directory; any other name is returned unchanged."""
    return importing.whole(name, Path.cwd())


def make(args: argparse.Namespace, suite: Suite, count: int) -> list[Task]:
    ruled = {"rules": args.rules} if args.rules else {}
    options = {**outside(args, takes_data(suite, "tasks")), **ruled, **read_options(args.option)}
    check_split(suite, args.split)
    return suite.tasks(args.seed, count, args.split, args.kind, **options)


def outside(args: argparse.Namespace, takes: bool) -> dict[str, Any]:
    """The folder of outside data: as given, or BTR_DATA for a suite that declares a `data` option."""
    folder = args.data or (os.environ.get("BTR_DATA") if takes else None)
    return {"data": folder} if folder else {}


def read_options(texts: list[str]) -> Mapping[str, Any]:
    """Reads `--option` values: `homes=flat,studio` is a list; a value without a comma is a text."""
    found: dict[str, Any] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise BtError(f"`{text}` is not an option", "write --option key=value")
        found[key] = value.split(",") if "," in value else value
    return found


def run(args: argparse.Namespace) -> int:
    trust_prompt.named(args.env)
    tasks = make(args, open_suite(in_file_here(args.env)), args.count)
    if args.json:
        for task in tasks:
            print(json.dumps(task._asdict()))
    else:
        widths = [max((len(task[i]) for task in tasks), default=0) for i in (0, 1)]
        for task in tasks:
            said = " ".join(task.goal.split())  # people's instructions may run over lines
            print(f"{task.id.ljust(widths[0])}  {task.kind.ljust(widths[1])}  {said}")
    return Exit.SUCCESS if tasks else Exit.NOTHING
