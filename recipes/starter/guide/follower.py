"""A teacher for the house with rules of its own: it follows the plan that its prompt shows, and what the world says.

It knows the rules through these two alone. What it finds out it thinks in the sentences of a plan, whole each time, so
that whoever reflects on the attempt finds them in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bt_envs.house.chores import heard
from bt_envs.house.notes import is_a
from bt_envs.house.rules import PROCESSES
from bt_envs.house.world import TERSE
from bt_runtime.agents.story import StoryStep
from recipes.starter.guide import appliance_facts as facts
from recipes.starter.guide.appliance_facts import BRING, FIND, Guide, Known
from recipes.starter.house.hands import content, home_of
from recipes.starter.house.teacher import Line, Node
from recipes.starter.policy import Policy
from recipes.starter.seen import Seen

_PLAN = re.compile(r"^A plan for tasks of this kind:\n((?:\d+\. .+\n)+)", re.MULTILINE)
TREAT = re.compile(rf"({'|'.join(PROCESSES)}) (?=.* \d+\Z)(.+ \d+) with ((.+) \d+)")
_USELESS = re.compile(r"(?:The )?.+ cannot be used for \w+\.")
_OUTSIDE = re.compile(r"(?:The )?.+ is not in .+\.")
_NOT_HELD = re.compile(r"You (?:do not grab|are not carrying) .+\.")
_IS_SO = re.compile(r"(?:The )?(?P<kind>[a-z ]+?)(?: \d+)? is (?P<state>open|closed|turned on|turned off)\.")
_OTHER = {"open": "closed", "closed": "open", "turned on": "turned off", "turned off": "turned on"}
_WORDS = {"heat": ("heat", "hot"), "cool": ("cool", "cold", "chill"), "clean": ("clean", "wash")}
_ASKED = {
    process: re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE) for process, words in _WORDS.items()
}  # fmt: skip


def answered(process: str, kind: str, answer: str) -> Known:
    """What the world tells when something is treated with a place of that kind."""
    if answer.startswith(f"You {process} "):
        return Known(use=kind)
    if answer.startswith(TERSE):
        return Known(idle=(kind,))
    if _USELESS.match(answer):
        return Known(useless=(kind,))
    if _OUTSIDE.match(answer) or _NOT_HELD.match(answer):
        return Known(use=kind, thing="inside" if _OUTSIDE.match(answer) else "held")
    so = _IS_SO.match(answer)
    if not so:
        return Known()
    state = _OTHER[so["state"]]
    if state in ("open", "closed"):
        return Known(use=kind, door=state)
    return Known(use=kind, power=state, tap=so["kind"] if so["kind"] != kind else "")


def teacher(seen: Seen, sentences: Sequence[str]) -> Line:
    return Follower(seen, sentences, False, {}).answer()


def process_of(goal: str) -> str:
    """What an instruction wants done to the thing."""
    return next((process for process, asked in _ASKED.items() if asked.search(goal)), "heat")


class Follower(Node):
    """Fetch, treat, bring; the middle part as the plan has it, else as the refusals do."""

    def _policy(self) -> Policy:
        self.rulebook = content().rulebook
        self.process = process_of(self.seen.goal)
        told = _PLAN.search(f"{self.seen.system}\n")
        self.guide = Guide(self.process, told[1] if told else "")
        self.known = self.guide.known
        self.pending = ""  # what was just found out and not been thought yet
        self.treated = False
        self.name = self.at = ""  # the thing, once it was held; the appliance it is treated with
        return self._chore()

    def _chore(self) -> Policy:
        errands = self._errands()
        if not errands:
            return False
        errand, hint = errands[0], heard(self.seen.goal)
        yield from self._announce("find", FIND)
        fetched = self._fetch_named(*hint) if hint else self._find("the", errand.thing, None)
        if not (yield from fetched):
            return False
        self.name = next(name for name in self.notes.held if is_a(name, errand.thing))
        if not (yield from self._treat()):
            return False
        yield from self._announce("bring", BRING)
        return (yield from self._put(errand.place, errand.thing, errand.way))

    def _fetch_named(self, name: str, place: str, room: str) -> Policy:
        """Where and what the instruction says."""
        while name not in self.notes.held:
            if self.notes.room != room:
                yield f"Act: go to {room}"
            elif self.notes.place != place:
                yield f"Act: go to {place}"
            elif name in self.notes.sight:
                yield f"Act: pick up {name}"
            elif self.notes.open.get(place) is False:
                yield f"Act: {self._opening(place)}"
            else:
                return False
        return True

    def _announce(self, slot: str, otherwise: str = "") -> Policy:
        """The step of the plan that one is at."""
        said = self.guide.step.get(slot, otherwise)
        if said:
            yield from self._think(said)
        return True

    # treat ---------------------------------------------------------------------------------------

    def _treat(self) -> Policy:
        """Until it is so, and in the hand again."""
        said: set[str] = set()  # steps that were announced
        while not (self.treated and self.name in self.notes.held and not self.pending):
            kind = self.known.use or self._candidate()
            if self.pending:
                yield from self._say_found()
            elif self.treated or ((lies := self._lies()) and not is_a(lies, kind)):
                yield f"Act: {self._take_back()}"
            elif not kind:
                room = next((r for r in self._rooms("kitchen") if r not in self.notes.fixtures), None)
                if room is None:
                    return False
                yield f"Act: go to {room}"
            elif (text := self._step_for(kind)) not in said:
                said.add(text)
                yield from self._think(text)
            elif not (place := self._appliance(kind)):
                if not (yield from self._reach(kind)):
                    self.known = self.known.without(kind)
            elif (text := self._step_now(place, said)) not in said:
                said.add(text)
                yield from self._think(text)
            else:
                yield f"Act: {self._next(place)}"
        return True

    def _step_for(self, kind: str) -> str:
        return self.guide.step.get("use", "") if kind == self.guide.known.use else f"I try the {kind}."

    def _step_now(self, place: str, said: set[str]) -> str:
        """The next line of the plan on how the appliance is used: each is thought before it is done."""
        for slot in ("thing", "door", "power") if self.known.use == self.guide.known.use else ():
            text = self.guide.step.get(slot, "")
            holds = getattr(self.known, slot) == getattr(self.guide.known, slot)
            if text and holds and (text not in said or not self._is_so(slot, place)):
                return text
        return next(iter(said))

    def _is_so(self, slot: str, place: str) -> bool:
        if slot == "thing":
            return self._lies() == ("" if self.known.thing == "held" else place)
        if slot == "door":
            return bool(self.notes.open.get(place)) == (self.known.door == "open")
        return self._runs(place) == (self.known.power == "turned on")

    def _lies(self) -> str:
        """Where the thing was put down; nowhere while it is held."""
        if self.name in self.notes.held:
            return ""
        return next((place for name, place in reversed(self.brought) if name == self.name), "")

    def _appliance(self, kind: str) -> str:
        """The one that one stands at, or has gone from to its tap."""
        if is_a(self.notes.place, kind):
            self.at = self.notes.place
        return self.at if self.notes.place in (self.at, *self._switches(self.at)) and is_a(self.at, kind) else ""

    def _next(self, place: str) -> str:
        """The next act with the appliance."""
        known, is_open, lies = self.known, self.notes.open.get(place), self._lies()
        if lies != (place if known.thing == "inside" else ""):
            if lies:
                return self._take_back()
            return self._at(place, self._opening(place) if is_open is False else f"put down {self.name}")
        if known.door == "open" and is_open is False:
            return self._at(place, self._opening(place))
        if known.door == "closed" and is_open:
            return self._at(place, f"close {place}")
        if known.power and not self._is_so("power", place) and not (known.guard and is_open):
            switch = self._switch(place, known.power)
            if switch and switch != place and switch not in self.notes.sight and self.notes.place != switch:
                return f"go to {switch}"
            if switch:
                return f"{known.power.replace('turned', 'turn')} {switch}"
        return self._at(place, f"{self.process} {self.name} with {place}")

    def _at(self, place: str, act: str) -> str:
        return act if self.notes.place == place else f"go to {place}"

    def _opening(self, place: str) -> str:
        return f"turn off {place}" if place in self.running and self.known.guard else f"open {place}"

    def _take_back(self) -> str:
        place = self._lies()
        found = self.notes.where_is(place)
        if found and found[1] != self.notes.room:
            return f"go to {found[1]}"
        if self.notes.place != place:
            return f"go to {place}"
        return self._opening(place) if self.notes.open.get(place) is False else f"pick up {self.name}"

    def _candidate(self) -> str:
        """The likeliest appliance that was seen and not tried."""
        likely = self.rulebook.appliances[self.process]
        vain = {*self.known.useless, *self.known.idle}
        return next((kind for kind in likely if kind not in vain and self.notes.where_is(kind)), "")

    def _switches(self, place: str) -> list[str]:
        kind = place.rpartition(" ")[0]
        tap = self.rulebook.taps.get(kind, "")
        if tap:
            return [name for name in self.notes.fixtures.get(self.notes.room, ()) if is_a(name, tap)]
        furniture = self.catalogue.furniture.get(kind)
        return [place] if furniture is not None and furniture.switch else []

    def _runs(self, place: str) -> bool:
        return any(switch in self.running for switch in self._switches(place))

    def _switch(self, place: str, power: str) -> str:
        """What is to be turned: a tap that is close by rather than another."""
        found = self._switches(place)
        if power == "turned off":
            return next((name for name in found if name in self.running), "")
        return next((name for name in found if name in self.notes.sight), found[0] if found else "")

    def _reach(self, kind: str) -> Policy:
        """Stand at a fixture of that kind: where one was seen, else room by room."""
        while not is_a(self.notes.place, kind):
            found = self.notes.where_is(kind)
            if found is None:
                rooms = self._rooms(home_of(kind))
                room = next((room for room in rooms if room not in self.notes.fixtures), None)
                if room is None:
                    return False
                yield f"Act: go to {room}"
            else:
                yield f"Act: go to {found[0] if found[1] == self.notes.room else found[1]}"
        return True

    # what the world says -------------------------------------------------------------------------

    def _say_found(self) -> Policy:
        text = self.pending
        yield from self._think(text)
        if self.pending == text:
            self.pending = ""
        return True

    def _note(self, step: StoryStep) -> None:
        super()._note(step)
        if step.move != "act":
            return
        treated = TREAT.fullmatch(step.text)
        if treated and treated[1] == self.process and treated[2] == self.name:
            self._learn(treated[3], step.observation)
        elif _IS_SO.match(step.observation) and _switched(step.text) == self.at and is_a(self.at, self.known.use):
            self._found(replace(self.known, guard="guarded"))

    def _learn(self, place: str, answer: str) -> None:
        """What came of an attempt to treat the thing with that place."""
        kind = place.rpartition(" ")[0]
        told = answered(self.process, kind, answer)
        if told.useless:
            self.known, self.pending = self.known.without(kind), facts.useless(self.process, kind)
        elif told.idle:
            self.known, self.pending = self.known.tried(kind), facts.idle(kind)
        elif told.use and not (told.thing or told.door or told.power):
            self.treated, self.at = True, place
            now = self._now(place, "power")
            if (now.use, now.ways()) != (self.guide.known.use, self.guide.known.ways()):
                self._found(now)
        elif told.use:
            before = "thing" if told.door else "door"  # the world has looked at these already
            self._found((self.known if told.thing else self._now(place, before)).merged(told))

    def _found(self, known: Known) -> None:
        self.known = known
        self.pending = " ".join(facts.way(self.process, known))

    def _now(self, place: str, last: str) -> Known:
        """As things stand, up to that slot: the world looks at thing, door and power in this order."""
        kind = place.rpartition(" ")[0]
        furniture, known = self.catalogue.furniture[kind], self.known.using(kind)
        known = replace(known, thing="held" if self.name in self.notes.held else "inside")
        if last != "thing" and furniture.opens:
            known = replace(known, door="open" if self.notes.open.get(place) else "closed")
        if last == "power" and self._switches(place):
            power = "turned on" if self._runs(place) else "turned off"
            known = replace(known, power=power, tap=self.rulebook.taps.get(kind, ""))
        return known


def _switched(sentence: str) -> str:
    """What was to be opened or turned on."""
    return next((sentence.removeprefix(verb) for verb in ("open ", "turn on ") if sentence.startswith(verb)), "")
