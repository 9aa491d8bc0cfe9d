"""How each fact of a house comes about, as its oracle knows it: every place and every thing, wherever it is."""

from __future__ import annotations

from collections.abc import Iterator

from bt_envs.house.layout import House
from bt_envs.house.state import HANDS, State
from bt_runtime.skills.worlds.ways import Aim, Way

AT_ONCE = ((1, ("in {room}",)), (1, ("near {place}",)), (1, ("at {place}",)), (HANDS, ("holding {thing}", "hand free")))
_SWITCHED = {"turned on": "turn on", "turned off": "turn off", "closed": "close", "open": "open"}
_DENIED = {"turned on": "turned off", "turned off": "turned on", "closed": "open", "open": "closed"}
_WALK, _HANDLE = 30.0, 10.0  # seconds, as the manifest says


def ways(house: House, state: State, fact: str) -> list[Way]:
    return list(_Ways(house, state).of(fact))


def aims(house: House, state: State) -> list[Aim]:
    """What can be wanted of a house: where things are, and how its furniture is."""
    things = [state.name(thing) for thing in range(len(state.place))]
    kept = {how: [f.name for f in house.fixtures if getattr(f.furniture, f"holds_{how}")] for how in ("in", "on")}
    doors = [f.name for f in house.fixtures if f.furniture.opens]
    switches = [f.name for f in house.fixtures if f.furniture.switch]
    put = [Aim(f"{{thing}} {how} {{place}}", f"put {{thing}} {how} {{place}}", {"thing": things, "place": kept[how]})
           for how in ("in", "on")]  # fmt: skip
    return put + [
        Aim(
            f"{{place}} is {wanted}",
            f"{verb} {{place}}",
            {"place": doors if wanted in ("open", "closed") else switches},
        )
        for wanted, verb in _SWITCHED.items()
    ]


class _Ways:
    def __init__(self, house: House, state: State) -> None:
        self.house, self.state = house, state

    def of(self, fact: str) -> Iterator[Way]:
        verb, _, name = fact.partition(" ")
        if verb == "in" and name in self.house.room_of:
            yield Way(f"go to {name}", (), (fact, f"near {name}", f"at {name}"), _WALK)
        elif verb in ("near", "at") and name in self.house.index:
            fixture = self.house.fixtures[self.house.index[name]]
            at = (f"at {name}",) if fixture.furniture.holds else ()
            yield Way(f"go to {name}", (f"in {self.house.rooms[fixture.room].name}",), (f"near {name}", *at), _WALK)
        elif verb == "holding" and name in self.state.index:
            yield from self.taking(name, fact)
        elif fact == "hand free":
            for thing in (t for body in self.state.bodies[:1] for t in body.hands):
                yield from self.putting_away(self.state.name(thing))
        elif " is " in fact:
            yield from self.switching(fact)
        else:
            yield from self.putting(fact)

    def taking(self, name: str, fact: str) -> Iterator[Way]:
        place = self.state.place[self.state.index[name]]
        if place >= 0:
            yield Way(f"pick up {name}", ("hand free", *self.at(place, self.state.how[self.state.index[name]])),
                      (fact,), _HANDLE)  # fmt: skip

    def switching(self, fact: str) -> Iterator[Way]:
        name, _, wanted = fact.partition(" is ")
        place = self.house.index.get(name)
        if place is None or wanted not in _SWITCHED:
            return
        furniture = self.house.fixtures[place].furniture
        first = {"turned on": "closed", "open": "turned off"}.get(wanted) if furniture.guarded else None
        needs = [f"near {name}", *([f"{name} is {first}"] if first else []), *(["hand free"] * (wanted == "open"))]
        if furniture.opens if wanted in ("open", "closed") else furniture.switch:
            yield Way(f"{_SWITCHED[wanted]} {name}", needs, (fact, f"not {name} is {_DENIED[wanted]}"), _HANDLE)

    def putting(self, fact: str) -> Iterator[Way]:
        for how in ("on", "in"):
            thing, sign, holder = fact.partition(f" {how} ")
            place = self.house.index.get(holder)
            if sign and thing in self.state.index and place is not None:
                brings = (fact, f"not holding {thing}", "hand free")
                yield Way(f"put down {thing}", (f"holding {thing}", *self.target(place, how)), brings, _HANDLE)

    def putting_away(self, thing: str) -> Iterator[Way]:
        """Onto whatever is open to all, so that a hand is free."""
        for fixture in self.house.fixtures:
            if fixture.furniture.holds_on:
                needs = (f"holding {thing}", f"at {fixture.name}")
                yield Way(f"put down {thing}", needs, ("hand free", f"not holding {thing}"), _HANDLE)
                return

    def at(self, place: int, how: str) -> tuple[str, ...]:
        fixture = self.house.fixtures[place]
        inside = how == "in" and fixture.furniture.opens
        return (f"near {fixture.name}", *([f"{fixture.name} is open"] if inside else []))

    def target(self, place: int, how: str) -> tuple[str, ...]:
        """What is put down goes to the furniture gone to last; into it where it has a door that is open."""
        fixture = self.house.fixtures[place]
        doored = fixture.furniture.opens and fixture.furniture.holds_in
        door = [f"{fixture.name} is {'open' if how == 'in' else 'closed'}"] if doored else []
        return (f"at {fixture.name}", *door)
