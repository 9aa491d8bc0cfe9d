"""`btr run`: a tree, watched while it ticks; its result on standard output."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.cli import Exit
from bt_runtime.cli.color import add_color, painted
from bt_runtime.cli.failure import say
from bt_runtime.cli.given import given
from bt_runtime.cli.named import STDIN, found
from bt_runtime.cli.told import LEVELS, Teller
from bt_runtime.config import BY_NAME, Settings, complaint
from bt_runtime.diagnose import BtError
from bt_runtime.diagnose_format import render, visible
from bt_runtime.runtime import Run, Tree, load
from bt_runtime.tree.node import NodeError, path_of
from bt_runtime.types import Json

FLAGS = ("hz", "seconds", "ticks", "strict", "log", "env", "color")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tree", metavar="TREE", help="a file, the name of a tree, or - for standard input")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an input, or an entry")
    parser.add_argument("--env", metavar="WORLD", help="the world to act in [BTR_ENV]")
    parser.add_argument("--task", metavar="TASK", help="of the world: a number from 1, an id, or a kind")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the world's tasks; default: 0")
    parser.add_argument("--hz", type=float, help="ticks a second; default: as fast as there is work [BTR_HZ]")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long, exit 4 [BTR_SECONDS]")
    parser.add_argument("--ticks", type=int, metavar="N", help="stop after so many ticks, exit 4 [BTR_TICKS]")
    parser.add_argument("--log", choices=LEVELS, help="show the log from this level on [BTR_LOG; default: info]")
    parser.add_argument("--strict", action="store_true", default=None, help="a node that breaks ends it [BTR_STRICT]")
    parser.add_argument("--json", action="store_true", help="the result for programs")
    parser.add_argument("--plain", action="store_true", help="lines, although a terminal is there")
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    settings = Settings({name: getattr(args, name) for name in FLAGS})
    for name in ("hz", "seconds", "ticks"):
        if settings[name] is not None and (why := complaint(BY_NAME[name], settings[name])):
            raise BtError(why, f"it comes from {settings.value(name).source}")
    tree = load(sys.stdin.read() + "\n") if args.tree == STDIN else load(found(args.tree))
    color = painted(sys.stderr, settings["color"])
    if tree.warnings:
        print(render(tree.warnings, {}, "concise", color), file=sys.stderr)
    inputs = given(args.set, tree.spec)
    with ExitStack() as stack:
        world = None
        if settings["env"]:
            from bt_runtime.cli.worlds import open_task

            world, task, seen = open_task(settings["env"], args.task, args.seed)
            stack.callback(world.close)
            print(f"task {task.id}: {task.goal}\n{seen}", file=sys.stderr)
            if "goal" in tree.spec.inputs:
                inputs.setdefault("goal", task.goal)
        elif args.task is not None:
            raise BtError("--task needs a world", "name one: --env house")
        watched = stack.enter_context(
            watch(tree, settings, args.plain, inputs=inputs, world=world, strict=settings["strict"], hz=settings["hz"])
        )
        return finish(watched, settings, args.json, world)


@contextmanager
def watch(tree: Tree, settings: Settings, plain: bool = False, **options: Any) -> Iterator[Run]:
    """A run with somebody looking on: the live tree when standard error is a terminal, lines otherwise."""
    lines = Lines()
    with Run(tree, log=lines.log, **options) as made:
        if sys.stderr.isatty() and not plain:
            from bt_runtime.cli.live import Live

            live = Live(made, sys.stderr, painted(sys.stderr, settings["color"]))
            lines.teller = Teller(live.line, settings["log"])
            made.observe(live.tick)
            stack: Any = live
        else:
            lines.teller = Teller(lambda text: print(visible(text), file=sys.stderr, flush=True), settings["log"])
            stack = ExitStack()
        made.observe(lines.teller.tick)
        with stack, terminable(made):
            yield made


class Lines:
    """The log of a run before and after it is known who shows it."""

    teller: Teller | None = None

    def log(self, line: Any) -> None:
        if self.teller is not None:
            self.teller.log(line)
