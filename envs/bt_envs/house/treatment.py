"""Heats, cools and cleans a thing with an appliance by the house's rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from bt_envs.house.acts import Doer, Reply
from bt_envs.house.rules import PROCESSES, Rule

_STATES = {"open": "is open", "closed": "is closed", "turned on": "is on", "turned off": "is off"}
_OTHER = {"open": "closed", "closed": "open", "turned on": "turned off", "turned off": "turned on"}


def treat(doer: Doer, names: str, process: str) -> Reply:
    """Carries out `heat apple 1 with stove 1`. A refusal names one cause at a time: appliance, thing, door, then
    power."""
    thing_name, _, place_name = names.partition(" with ")
    place, thing = doer.house.index.get(place_name), doer.state.index.get(thing_name)
    if place is None or place not in doer.state.in_reach(doer.house, doer.body):
        return doer.far(place_name)
    kind = doer.house.fixtures[place].furniture.name
    rule = doer.rules.of.get(process) if doer.rules else None
    if rule is None or rule.place != kind:
        doing = PROCESSES[process].doing
        return doer.refuse_with("no use", f"{kind} cannot be used for {doing}.", t=kind, doing=doing)
    if thing is None:
        return doer.far(thing_name)
    refusal = _thing_is_wrong(doer, rule, thing, place) or _state_is_wrong(doer, rule, place)
    if refusal is not None:
        return refusal
    states = doer.state.made.setdefault(thing, set())
    states.discard(PROCESSES[process].ends)
    states.add(PROCESSES[process].makes)
    return doer.done(process, t=doer.state.kinds[thing], p=kind)


def _inside(doer: Doer, thing: int, place: int) -> bool:
    return doer.state.place[thing] == place and doer.state.how[thing] == "in"


def _thing_is_wrong(doer: Doer, rule: Rule, thing: int, place: int) -> Reply | None:
    name, kind = doer.state.name(thing), doer.state.kinds[thing]
    if rule.way.thing == "held":
        return None if thing in doer.body.hands else doer.not_held(name)
    if _inside(doer, thing, place):
        return None
    where = f"{name} is not in {doer.house.fixtures[place].name}."
    return doer.refuse_with("not inside", where, t=kind, p=rule.place)


def _state_is_wrong(doer: Doer, rule: Rule, place: int) -> Reply | None:
    """Returns what is wrong with an appliance: its door first, then its power or that of the tap in the room."""
    door, power = rule.way.door, rule.way.power
    if door and (place in doer.state.open) != (door == "open"):
        return doer.is_so(_STATES[_OTHER[door]], doer.house.fixtures[place].name)
    switches = _switches(doer, rule, place) if power else ()
    runs = any(switch in doer.state.running for switch in switches)
    if switches and runs != (power == "turned on"):
        wrong = next(s for s in switches if (s in doer.state.running) == runs)
        return doer.is_so(_STATES[_OTHER[power]], doer.house.fixtures[wrong].name)
    return None


def _switches(doer: Doer, rule: Rule, place: int) -> list[int]:
    if not rule.tap:
        return [place]
    fixtures = doer.house.fixtures
    return [i for i, f in enumerate(fixtures) if f.furniture.name == rule.tap and f.room == fixtures[place].room]


def offered(doer: Doer, appliances: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yields the sentences worth trying: for things in hand, and for handled things inside an appliance in reach.

    Things that are in the state already are left out. An offered sentence may still be refused: finding the house
    rules out is part of the task."""
    for place in doer.state.in_reach(doer.house, doer.body):
        fixture = doer.house.fixtures[place]
        inside = [t for t in doer.state.contents[place] if t in doer.state.handled and _inside(doer, t, place)]
        for process, names in appliances.items():
            own = doer.rules.of.get(process) if doer.rules else None
            usable = fixture.furniture.name in names or (own is not None and own.place == fixture.furniture.name)
            for thing in (*doer.body.hands, *inside) if usable else ():
                if PROCESSES[process].makes not in doer.state.made.get(thing, ()):
                    yield f"{process} {doer.state.name(thing)} with {fixture.name}"


TREATMENTS: Mapping[str, Callable[[Doer, str], Reply]] = {
    process: partial(treat, process=process) for process in PROCESSES
}
