"""Implements the acts of a body in a house. An act either changes the state and reports the change, or leaves the
state and reports why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bt_envs.house.catalogue import Catalogue, Furniture
from bt_envs.house.layout import House
from bt_envs.house.rules import PROCESSES, Rules
from bt_envs.house.sight import arrival, glance, held, near
from bt_envs.house.speech import HEADS, Group, Said
from bt_envs.house.state import HANDS, Body, State

_NUMBERED = re.compile(r"(.+?) \(?(\d{1,4})\)?")


class Reply(NamedTuple):
    said: Said
    ok: bool = True
    detailed: str = ""  # a refusal in the words of AutoPlan's table, where they are others


class RefusedAct(Exception):
    """Raised inside an act that cannot be done; `reply` says why not."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.said.text)
        self.reply = reply


@dataclass(slots=True)
class Doer:
    """A body in a house that carries out acts."""

    house: House
    catalogue: Catalogue
    state: State
    who: int
    rules: Rules | None = None  # those of the house, where it has any

    @property
    def body(self) -> Body:
        return self.state.bodies[self.who]

    # go ------------------------------------------------------------------------------------------

    def go_to(self, name: str) -> Reply:
        house, body = self.house, self.body
        room = house.room_of.get(name)
        if room is not None:
            body.room, body.at, body.seat = room, None, None
            return Reply(glance(house, self.state, body, "room"))
        place = house.index.get(name)
        if place is not None and house.fixtures[place].room == body.room:
            body.at, body.seat = place, None
            furniture = house.fixtures[place].furniture
            if furniture.holds:
                body.target = place
            is_open = place in self.state.open if furniture.opens else None
            return Reply(arrival(house, self.state, body, name, is_open))
        thing = self.state.index.get(name)
        if thing is not None and self._lies_here(thing):
            return self._go_to_thing(thing)
        return self._nowhere(name)

    def _lies_here(self, thing: int) -> bool:
        """Returns True for a visible thing in the body's room, or in its hand."""
        place = self.state.place[thing]
        if place < 0:
            return thing in self.body.hands
        return self.house.fixtures[place].room == self.body.room and not self.state.hidden(self.house, thing)

    def _go_to_thing(self, thing: int) -> Reply:
        place, body = self.state.place[thing], self.body
        if place >= 0:
            body.at, body.seat = place, None
            if self.house.fixtures[place].furniture.holds:
                body.target = place
        kind = self.state.kinds[thing]
        opens = kind in self.catalogue.things and self.catalogue.things[kind].opens
        is_open = thing in self.state.open_things if opens else None
        return Reply(arrival(self.house, self.state, body, self.state.name(thing), is_open))

    def _nowhere(self, name: str) -> Reply:
        kind = _NUMBERED.fullmatch(name)
        if kind is None:
            return self._unnumbered(name)
        if kind[1] in self.catalogue.rooms or kind[1] in {r.kind for r in self.house.rooms}:
            return self.refuse(f"There is no {name} in this house.")
        return self.refuse(f"You see no {name} here.")

    # take and put --------------------------------------------------------------------------------

    def pick_up(self, name: str) -> Reply:
        state, body = self.state, self.body
        thing = state.index.get(name)
        if thing is not None and thing in body.hands:
            return self.refuse(f"You already hold the {state.kinds[thing]}.")
        if thing is not None and thing in state.in_sight(self.house, body):
            if len(body.hands) >= HANDS:
                return self.refuse_with("no hand", f"You cannot hold more than {HANDS} things.")
            state.take(thing, self.who)
            if self.rules:
                state.handled.add(thing)
            return self.done("pick up", t=state.kinds[thing])
        place = self.house.index.get(name)
        if place is not None and place in state.in_reach(self.house, body):
            return self.refuse(f"The {self.house.fixtures[place].furniture.name} cannot be picked up.")
        return self.far(name)

    def put_down(self, name: str) -> Reply:
        state, body = self.state, self.body
        thing = state.index.get(name)
        if thing is None or thing not in body.hands:
            kind = _NUMBERED.fullmatch(name)
            return self.not_held(name) if kind else self._unnumbered(name)
        if body.target is None:
            return self.refuse(f"You have gone to no place yet where the {state.kinds[thing]} could be put.")
        furniture = self.house.fixtures[body.target].furniture
        if body.target not in state.in_reach(self.house, body):
            return self.far(self.house.fixtures[body.target].name)
        how = self._way_in(furniture, body.target)
        if how is None:
            return self.is_so("is closed", self.house.fixtures[body.target].name)
        state.put(thing, self.who, body.target, how)
        return self.done(f"put {how}", t=state.kinds[thing], p=furniture.name)

    def _way_in(self, furniture: Furniture, place: int) -> str | None:
        """Returns "in" for open or doorless furniture, otherwise "on"; None when neither is possible."""
        if furniture.holds_in and (not furniture.opens or place in self.state.open):
            return "in"
        return "on" if furniture.holds_on else None

    # doors and switches --------------------------------------------------------------------------

    def open(self, name: str) -> Reply:
        kind, place, thing = self._reach(name)
        if not (self._opens(kind)):
            return self.refuse(f"The {kind} cannot be opened.")
        opened, key = (self.state.open, place) if thing is None else (self.state.open_things, thing)
        if key in opened:
            return self.refuse_with("already", f"{name} is already open.", t=kind, state="open")
        if len(self.body.hands) >= HANDS:
            full = self.done("no hand", near(self.house, self.state, self.body))
            return full._replace(said=full.said._replace(text=HEADS["no hand"]), ok=False)
        if thing is None and place in self.state.running and self.guarded(kind):
            return self.is_so("is on", name)
        opened.add(key)
        if thing is None:
            self._change(place, "open")
        return self.done("open", near(self.house, self.state, self.body), t=kind)

    def close(self, name: str) -> Reply:
        kind, place, thing = self._reach(name)
        if not self._opens(kind):
            return self.refuse(f"The {kind} cannot be closed.")
        opened, key = (self.state.open, place) if thing is None else (self.state.open_things, thing)
        if key not in opened:
            return self.refuse_with("already", f"{name} is already closed.", t=kind, state="closed")
        opened.discard(key)
        if thing is None:
            self._change(place, "close")
        return self.done("close", t=kind)

    def turn_on(self, name: str) -> Reply:
        kind, place = self._switch(name, "on")
        if place in self.state.running:
            return self.refuse_with("already", f"{name} is already turned on.", t=kind, state="turned on")
        if self.guarded(kind) and place in self.state.open:
            return self.is_so("is open", name)
        self.state.running.add(place)
        self._change(place, "turn on")
        return self.done("turn on", t=kind)

    def turn_off(self, name: str) -> Reply:
        kind, place = self._switch(name, "off")
        if place not in self.state.running:
            return self.refuse_with("already", f"{name} is already turned off.", t=kind, state="turned off")
        self.state.running.discard(place)
        self._change(place, "turn off")
        return self.done("turn off", t=kind)

    def sit_on(self, name: str) -> Reply:
        kind, place, thing = self._reach(name)
        if thing is not None or not self.house.fixtures[place].furniture.holds_on:
            return self.refuse(f"Nobody can sit on the {kind}.")
        self.body.seat = place
        return self.done("sit", t=kind)

    def _switch(self, name: str, way: str) -> tuple[str, int]:
        kind, place, thing = self._reach(name)
        if thing is not None or not self.house.fixtures[place].furniture.switch:
            raise RefusedAct(self.refuse(f"The {kind} cannot be turned {way}."))
        return kind, place

    def _reach(self, name: str) -> tuple[str, int, int | None]:
        """Returns (class, fixture, None) for a fixture in reach or (class, place, thing) for a thing in sight. Raises
        RefusedAct for anything else."""
        place = self.house.index.get(name)
        if place is not None and place in self.state.in_reach(self.house, self.body):
            return self.house.fixtures[place].furniture.name, place, None
        thing = self.state.index.get(name)
        if thing is not None and thing in self.state.in_sight(self.house, self.body):
            return self.state.kinds[thing], self.state.place[thing], thing
        raise RefusedAct(self.far(name))

    def _opens(self, kind: str) -> bool:
        known = self.catalogue.furniture.get(kind) or self.catalogue.things.get(kind)
        return known is not None and known.opens

    def guarded(self, kind: str) -> bool:
        """Opens only when off, and starts only when shut."""
        if self.rules:
            return kind in self.rules.guarded
        return kind in self.catalogue.furniture and self.catalogue.furniture[kind].guarded

    def _change(self, place: int, when: str) -> None:
        """Applies the appliance's change to the things inside, if `when` is the appliance's trigger."""
        change = self.catalogue.changes.get(self.house.fixtures[place].furniture.name)
        if self.rules or change is None or change.when != when:
            return
        for thing in self.state.contents[place]:
            if self.state.how[thing] == "in":
                states = self.state.made.setdefault(thing, set())
                states.discard(change.ends)
                states.add(change.makes)

    def done(self, head: str, seen: tuple[Group, ...] | None = None, **slots: str) -> Reply:
        return Reply(Said(head, slots, seen, held(self.state, self.body)))

    # refusals -------------------------------------------------------------------------------------

    def refuse(self, text: str) -> Reply:
        return Reply(Said("refused", {}, None, held(self.state, self.body), text), False)

    def refuse_with(self, head: str, detailed: str, **slots: str) -> Reply:
        said = Said(head, slots, None, held(self.state, self.body), HEADS[head].format(**slots))
        return Reply(said, False, detailed)

    def is_so(self, head: str, name: str) -> Reply:
        """Tests a state such as `is closed` or `is on`, and gives the reason when it is false."""
        kind = name.rpartition(" ")[0]
        return self.refuse_with(head, HEADS[head].format(t=name).removeprefix("The "), t=kind)

    def not_held(self, name: str) -> Reply:
        return self.refuse_with("not held", f"You are not carrying {name}.", t=name.rpartition(" ")[0])

    def far(self, name: str) -> Reply:
        if not _NUMBERED.fullmatch(name):
            return self._unnumbered(name)
        if name in self.house.index:
            detailed = f"You are not at {name}."
        elif name in self.state.index:
            detailed = f"You see no {name} here."
        else:
            detailed = f"{name} is a room." if name in self.house.room_of else f"There is no {name} in this house."
        return self.refuse_with("not close", detailed, t=name.rpartition(" ")[0])

    def _unnumbered(self, name: str) -> Reply:
        known = {*self.catalogue.furniture, *self.catalogue.things, *(r.kind for r in self.house.rooms)}
        if name in known:
            return self.refuse(f"You miss the index of {name}, e.g., {name} 1.")
        return self.refuse(f"There is no {name} in this house." if name else "Say what to do it with.")


VERBS: Mapping[str, Callable[[Doer, str], Reply]] = {
    "go to": Doer.go_to,
    "pick up": Doer.pick_up,
    "put down": Doer.put_down,
    "open": Doer.open,
    "close": Doer.close,
    "turn on": Doer.turn_on,
    "turn off": Doer.turn_off,
    "sit on": Doer.sit_on,
}
SYNONYMS = {"switch on": "turn on", "switch off": "turn off"}
_SENTENCE = re.compile(rf"({'|'.join([*VERBS, *SYNONYMS, *PROCESSES])})(?: +(.*))?")


def split(sentence: str) -> tuple[str, str] | None:
    """Splits a sentence: `go to fridge (1).` → ("go to", "fridge 1"); None for an unknown verb."""
    found = _SENTENCE.fullmatch(" ".join(sentence.split()).rstrip("."))
    if found is None:
        return None
    names = (found[2] or "").split(" with ", 1) if found[1] in PROCESSES else [found[2] or ""]
    return SYNONYMS.get(found[1], found[1]), " with ".join(map(_plain, names))


def _plain(name: str) -> str:
    name = name.removeprefix("the ")
    numbered = _NUMBERED.fullmatch(name)
    return f"{numbered[1]} {int(numbered[2])}" if numbered else name
