"""`python -m recipes.facts --model smollm2`: for each goal, what was understood, and whether it was reached."""

from __future__ import annotations

import argparse
import json
import time
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

import bt_runtime as bt
from bt_runtime.events import Acting
from bt_runtime.llm import open_model
from bt_runtime.tree.budget import Budget
from recipes.facts.examples import HOW, Examples
from recipes.facts.trade import FILES, UNDERSTAND, Data, Trade, first_acts, reached, trades
from recipes.facts.words import Words

TREES = Path(__file__).parents[2] / "trees"
MOST_TOLD = 12  # acts of one goal
STRATEGIES = ("understand", "facts", "react", "reactree", "adapt")


def main() -> None:
    parse = argparse.ArgumentParser(prog="python -m recipes.facts")
    parse.add_argument(
        "--model", required=True, help="as `btr run --model` takes it; `words`: the control without a model"
    )
    parse.add_argument("--strategy", default="understand", choices=STRATEGIES)
    parse.add_argument("--examples", default="planned", choices=HOW, help="what an agent is shown")
    parse.add_argument("--set", nargs="*", default=[], metavar="FIELD=VALUE", help="of each agent, or of `want`")
    parse.add_argument("--trades", type=Path, nargs="*", default=FILES)
    parse.add_argument("--goals", type=Path, help="a file with other goals for trades by name; the others are left out")
    parse.add_argument("--most", type=int, default=60, help="decisions of one goal")
    said = parse.parse_args()
    given = {name: yaml.safe_load(value) for name, _, value in (each.partition("=") for each in said.set)}
    opened: Any = nullcontext(Words()) if said.model == "words" else open_model(said.model, niceness=0)
    every = {name: data for file in said.trades for name, data in trades(file).items()}
    if said.goals:
        every = {name: {**every[name], "goals": goals} for name, goals in trades(said.goals).items()}
    about = {"model": said.model, "strategy": said.strategy, "examples": said.examples, **given}
    with opened as model, TemporaryDirectory() as folder:
        file = Path(folder) / f"{said.strategy}.yaml"
        file.write_text(tree_of(said.strategy, given), "utf-8")
        for number, (name, data) in enumerate(every.items()):
            other = [*every.values()][(number + 1) % len(every)]
            with Examples(said.examples, other).shown() as examples:
                for goal in data["goals"]:
                    told = one(file, data, goal, model, said.most, examples)
                    print(json.dumps({**about, "trade": name, **told}), flush=True)


def tree_of(strategy: str, given: dict[str, Any]) -> str:
    """The strategy's tree with these fields in each node that has them."""
    text = UNDERSTAND if strategy == "understand" else (TREES / f"{strategy}.yaml").read_text("utf-8")
    tree = yaml.safe_load(text)
    todo: list[Any] = [tree["root"]]
    while todo:
        at = todo.pop()
        for name, value in at.items() if isinstance(at, dict) else ():
            if name == ("want" if strategy == "understand" else "agent"):
                value.update(given)
        todo += at.values() if isinstance(at, dict) else at if isinstance(at, list) else ()
    return yaml.safe_dump(tree, sort_keys=False)


def one(file: Path, data: Data, goal: Data, model: Any, most: int, examples: Examples) -> dict[str, Any]:
    trade, began, acts = Trade(data), time.monotonic(), list[str]()
    tree = bt.load(file, skills=trade.skills())
    with bt.Run(
        tree, inputs={"goal": goal["goal"]}, services={"model": model, "budget": Budget(decisions=most)}
    ) as run:
        run.parts.context.stream.listen(lambda event: acts.append(event.sentence), Acting)
        run.spin()
        wanted = run.blackboard.get("wanted", "")
        ended, decisions = run.status.name, run.parts.context.services.spending(run.parts.context.clock.now()).decisions
    first, began_with = first_acts(data, goal["facts"]), "".join(acts[:1])
    shown = [each.acts[0][0] for each in examples.now]
    return {
        "goal": goal["goal"], "named": goal["named"], "wanted": wanted,
        "right": {*wanted.split(" and ")} == {*goal["facts"]}, "ended": ended,
        "reached": reached(trade, goal["facts"]), "decisions": decisions, "acts": acts[:MOST_TOLD],
        "first_right": began_with in first, "copied": began_with in shown,
        "copy_right": any(each in first for each in shown), "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip


if __name__ == "__main__":
    main()
