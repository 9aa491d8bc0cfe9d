"""`btr demo`: the starter model decides, through llama.cpp: a house task by ReAcTree, an item crafted by ADaPT."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.agents.budget import Budget
from bt_runtime.agents.deciding import Deciding
from bt_runtime.cli import Exit, engine
from bt_runtime.cli.color import BOLD, DIM, add_color, painted
from bt_runtime.cli.decisions import Decisions, folded
from bt_runtime.cli.goals import LiveGoals, said_often
from bt_runtime.cli.result import culprit
from bt_runtime.cli.watch import terminable
from bt_runtime.diagnose import BtError
from bt_runtime.diagnose_format import visible
from bt_runtime.envs.registry import open_suite
from bt_runtime.runtime import Run, load
from bt_runtime.types import Task, Verdict

SEED = 1
BUDGET = Budget(decisions=200, seconds=50)  # of each act: the demo ends in time whatever the model is
NEXT = """
{again}
  {other:<41}other tasks, by the same model
  btr demo --plain                         every decision as a line
  btr run reactree --env house --model starter
  btr run adapt --env textcraft --model starter

With a GGUF file of your own (any instruct model of 1B to 8B will do):
  export BTR_MODEL=path/to/model.gguf
  btr doctor                               does it load, and how fast is it?
  btr demo --model "$BTR_MODEL"            the same tasks, by your model
  btr run reactree --env house
"""


class Act(NamedTuple):
    world: str
    tree: str
    about: str
    kinds: tuple[str, ...]  # of its tasks; which of them comes is the seed's choice


ACTS = (
    Act("house", "reactree", "a house, by ReAcTree", ()),
    Act("textcraft", "adapt", "a crafting book, by ADaPT", ("depth 3",)),
)


class Came(NamedTuple):
    """What an act came to."""

    verdict: Verdict
    why: str  # it was not solved
    stopped: str
    seconds: float
    spent: Mapping[str, int]


class Stage(NamedTuple):
    """Where the demo is shown."""

    live: bool
    color: bool

    def say(self, text: str = "", tone: str = "") -> None:
        print(f"{tone}{text}\x1b[0m" if self.color and tone else text, file=sys.stderr, flush=True)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"another one: other tasks; default {SEED}")
    parser.add_argument(
        "--model", metavar="FILE", default="starter", help="a GGUF file or an address; default: starter"
    )
    parser.add_argument("--engine", action="store_true", help="show the engine alone: needs no model")
    parser.add_argument("--plain", action="store_true", help="lines, although a terminal is there")
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    if args.engine:
        return engine.show(args)
    stage = Stage(sys.stderr.isatty() and not args.plain, painted(sys.stderr, args.color))
    with ExitStack() as stack:
        model = ready(args.model, stack)
        stage.say(f"btr demo: {about(model)}", BOLD)
        stage.say("It decides at every step; nothing of what follows was recorded.", DIM)
        for act in ACTS:
            came = perform(act, args.seed, model, stage)
            tell(came)
            if came.stopped:
                return Exit.INTERRUPTED
    again = "Try next:" if args.model == "starter" else "Try next, with the model that comes along:"
    stage.say((NEXT.format(again=again, other=f"btr demo --seed {args.seed + 1}") + engine.at_hand()).rstrip())
    return Exit.SUCCESS


def ready(named: str, stack: ExitStack) -> Any:
    """The model, loaded. Whatever is missing for it, the engine's part of the demo works without."""
    from bt_runtime.llm import open_model

    try:
        model = open_model(named)
        stack.callback(model.close)
        return model.ready() if hasattr(model, "ready") else model
    except BtError as fault:
        raise BtError(fault.message, f"{fault.hint}; `btr demo --engine` needs no model".lstrip("; ")) from fault


def about(model: Any) -> str:
    """What decides here, in a line."""
    settings = getattr(model, "settings", None)
    if settings is None:
        return f"{model.stats().get('model', 'a model')}, on a server"
    from bt_runtime.llm.fit import size
    from bt_runtime.llm.header import read_header

    header = read_header(settings.model)
    name = visible(str(header.about.get("general.name") or Path(settings.model).name))
    return f"the model `{name}` ({size(header.size)}), through llama.cpp on this machine"


def perform(act: Act, seed: int, model: Any, stage: Stage) -> Came:
    """One task, from its telling to its end."""
    suite = open_suite(act.world)
    task = chosen(act, seed)
    world = suite.open()
    world.reset(task)
    stage.say(f"\n{act.about[0].upper()}{act.about[1:]} (trees/{act.tree}.yaml, task {task.id})", BOLD)
    stage.say(folded(f'"{task.goal}"', "  ") + "\n")
    before, started = model.stats(), time.monotonic()
    try:
        with Run(load(act.tree), inputs={"goal": task.goal}, world=world, task=task, model=model, seed=seed,
                 budget=BUDGET) as made:  # fmt: skip
            with shown(made, task.goal, stage):
                made.spin()
            seconds, after, spent = time.monotonic() - started, model.stats(), made.context.services.get("spent")
            return Came(
                world.verdict(),
                reason(made),
                made.runner.stopped,
                seconds,
                {
                    "decision": spent.decisions if spent else 0,
                    "action": spent.steps if spent else 0,
                    "token": after.get("prompt_tokens", 0) - before.get("prompt_tokens", 0),
                },
            )
    finally:
        world.close()


def chosen(act: Act, seed: int) -> Task:
    """A task that the starter model has not been trained on; the seed chooses its kind as well."""
    suite = open_suite(act.world)
    kinds = act.kinds or tuple(suite.kinds)
    return suite.tasks(seed, 1, "eval", [kinds[seed % len(kinds)]])[0]


@contextmanager
def shown(made: Run, goal: str, stage: Stage) -> Iterator[None]:
    """The tree of goals that grows, or each decision as a line."""
    with ExitStack() as stack:
        stack.enter_context(terminable(made))
        if stage.live:
            live = LiveGoals(made, sys.stderr, stage.color)
            live.goal = goal
            stack.enter_context(live)
            stack.callback(made.observe(live.tick))
        else:
            made.context.events = Decisions(made, goal, stage.say).event
        yield


def reason(made: Run) -> str:
    """Why the tree did not succeed, in the words of the node that decided it."""
    if made.status.name == "SUCCESS":
        return ""
    node = culprit(made.root)
    ending = node.ending if isinstance(node, Deciding) else None
    return visible(str(ending) if ending is not None else node.feedback_message)


def tell(came: Came) -> None:
    met, total = came.verdict
    solved = 0 < total <= met
    cost = ", ".join([*(said_often(n, word) for word, n in came.spent.items()), f"{came.seconds:.1f} s"])
    if came.stopped:
        word = came.stopped
    else:
        word = "solved" if solved else "NOT SOLVED"
    print(f"{word}: {met} of {total} goals; {cost}", flush=True)
    if not solved and not came.stopped:
        why = came.why or "the model said that it was done, and was not"
        print(folded(f"The model failed at this one: {why}", "  "), flush=True)
