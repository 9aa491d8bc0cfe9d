"""`btr run`: runs a tree, shows it while it ticks, and prints its result on standard output."""

from __future__ import annotations

import argparse
import math
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from bt_runtime.cli import Exit, options
from bt_runtime.cli.agents.models import add_register, decides, places
from bt_runtime.cli.agents.worlds import OpenedWorld, add_task, begin
from bt_runtime.cli.color import add_color, painted
from bt_runtime.cli.failure import say
from bt_runtime.cli.journals import add_folder, seal_key, writing
from bt_runtime.cli.running import learning, person
from bt_runtime.cli.running.debugging import add_debugging, debugged
from bt_runtime.cli.running.log_lines import LEVELS
from bt_runtime.cli.running.monitors import add_monitors, monitored, noted
from bt_runtime.cli.running.result import CutShort, Result, recorded, result, show
from bt_runtime.cli.running.serving import add_serving
from bt_runtime.cli.running.watch import watched
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.terminal import printed_apart
from bt_runtime.cli.tree_argument import STDIN, found
from bt_runtime.cli.whole_number import at_least
from bt_runtime.journal.outage import POLICIES
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import render
from bt_runtime.language.settings import BY_NAME, Settings, complaint
from bt_runtime.run.run import Run, Tree, load
from bt_runtime.tree.budget import Budget
from bt_runtime.tree.node import NodeError
from bt_runtime.tree.watchdog import SLOW

if TYPE_CHECKING:
    from bt_runtime.run.view import View

FLAGS = ("hz", "seconds", "ticks", "strict", "log", "env", "color", "model", "memory", "prompts", "runs", "slow",
         "journal", "robot")  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("--model", metavar="FILE", help="a GGUF file or an address, for agents [BTR_MODEL]")
    parser.add_argument("--memory", metavar="FILE", help="experiences to learn from and add to [BTR_MEMORY]")
    add_register(parser)
    add_folder(parser, writing=True)
    text = "without a record, skills that may not be repeated wait (and fail at last), or go on [BTR_JOURNAL]"
    parser.add_argument("--journal", choices=POLICIES, help=text)
    parser.add_argument("--steps", type=at_least(1), metavar="N", help="the most actions of all agents together")
    parser.add_argument("--decisions", type=at_least(1), metavar="N", help="the most that all agents may ask of models")
    parser.add_argument("--no-recall", action="store_true", help="without a working memory")
    parser.add_argument("--hz", type=float, help="ticks a second; default: as fast as there is work [BTR_HZ]")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long, exit 4 [BTR_SECONDS]")
    parser.add_argument("--ticks", type=int, metavar="N", help="stop after so many ticks, exit 4 [BTR_TICKS]")
    parser.add_argument("--slow", type=float, metavar="S", help="name a node that holds a tick so long [BTR_SLOW; 0.5]")
    parser.add_argument("--log", choices=LEVELS, help="show the log from this level on [BTR_LOG; default: info]")
    parser.add_argument("--strict", action="store_true", default=None, help="a node that breaks ends it [BTR_STRICT]")
    parser.add_argument("--json", action="store_true", help="the result for programs")
    parser.add_argument("--plain", action="store_true", help="lines, although a terminal is there")
    learning.add_learning(parser)
    add_debugging(parser)
    parser.add_argument("--view", action="store_true", help="watch it in the browser")
    add_serving(parser)
    add_monitors(parser)
    options.add_options(parser, "run")
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    settings = Settings({name: getattr(args, name) for name in FLAGS})
    for name in ("hz", "seconds", "ticks", "slow"):
        value = settings.value(name)
        if value.value is not None and (why := complaint(BY_NAME[name], value.value)):
            raise BtError(f"{value.source} {value.value}: {why}", BY_NAME[name].about)
    seal_key(settings)
    with printed_apart(args.json):  # also what Python prints that is imported for the tree
        tree = opened(args.tree)
    trust_prompt.trees([tree], settings)
    learning.check(args, settings)
    if tree.warnings:
        print(render(tree.warnings, {}, "concise", painted(sys.stderr, settings["color"])), file=sys.stderr)
    with ExitStack() as stack:
        stack.enter_context(printed_apart(args.json))
        inputs, task = begin(args, settings, tree.spec, stack)
        added = options.opened(args, stack)
        services = person.at_hand(tree, args.view)
        for each in added:
            services |= each.services
        services["prompts"] = settings["prompts"] or ""
        made = stack.enter_context(
            Run(
                tree,
                inputs=inputs,
                world=task and task.world,
                task=task and task.task,
                model=places(settings) if decides(tree.spec) else None,
                memory=settings["memory"],
                seed=args.seed,
                budget=budget(args),
                recall=not args.no_recall,
                services=services,
                clock=next((each.clock for each in added if each.clock is not None), None),
                journal=noted(args, writing(settings)),
                journal_policy=settings["journal"],
                strict=settings["strict"],
                hz=settings["hz"],
                slow=settings["slow"] or SLOW,
            )
        )
        for each in added:
            each.attach(made)
        end = spin(made, settings, args, task)
    if end is None:
        return recorded(made, Exit.FAILURE)
    show(end, args.json)
    learning.propose(args, settings)
    return recorded(made, end.exit)


def opened(name: str) -> Tree:
    """Loads the tree. Standard input is read as bytes, so that invalid text is reported as a fault."""
    if name != STDIN:
        return load(found(name))
    return load(sys.stdin.buffer.read().decode("utf-8", "replace") + "\n")


def budget(args: argparse.Namespace) -> Budget | None:
    """The budget that all agents of the run share."""
    if args.steps is None and args.decisions is None:
        return None
    return Budget(steps=args.steps or math.inf, decisions=args.decisions or math.inf)


def viewed(
    made: Run, args: argparse.Namespace, after: Callable[[View], None] = lambda view: None
) -> AbstractContextManager[object]:
    """Opens the run's page, if it was asked for. `after`: what is done there once the run is over."""
    if not args.view:
        return nullcontext()
    from bt_runtime.cli.running.view import viewing

    return viewing(made, args, after)


def spin(made: Run, settings: Settings, args: argparse.Namespace, task: OpenedWorld | None) -> Result | None:
    """Ticks to the end, watched: what it came to; None when a node broke and `--strict` was asked for."""
    cut, started = CutShort(made), time.monotonic()
    try:
        plain = args.plain or bool(args.break_at)
        page = viewed(made, args, partial(learning.on_page, made, args, settings))
        with watched(made, settings, plain), page, debugged(made, args), monitored(made, args, settings):
            made.spin(seconds=settings["seconds"], ticks=settings["ticks"])
            goals = task.world.verdict() if task else None  # a page may close the run before it closes itself
            end = result(made, time.monotonic() - started, cut.path, goals)
    except NodeError as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        say("error", error.message, "--strict was asked for; without it the node fails and the tree goes on")
        return None
    return end
