"""`python -m recipes.facts --model smollm2`: for each goal, what was understood, and whether it was reached."""

from __future__ import annotations

import argparse
import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import bt_runtime as bt
from bt_runtime.llm import open_model
from bt_runtime.tree.budget import Budget
from recipes.facts.trade import TRADES, Data, Trade, reached, trades
from recipes.facts.words import Words

TREES = Path(__file__).parents[2] / "trees"
UNDERSTAND = """
version: 1
tree: understand
inputs: {goal: {type: string}}
blackboard: {wanted: {type: string, default: ""}}
root: {want: {goal: "{goal}", into: wanted}}
"""


def main() -> None:
    parse = argparse.ArgumentParser(prog="python -m recipes.facts")
    parse.add_argument(
        "--model", required=True, help="as `btr run --model` takes it; `words`: the control without a model"
    )
    parse.add_argument("--strategy", default="understand", choices=("understand", "facts", "react"))
    parse.add_argument("--trades", type=Path, default=TRADES)
    parse.add_argument("--most", type=int, default=60, help="decisions of one goal")
    said = parse.parse_args()
    opened: Any = nullcontext(Words()) if said.model == "words" else open_model(said.model, niceness=0)
    with opened as model:
        for name, data in trades(said.trades).items():
            for goal in data["goals"]:
                print(json.dumps({"trade": name, **one(said.strategy, data, goal, model, said.most)}), flush=True)


def one(strategy: str, data: Data, goal: Data, model: Any, most: int) -> dict[str, Any]:
    trade, began = Trade(data), time.monotonic()
    tree = bt.load(UNDERSTAND if strategy == "understand" else TREES / f"{strategy}.yaml", skills=trade.skills())
    services = {"model": model, "budget": Budget(decisions=most)}
    with bt.Run(tree, inputs={"goal": goal["goal"]}, services=services) as run:
        run.spin()
        wanted = run.blackboard["wanted"] if strategy != "react" else ""
        ended = run.status.name
    right = {*wanted.split(" and ")} == {*goal["facts"]}
    told = {"goal": goal["goal"], "named": goal["named"], "wanted": wanted, "right": right, "ended": ended}
    return {**told, "reached": reached(trade, goal["facts"]), "seconds": round(time.monotonic() - began, 1)}


if __name__ == "__main__":
    main()
