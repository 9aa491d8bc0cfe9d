"""The plan that is found is the cheapest, beside a search over all states; within a bound, which is told."""

from __future__ import annotations

from heapq import heappop, heappush

import pytest

from bt_runtime.agents.backchain.operator import Operator, operators
from bt_runtime.agents.backchain.planning import planned
from bt_runtime.agents.backchain.relevant import Bound, NoPlan
from tests.agents.backchain.skill_sets import Case, case, done, true

MOST = 20_000  # states of one case
NO_SECOND = Bound(cheaper=0)


def least(made: Case) -> float | None:
    """What the cheapest way costs, by all states; -1 where these are too many, None without a way."""
    takes = {kind.name: float(kind.data["entry"].takes) for kind in made.kinds}
    paid, todo = {made.given: 0.0}, [(0.0, 0, made.given)]
    while todo:
        cost, _, state = heappop(todo)
        if cost > paid[state]:
            continue
        if all(true(fact, state) for fact in made.goal):
            return cost
        if len(paid) > MOST:
            return -1
        for sentence, act in made.acts.items():
            if all(true(fact, state) for fact in act.needs):
                then, total = done(act, state), cost + takes[sentence.split()[0]]
                if total < paid.get(then, total + 1):
                    paid[then] = total
                    heappush(todo, (total, len(paid) + len(todo), then))
    return None


@pytest.mark.parametrize("chunk", range(5))
def test_no_sequence_of_actions_costs_less_than_a_plan(chunk: int) -> None:
    tried = 0
    for seed in range(chunk, 150, 5):
        made = case(seed)
        cost = least(made)
        if cost == -1:
            continue
        try:
            found = planned(made.goal, operators(made.kinds), made.given)
        except NoPlan:
            assert cost is None, f"set {seed}"
            continue
        assert found.cheapest and found.cost == pytest.approx(cost), f"set {seed}: {found.cost}, and {cost} is enough"
        tried += 1
    assert tried >= 15


def shared() -> list[Operator]:
    """Two facts by one key for 5 s, or each by its own for 3 s: alone each own is cheaper, together the one is."""
    return [
        Operator("fetch_key", {}, (), ("key",), 4.0), Operator("red_door", {}, ("key",), ("red is open",), 1.0),
        Operator("blue_door", {}, ("key",), ("blue is open",), 1.0),
        Operator("red_crowbar", {}, (), ("red is open",), 3.5),
        Operator("blue_crowbar", {}, (), ("blue is open",), 3.5),
    ]  # fmt: skip


def test_what_two_facts_share_is_paid_once() -> None:
    found = planned(["red is open", "blue is open"], shared())
    assert (found.cost, found.cheapest) == (6.0, True)
    assert planned(["red is open"], shared()).cost == 3.5


def test_a_bound_that_ends_the_second_search_keeps_the_first_plan_and_says_so() -> None:
    found = planned(["red is open", "blue is open"], shared(), bound=NO_SECOND)
    assert (found.cost, found.cheapest) == (7.0, False)


def test_the_bound_of_the_second_search_holds_where_many_orders_cost_the_same() -> None:
    """Twenty facts, each by either of two skills at the same cost: a plan of twenty steps is there all the same."""
    every = [Operator(f"{way}_{i}", {}, (), (f"fact {i}",), 1.0) for i in range(20) for way in ("here", "there")]
    found = planned([f"fact {i}" for i in range(20)], every, bound=Bound(cheaper=500))
    assert len(found.steps) == 20 and found.cost == 20
