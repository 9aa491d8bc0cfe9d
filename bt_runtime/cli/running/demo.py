"""`btr demo`: the starter model decides in two acts: a house task by ReAcTree, and an item crafted by ADaPT."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from py_trees.behaviour import Behaviour

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.agents.register import register_of
from bt_runtime.cli import Exit
from bt_runtime.cli.color import BOLD, DIM, GREEN, PLAIN, RED, add_color, painted
from bt_runtime.cli.running import engine
from bt_runtime.cli.running.decisions import Decisions, folded
from bt_runtime.cli.running.goals import LiveGoals, said_often, shortened
from bt_runtime.cli.running.watch import terminable
from bt_runtime.cli.terminal import raw
from bt_runtime.cli.whole_number import at_least
from bt_runtime.events import AGENT_EVENTS, Stepped, Tick
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.run.run import Run, load
from bt_runtime.skills.worlds.registry import open_suite
from bt_runtime.tree.budget import Budget, Spending
from bt_runtime.tree.describe.blame import blame, culprit
from bt_runtime.tree.node import Node
from bt_runtime.types import Task, Verdict

SEED = 2  # at which the starter model solves both; of other items of depth 3 it fails at some, and says so
BUDGET = Budget(decisions=200, seconds=50)  # of each act: the demo ends in time whatever the model is
NEXT = """
{again}
  {other:<41}two other tasks
  btr demo --plain                         every decision as a line
  btr run reactree --env house --model starter
  btr run adapt --env textcraft --model starter

With a GGUF file of your own (any instruct model of 1B to 8B will do):
  export BTR_MODEL=path/to/model.gguf
  btr doctor                               does it load, and how fast is it?
  btr demo --model "$BTR_MODEL"            the same tasks, by your model
  btr run reactree --env house
"""
ENDS = {
    "failure": "it gave up",
    "budget": "its budget was spent",
    "loop": "it went round in circles",
    "invalid": "its answers could not be used",
}


class DemoAct(NamedTuple):
    world: str
    tree: str
    about: str
    kinds: tuple[str, ...]  # of its tasks; which of them comes is the seed's choice


ACTS = (
    DemoAct("house", "reactree", "A house, by ReAcTree", ()),
    DemoAct("textcraft", "adapt", "A crafting book, by ADaPT", ("depth 3",)),
)


class Came(NamedTuple):
    """The result of an action."""

    verdict: Verdict
    why: str  # why the task was not solved
    stopped: str
    seconds: float
    spent: Mapping[str, int]
    advice: str = ""  # to a model that is a stranger here


class Stage(NamedTuple):
    """Writes the demo's output."""

    live: bool
    color: bool

    def say(self, text: str = "", tone: str = "") -> None:
        print(f"{tone}{text}{PLAIN}" if self.color and tone else text, file=sys.stderr, flush=True)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", type=at_least(0), default=SEED, metavar="N", help=f"another one: other tasks; default {SEED}"
    )
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
        code = play(args, model, stage)
    if code == Exit.SUCCESS:
        again = "Try next:" if args.model == "starter" else "Try next, with the model that comes along:"
        stage.say((NEXT.format(again=again, other=f"btr demo --seed {args.seed + 1}") + engine.at_hand()).rstrip())
    return code


def play(args: argparse.Namespace, model: Any, stage: Stage) -> int:
    """Plays both acts, until the user stops it. A task that the model fails is no error of the demo."""
    for act in ACTS:
        came = perform(act, args.seed, model, stage)
        tell(came, painted(sys.stdout, args.color))
        if came.stopped:
            return Exit.INTERRUPTED
    return Exit.SUCCESS


def ready(named: str, stack: ExitStack) -> Any:
    """Returns the loaded model. When a part is missing, only the engine's part of the demo runs."""
    from bt_runtime.llm import open_model
    from bt_runtime.llm.server import key

    try:
        key.named(named)
        model = open_model(named)
        stack.callback(model.close)
        return model.ready()
    except BtError as fault:
        raise BtError(fault.message, f"{fault.hint}; `btr demo --engine` needs no model".lstrip("; ")) from fault


def about(model: Any) -> str:
    """Describes the deciding model on one line."""
    settings = model.settings
    if settings is None:
        return f"{model.stats().get('model', 'a model')}, on a server"
    from bt_runtime.llm.local.header import read_header
    from bt_runtime.llm.local.sizing import size

    header = read_header(settings.model)
    name = visible(str(header.about.get("general.name") or Path(settings.model).name))
    return f"the model `{name}` ({size(header.size)}), through llama.cpp on this machine"


def perform(act: DemoAct, seed: int, model: Any, stage: Stage) -> Came:
    """Plays one task from its announcement to its end."""
    task, world = chosen(act, seed), open_suite(act.world).open()
    world.reset(task)
    stage.say(f"\n{act.about} (trees/{act.tree}.yaml, task {task.id})", BOLD)
    stage.say(folded(f'"{task.goal}"', "  ") + "\n")
    before, started = _read(model), time.monotonic()
    try:
        with Run(load(act.tree), inputs={"goal": task.goal}, world=world, task=task, model=model, seed=seed,
                 budget=BUDGET) as made:  # fmt: skip
            thoughts: list[Stepped] = []
            made.listen(lambda step: thoughts.append(step) if step.move == "think" else None, Stepped)
            with shown(made, task.goal, stage):
                made.spin()
            intact(model, made)
            spent: Spending = made.parts.context.services.spent or Spending()
            tokens = _read(model) - before + spent.tokens
            cost = {"decision": spent.decisions, "action": spent.steps, "token": tokens}
            told = advice(act, model, made, spent.steps, len(thoughts))
            return Came(
                world.verdict(), reason(made), made.parts.runner.stopped, time.monotonic() - started, cost, told
            )
    finally:
        world.close()


def _read(model: Any) -> int:
    """Returns the number of prompt tokens read so far."""
    return int(model.stats().get("prompt_tokens", 0))


def chosen(act: DemoAct, seed: int) -> Task:
    """Chooses a task that the starter model was not trained on; the seed chooses its kind as well."""
    suite = open_suite(act.world)
    kinds = act.kinds or tuple(suite.kinds)
    return suite.tasks(seed, 1, "eval", [kinds[seed % len(kinds)]])[0]


@contextmanager
def shown(made: Run, goal: str, stage: Stage) -> Iterator[None]:
    """Shows a run: the growing tree of goals, or each decision as a line."""
    with ExitStack() as stack:
        stack.enter_context(terminable(made))
        if stage.live:
            live = LiveGoals(made, raw(sys.stderr), stage.color)
            live.goal = goal
            stack.enter_context(live)
            stack.callback(made.listen(live.tick, Tick))
        else:
            stack.callback(made.listen(Decisions(made, goal, stage.say).event, *AGENT_EVENTS))
        yield


def reason(made: Run) -> str:
    """Explains a tree's failure by the node that decided it."""
    if made.status.name == "SUCCESS":
        return "it said that it was done, and was not"
    node = culprit(made.parts.engine.root)
    ending = node.ending if isinstance(node, ModelNode) else None
    if ending is None:
        told = blame(made.parts.engine.root)
        return _part(made, node) + visible(told.why or f"{told.path} failed")
    detail = visible(shortened(ending.detail, 100))
    return _part(made, node) + ENDS.get(ending.why, ending.why) + (f" ({detail})" if detail else "")


def advice(act: DemoAct, model: Any, made: Run, acts: int, thoughts: int) -> str:
    """Explains why an untrained model fails this way, and suggests a remedy."""
    if not register_of(model.register).manual:
        return ""
    told = []
    if made.status.name == "SUCCESS" and not acts:
        told.append("It said `done` before any act: a sentence as short as that is likely whatever the task is. Try "
                    "`score: prior` on the agent, which takes that off (docs/agents.md).")  # fmt: skip
    if thoughts > 2 * acts + 1:
        told.append(f"It thought {said_often(thoughts, 'time')} and acted {said_often(acts, 'time')}: small models say "
                    "again what they read. Try a strategy without thoughts, `btr run lota`.")  # fmt: skip
    if told:
        told.append("A model of 1B to 8B parameters does better. How likely it finds each sentence: "
                    f"btr view prompt {act.tree} --env {act.world} --model MODEL --scores")  # fmt: skip
    return " ".join(told)


def _part(made: Run, node: Behaviour) -> str:
    """Returns the goal of this node when it is a part of the task's goal."""
    goal, whole = (_goal(each) for each in (node, made.parts.engine.root))
    return f'at "{visible(shortened(goal, 60))}", ' if goal and goal != whole else ""


def _goal(node: Behaviour) -> str:
    if isinstance(node, ModelNode) and node.goal:
        return node.goal
    return str(node.scope.get("goal")) if isinstance(node, Node) and "goal" in node.scope else ""


def intact(model: Any, made: Run) -> None:
    """Raises when the model itself broke down, which is an error and not a failed task."""
    stats = model.stats()
    broken = stats.get("restarts", stats.get("failed", 0))  # a worker's, or a server's
    if broken and made.parts.context.crashes:
        said = made.parts.context.crashes[-1].message.partition(";")[0]
        raise BtError(f"the model broke down: {said}", "`btr doctor MODEL` tries it by itself")


def tell(came: Came, color: bool) -> None:
    met, total = came.verdict
    solved = 0 < total <= met
    word, tone = (came.stopped, "") if came.stopped else ("solved", GREEN) if solved else ("NOT SOLVED", RED)
    cost = [said_often(n, word) for word, n in came.spent.items()]
    shown = f"{tone}{word}{PLAIN}" if color and tone else word
    print(f"{shown}: {met} of {said_often(total, 'goal')}; {', '.join(cost)}, {came.seconds:.1f} s", flush=True)
    if not solved and not came.stopped:
        print(folded(f"The model failed at this one: {came.why}.", "  "), flush=True)
        if came.advice:
            print(folded(came.advice, "  "), flush=True)
