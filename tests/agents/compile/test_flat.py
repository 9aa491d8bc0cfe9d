"""Runs of one agent without parts: what it did with things and places becomes steps, and nothing of it is lost."""

from __future__ import annotations

import pytest

from bt_runtime import BtError
from bt_runtime.agents.compile.compiling import Compiled, of_traces
from bt_runtime.agents.compile.trace import Act, Life, Trace

PLACES = ("fridge 1", "drawer 1", "drawer 2", "shelf 1")
AGENT = 'version: 1\ntree: solo\nroot:\n  agent: {goal: "{goal}", moves: [think, act]}\n'


def _acts(*sentences: str) -> list[Act | None]:
    """Acts one after another; each is offered with its alternatives."""
    found: list[Act | None] = []
    heard = ""
    for at, said in enumerate(sentences):
        offered = tuple(f"go to {place}" for place in (*PLACES, "microwave 1", "table 1"))
        found.append(Act(said, f"You did {said}.", True, (*offered, *sentences[at : at + 1]), heard))
        heard = f"You did {said}."
    return found


def _run(number: int, thing: str, looked: tuple[str, ...], heat: bool = True) -> Trace:
    place = looked[-1]
    acts = [*(f"go to {each}" for each in looked), f"take {thing} 1 from {place}"]
    acts += ["go to microwave 1", f"heat {thing} 1 with microwave 1"] if heat else []
    acts += ["go to table 1", f"put {thing} 1 in/on table 1"]
    life = Life("/", f"put a hot {thing} in table", list(filter(None, _acts(*acts))), "done")
    return Trace(f"run {number}", f"task {number}", "", life.goal, True, "solo", 0, [life], AGENT, skills=("alfworld",))


def _runs() -> list[Trace]:
    things = ("apple", "egg", "mug")
    return [_run(n, things[n % 3], PLACES[: n % 4 + 1]) for n in range(12)]


@pytest.fixture(scope="module")
def hot() -> Compiled:
    return of_traces(_runs(), "hot")


def test_a_search_ends_with_what_was_done_in_the_place(hot: Compiled) -> None:
    """`take` names the thing of the goal and a place that the goal does not name: what is offered there tells it."""
    assert 'offered: "take {it.thing} <number> from <place>"' in hot.text
    assert 'take: {thing: "{it.thing} {the_thing.number}", place: "{the_thing.place}"}  # 12 times' in hot.text
    assert 'heat: {thing: "{it.thing} {the_thing.number}", place: "{the_one.place}"}  # 12 times' in hot.text


def test_the_second_search_of_a_goal_has_a_name_of_its_own(hot: Compiled) -> None:
    """Names are unique among siblings, or the tree would be refused."""
    assert hot.text.count("name: search\n") == 1
    assert hot.text.count("name: search 2\n") == 1


def test_what_is_done_to_a_thing_of_the_goal_is_never_a_try() -> None:
    """An act with a place that nobody went to before is not understood: the agent keeps the goal."""
    traces = []
    for number, place in enumerate(PLACES * 2):
        acts = list(filter(None, _acts(f"take apple 1 from {place}", "go to table 1", "put apple 1 in/on table 1")))
        life = Life("/", "put a cold apple in table", acts, "done")
        traces.append(
            Trace(f"r{number}", f"t{number}", "", life.goal, True, "solo", 0, [life], AGENT, skills=("alfworld",))
        )
    with pytest.raises(BtError, match="nothing in common"):
        of_traces(traces, "cold")


def _packed(number: int) -> Trace:
    """A run of the clerk's desk: the named thing goes to one place, all others to another."""
    things = ["apple", "egg", "mug"]
    first = things[number % 3]
    here, there = ("fridge", "shelf") if number % 2 else ("shelf", "fridge")
    acts: list[Act] = []
    left, heard = [first, *(each for each in things if each != first)], ""
    for thing in [*left]:
        place = here if thing == first else there
        pick, put = f"pick up {thing}", f"go to {place}"
        acts.append(Act(pick, f"You hold {thing}.", True, tuple(f"pick up {each}" for each in things), heard))
        acts.append(Act(put, f"You are at {place}.", True, ("go to fridge", "go to shelf"), f"You hold {thing}."))
        heard = f"You are at {place}."
    goal = f"bring the {first} to the {here} and all others to the {there}"
    life = Life("/", goal, list(acts), "done")
    return Trace(f"run {number}", f"task {number}", "", goal, True, "solo", 0, [life], AGENT, skills=("house",))


def test_a_search_that_goes_on_takes_no_value_again() -> None:
    """What the goal names was never tried, and no value twice: both stay so, and every kind of value may come last."""
    text = of_traces([_packed(number) for number in range(12)], "packed").text
    assert text.count('set: {tried: ["{it.thing}"]}') == 1
    assert text.count("tried: []") == 0
    assert text.count("tried: tried") == 2
    last = text.rpartition("order: ")[2].partition("]")[0]
    assert {"apple", "egg", "mug"} <= {each.strip(" [") for each in last.split(",")}
