"""`python -m recipes.starter.attempts "house, fourth" --model FILE`: a held-out set of the ledger, played in this
process (ALFWorld by its rules, without an engine); one line of JSON for each task. It counts the executors that failed,
and those of them that did no act: they planned first, and tried nothing.

    python -m recipes.starter.attempts report FILE.jsonl ...    shares and intervals; pairs against the first file
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from py_trees.common import Status

from bt_envs.alfworld.world import AlfWorld
from bt_lab.report.statistics import mcnemar, wilson
from bt_runtime.agents.agent import Agent
from bt_runtime.agents.surroundings import RECALL
from bt_runtime.events import Acting, Tick
from bt_runtime.llm import open_model
from bt_runtime.run.run import Run, load
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.tree.budget import Budget
from bt_runtime.types import Task, World
from recipes.starter.alfworld.rules import Rules
from recipes.starter.ledger import held_out

DECISIONS = 150


class Attempts(NamedTuple):
    """How one task went."""

    reached: bool
    ended: str
    decisions: int
    failed: int  # executors
    idle: int  # … that did no act


def attempted(tree: Any, world: World, task: Task, model: Any, inputs: dict[str, Any]) -> Attempts:
    acts, failed = Counter[str](), list[str]()

    def acted(acting: Acting) -> None:
        acts.update([] if acting.sentence.startswith(RECALL) else [acting.path])  # it looks up, and changes nothing

    def ended(tick: Tick) -> None:
        failed.extend(n.path for n, status in tick.changes if isinstance(n, Agent) and status is Status.FAILURE)

    world.reset(task)
    with Run(
        tree, inputs={"goal": task.goal, **inputs}, world=world, task=task,
        services={"model": model, "budget": Budget(decisions=DECISIONS)},
    ) as run:  # fmt: skip
        run.parts.context.stream.listen(acted, Acting)
        run.parts.context.stream.listen(ended, Tick)
        status = run.spin()
        spent = run.parts.context.services.spending(run.parts.context.clock.now()).decisions
    return Attempts(
        world.verdict().reached, status.name, int(spent), len(failed), sum(not acts[each] for each in failed)
    )


def report(files: Sequence[Path]) -> None:
    first: list[dict[str, Any]] = []
    for file in files:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        first = first or rows
        share = wilson(sum(row["reached"] for row in rows), len(rows))
        failed, idle = sum(row["failed"] for row in rows), sum(row["idle"] for row in rows)
        pairs = list(zip(rows, first, strict=False))
        more, less = (sum(a["reached"] - b["reached"] == won for a, b in pairs) for won in (1, -1))
        both = [a["decisions"] - b["decisions"] for a, b in pairs if a["reached"] and b["reached"]]
        names = sorted({row["kind"] for row in rows})
        kinds = {kind: [row["reached"] for row in rows if row["kind"] == kind] for kind in names}
        print(
            f"{file.stem}: {share.value:.0%} of {len(rows)} ({share.low:.0%} to {share.high:.0%}); "
            f"{failed} executors failed, {idle} without an act; against the first, {len(pairs)} pairs: {more} more, "
            f"{less} fewer, p = {mcnemar(more, less):.3f}, decisions {sum(both) / max(1, len(both)):+.2f} where both "
            f"reached it; {', '.join(f'{kind} {sum(hits)}/{len(hits)}' for kind, hits in kinds.items())}"
        )


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m recipes.starter.attempts", description=(__doc__ or "").split("\n")[0]
    )
    add = parser.add_argument
    add("set", help="a held-out set by its name in the ledger, or `report`")
    add("files", nargs="*", type=Path)
    add("--model", default="starter")
    add("--strategy", default="adapt")
    add("--input", nargs="*", default=[], metavar="NAME=NUMBER", help="of the tree")
    add("--data", type=Path, help="the folder of others' data")
    add("--most", type=int, help="tasks")
    args = parser.parse_args(words)
    if args.set == "report":
        report(args.files)
        return 0
    held = next(each for each in held_out() if each.name == args.set)
    tree, tasks = load(args.strategy), held.tasks(args.data)[: args.most]
    given = {name: int(value) for name, _, value in (each.partition("=") for each in args.input)}
    options = {"data": args.data / held.data} if held.data and args.data else {}
    world = AlfWorld(Rules()) if held.suite == "alfworld" else open_world(held.suite, **options)
    with open_model(args.model, niceness=0) as model:
        for task in tasks:
            told = attempted(tree, world, task, model, given)
            print(json.dumps({"goal": task.goal, "kind": task.kind, **told._asdict()}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
