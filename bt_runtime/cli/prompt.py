"""`btr prompt`: what the first node that decides would ask its model, without asking one."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.cli import Exit, trust_prompt
from bt_runtime.cli.models import add_register
from bt_runtime.cli.run import opened
from bt_runtime.cli.terminal import json_text
from bt_runtime.cli.worlds import add_task, begin
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.run.config import Settings
from bt_runtime.run.run import Run
from bt_runtime.types import Question

TICKS = 200


def configure(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("--memory", metavar="FILE", help="experiences to learn from [BTR_MEMORY]")
    add_register(parser)
    parser.add_argument("--json", action="store_true", help="the question for programs")


def run(args: argparse.Namespace) -> int:
    settings = Settings({"env": args.env, "memory": args.memory, "prompts": args.prompts})
    tree = opened(args.tree)
    trust_prompt.trees([tree], settings)
    heard: list[Question] = []

    def listen(question: Question) -> str:
        heard.append(question)
        raise BtError("heard")

    with ExitStack() as stack:
        inputs, task = begin(args, settings, tree.spec, stack)
        made = stack.enter_context(
            Run(
                tree,
                inputs=inputs,
                world=task and task.world,
                model=ScriptedModel(listen),
                memory=settings["memory"],
                services={"prompts": settings["prompts"] or ""},
            )
        )
        made.resources.notebook = None  # nothing is to be remembered of this
        while not heard and made.tick().running and made.engine.count < TICKS:
            pass
    if not heard:
        raise BtError("no node of this tree asked a model", "is there an agent, and does the tree reach it?")
    show(heard[0], args.json)
    return Exit.SUCCESS


def show(question: Question, as_json: bool) -> None:
    if as_json:
        of_kind = {"choose": "options", "decide": "moves", "write": "stop"}[question.kind]
        print(json_text({name: getattr(question, name) for name in ("kind", "prompt", of_kind)}, indent=2))
        return
    print(question.prompt, end="")
    offered = question.moves or {"": question.options}
    for move, options in offered.items():
        said = "".join(f"\n    {option.strip()}" for option in options)
        print(f"\n  {move or 'one of'}{said}", end="")
    print()
