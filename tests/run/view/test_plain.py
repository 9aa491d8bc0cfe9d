"""Whatever stands on a blackboard, what is shown of it has a bound, and takes no more than that to make."""

from __future__ import annotations

import json
import tracemalloc
from collections import deque
from dataclasses import dataclass
from typing import Any

import pytest

from bt_runtime.run.view.feed import MESSAGE, MOST_WEIGHT, Feed
from bt_runtime.run.view.plain import MOST_WHOLE, plain, weight


@dataclass
class Pair:
    left: Any
    right: Any = 1


def loop() -> list[Any]:
    found: list[Any] = []
    found += [found] * 400
    return found


def knot() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found.update({str(i): found for i in range(400)})
    return found


BIG = "a" * 1_000_000
HOSTILE = {
    "a list that contains itself": loop(),
    "a mapping that contains itself": knot(),
    "the same text a hundred and sixty thousand times": [[BIG] * 400] * 400,
    "a mapping of lists of it": {str(i): [BIG] * 400 for i in range(400)},
    "a dataclass around it": Pair([[BIG] * 1000] * 1000),
    "a queue of it": deque([[BIG] * 1000] * 1000),
    "keys that are long": {(BIG,) * 10: 1, BIG: 2},
    "bytes": BIG.encode() * 10,
    "a number of a million bits": 1 << 1_000_000,
    "many numbers of many digits": [10**5000] * 400,
    "deeper than is shown": [[[[[[[[[[BIG] * 100] * 100] * 100]]]]]]],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_value_is_shown_within_the_bound_and_made_within_it(name):
    tracemalloc.start()
    shown = plain(HOSTILE[name])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert weight(shown) <= MOST_WHOLE * 1.1
    assert peak < 12_000_000  # a copy of the text that one repr may have to make is in it
    json.dumps(shown)


def test_an_honest_value_is_shown_whole():
    value = {"at": [1.5, 2], "held": "cup", "pair": Pair(1, "z"), "line": deque([1, 2]), 7: None}
    said = {"at": [1.5, 2], "held": "cup", "pair": "Pair(left=1, right='z')", "line": "deque([1, 2])", "7": None}
    assert plain(value) == said


def test_a_feed_keeps_no_more_than_its_weight_and_sends_no_more_than_a_message():
    feed, heavy = Feed(), "x" * 20_000
    for number in range(4000):
        feed.put({"k": "line", "t": float(number), "path": "", "level": "info", "text": heavy})
    assert feed._weight <= MOST_WEIGHT < 4000 * 20_000
    cursor, seen = None, 0.0
    while True:
        part = feed.after(cursor)
        if cursor is not None:
            assert sum(map(weight, part.events)) <= MESSAGE
            if not part.events:
                break
        cursor, seen = part.cursor, part.events[-1]["t"]
    assert seen == 3999.0
