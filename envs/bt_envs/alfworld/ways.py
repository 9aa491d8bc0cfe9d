"""How each fact of a game comes about, as its oracle knows it: every thing, wherever it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bt_envs.alfworld.game import STATES, TREATED, Fact, Game, kind_of
from bt_runtime.skills.worlds.ways import Aim, Way

AT_ONCE = ((1, ("near {place}",)), (1, ("holding {thing}", "hand free")))
_TREATMENTS = {state: t for state, head in STATES.items() for t in TREATED.values() if t.fact == head}
_LAMPS = ("desklamp", "floorlamp")


def aims(game: Game) -> list[Aim]:
    """What can be wanted of a game: where a thing is, what was done to it, and which lamp it is looked at under."""
    places = [place for place, location in game.places.items() if location]
    things = [thing for thing in game.things if kind_of(thing) not in _LAMPS]
    lamps = [thing for thing in game.things if kind_of(thing) in _LAMPS]
    found = [Aim("{thing} is in {place}", "put {thing} in {place}", {"thing": things, "place": places})]
    for state, treatment in _TREATMENTS.items():
        if any(kind_of(place) == treatment.tool for place in places):
            asked = f"put a {state} {{thing}} in {{place}}"
            found.append(Aim(f"{{thing}} is {state}", f"{treatment.verb} {{thing}}", {"thing": things}))
            found.append(Aim(f"{{thing}} is {state} in {{place}}", asked, {"thing": things, "place": places}))
    asked = "look at {thing} under the {lamp}"
    return [*found, *([Aim("{thing} is lit by {lamp}", asked, {"thing": things, "lamp": lamps})] if lamps else [])]


def ways(game: Game, facts: frozenset[Fact], fact: str, put: str) -> Iterator[Way]:
    """`put`: how a thing is put down, in the words of the world's view."""
    verb, _, name = fact.partition(" ")
    if verb == "near" and game.places.get(name):
        yield Way(f"go to {name}", (), (fact,))
    elif verb == "holding":
        for place in _where(game, facts, name):
            needs = ("hand free", *_reach(game, place))
            yield Way(f"take {name} from {place}", needs, (fact, "not hand free", f"not {name} is in {place}"))
    elif fact == "hand free":
        for thing in (each[1] for each in facts if each[0] == "holds"):
            place = next(p for p, location in game.places.items() if location and p not in game.openable)
            brings = (fact, f"not holding {thing}", f"{thing} is in {place}")
            yield Way(put.format(thing=thing, place=place), (f"holding {thing}", f"near {place}"), brings)
    else:
        yield from _states(game, facts, fact, put)


def _states(game: Game, facts: frozenset[Fact], fact: str, put: str) -> Iterator[Way]:
    name, _, wanted = fact.partition(" is ")
    state, _, place = f" {wanted}".partition(" in ")  # `sinkbasin 1` has an `in ` of its own
    if wanted in ("open", "closed") and name in game.openable:
        denied = "closed" if wanted == "open" else "open"
        yield Way(f"{'open' if wanted == 'open' else 'close'} {name}", (f"near {name}",),
                  (fact, f"not {name} is {denied}"))  # fmt: skip
    elif name not in game.things:
        return
    elif wanted in _TREATMENTS:
        treatment = _TREATMENTS[wanted]
        for tool in (p for p, location in game.places.items() if location and kind_of(p) == treatment.tool):
            yield Way(f"{treatment.verb} {name} with {tool}", (f"holding {name}", f"near {tool}"), (fact,))
    elif game.places.get(place) and (not state or state.strip() in _TREATMENTS):
        first = [f"{name} is {state.strip()}"] if state else []
        needs = (*first, f"holding {name}", *_reach(game, place))
        brings = (fact, f"{name} is in {place}", "hand free", f"not holding {name}")
        yield Way(put.format(thing=name, place=place), needs, brings)
    elif wanted.startswith("lit by "):
        lamp = wanted.removeprefix("lit by ")
        for place in _where(game, facts, lamp):
            yield Way(f"use {lamp}", (f"holding {name}", f"near {place}"), (fact, f"{lamp} is on"))


def _where(game: Game, facts: frozenset[Fact], thing: str) -> list[str]:
    """The furniture that a thing is in, as far as one can go to it."""
    return sorted(each[2] for each in facts if each[:2] == ("inreceptacle", thing) and game.places.get(each[2]))


def _reach(game: Game, place: str) -> Sequence[str]:
    return (f"near {place}", *([f"{place} is open"] if place in game.openable else []))
