"""The trades: unchanged since before the first measurement, and each goal can be reached by a planner."""

from __future__ import annotations

import hashlib

import pytest

import bt_runtime as bt
from bt_runtime.testing import SUCCESS
from recipes.facts.trade import TRADES, Trade, reached, trades

DIGESTS = {
    "trades.yaml": "06bb88f76597615604a059bab367e561ce4d1a6b10d4439882c3cf189022c7d6",
    "more_trades.yaml": "5a337fc10a82355250f33ba0b214638d7d326bc0c0ef167bc6d21917ad141370",
    "open_trades.yaml": "428d7af2306bc2109cfde8ba342da395bcd671e19015c162f59d1f4a908cdc48",
    "kept_trades.yaml": "43d2c90d4661091a3dfc7015bd0d977414087eae8d1d45571e33988cda636907",
}
ALL = {name: data for file in DIGESTS for name, data in trades(TRADES.with_name(file)).items()}
PLAN = """
version: 1
tree: t
inputs: {facts: {type: string}}
root: {plan: {goal: "{facts}", by: backchaining}}
"""


@pytest.mark.parametrize("file", DIGESTS)
def test_the_trades_are_those_that_were_measured(file: str) -> None:
    text = TRADES.with_name(file).read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(text).hexdigest() == DIGESTS[file]


@pytest.mark.parametrize("name", ALL)
def test_a_planner_reaches_each_goal_once_its_facts_are_known(name: str) -> None:
    data = ALL[name]
    for goal in data["goals"]:
        trade = Trade(data)
        tree = bt.load(PLAN, skills=trade.skills())
        with bt.Run(tree, inputs={"facts": " and ".join(goal["facts"])}) as run:
            assert run.spin(ticks=500) is SUCCESS and reached(trade, goal["facts"]), goal["goal"]
