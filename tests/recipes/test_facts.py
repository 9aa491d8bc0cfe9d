"""The six trades: unchanged since before the first measurement, and each goal can be reached by a planner."""

from __future__ import annotations

import hashlib

import pytest

import bt_runtime as bt
from bt_runtime.testing import SUCCESS
from recipes.facts.trade import TRADES, Trade, reached, trades

DIGEST = "06bb88f76597615604a059bab367e561ce4d1a6b10d4439882c3cf189022c7d6"
PLAN = """
version: 1
tree: t
inputs: {facts: {type: string}}
root: {plan: {goal: "{facts}", by: backchaining}}
"""


def test_the_trades_are_those_that_were_measured() -> None:
    assert hashlib.sha256(TRADES.read_bytes().replace(b"\r\n", b"\n")).hexdigest() == DIGEST


@pytest.mark.parametrize("name", trades())
def test_a_planner_reaches_each_goal_once_its_facts_are_known(name: str) -> None:
    data = trades()[name]
    for goal in data["goals"]:
        trade = Trade(data)
        tree = bt.load(PLAN, skills=trade.skills())
        with bt.Run(tree, inputs={"facts": " and ".join(goal["facts"])}) as run:
            assert run.spin(ticks=500) is SUCCESS and reached(trade, goal["facts"]), goal["goal"]
