"""Holds the conditions of a task and counts the satisfied ones, as WAH-NL counts subgoals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_envs.house.layout import House
from bt_envs.house.state import State
from bt_runtime.types import Verdict

RELATIONS = ("on", "in", "turned on", "turned off", "closed", "open", "held", "sat on")


class Condition(NamedTuple):
    """A condition: a number of things of a kind in or on a place; a place that is on, off, closed or open; or a thing
    in a hand."""

    relation: str
    place: str = ""  # a class, or one fixture with its number
    thing: str = ""
    amount: int = 1
    state: str = ""  # hot, cold, clean, when the things must be that too


def conditions(data: Sequence[Mapping[str, Any]]) -> tuple[Condition, ...]:
    """Reads conditions from `task.data["goal"]`; an unknown relation is never met."""
    known = set(Condition._fields)
    return tuple(Condition(**{k: v for k, v in entry.items() if k in known}) for entry in data)


def met(condition: Condition, house: House, state: State) -> int:
    """Returns how many of the condition's `amount` are satisfied."""
    return min(condition.amount, _found(condition, house, state))


def verdict(goal: Sequence[Condition], house: House, state: State) -> Verdict:
    return Verdict(sum(met(c, house, state) for c in goal), sum(c.amount for c in goal))


def _found(wanted: Condition, house: House, state: State) -> int:
    if wanted.relation == "held":
        return sum(_is(state, thing, wanted) for body in state.bodies for thing in body.hands)
    places = house.of_class(wanted.place)
    if wanted.relation in ("on", "in"):
        return sum(
            state.how[thing] == wanted.relation and _is(state, thing, wanted)
            for place in places
            for thing in state.contents[place]
        )
    so = {
        "turned on": lambda p: p in state.running,
        "turned off": lambda p: p not in state.running,
        "closed": lambda p: p not in state.open,
        "open": lambda p: p in state.open,
        "sat on": lambda p: any(body.seat == p for body in state.bodies),
    }.get(wanted.relation)
    return sum(map(so, places)) if so else 0


def _is(state: State, thing: int, wanted: Condition) -> bool:
    if wanted.thing not in (state.kinds[thing], state.name(thing)):
        return False
    return not wanted.state or wanted.state in state.made.get(thing, ())
