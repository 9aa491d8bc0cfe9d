"""The oracle of a house with rules: told what they are, it keeps to them; not told, it finds them out by being refused,
and then says what it has found in the very words in which it might have been told."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial

from bt_runtime.envs.house.chores import heard
from bt_runtime.envs.house.expert import Expert
from bt_runtime.envs.house.goals import Condition
from bt_runtime.envs.house.notes import is_a
from bt_runtime.envs.house.rules import PROCESSES, Rule, Rules, Way, describe, sentence
from bt_runtime.envs.trajectory import Expand, Moves, Think

_TRIES = 8  # a rule has three parts, and a door that is guarded costs one more
_USELESS = re.compile(r"(?:The )?.+ cannot be used for \w+\.")
_OUTSIDE = re.compile(r"(?:The )?.+ is not in .+\.")
_NOT_HELD = re.compile(r"You (?:do not grab|are not carrying) .+\.")
_IS_SO = re.compile(r"(?:The )?(?P<kind>[a-z ]+?)(?: \d+)? is (?P<state>open|closed|turned on|turned off)\.")
_OTHER = {"open": "closed", "closed": "open", "turned on": "turned off", "turned off": "turned on"}
_VERB = {"open": "open", "closed": "close", "turned on": "turn on", "turned off": "turn off"}


@dataclass(slots=True)
class Steward(Expert):
    told: bool = True  # knows the rules from the start
    goal: str = ""  # in words: it may say where the thing is
    running: set[str] = field(default_factory=set)  # what it has turned on

    def run(self) -> Moves:
        known = heard(self.goal) if self.form == "react" else None  # a node of a tree is told a goal of its own
        if known:
            self.notes.saw[known[0]] = (known[1], known[2])
        return (yield from _without_silence(Expert.run(self)))

    def _wording(self, wanted: Condition, which: str) -> str:
        if not wanted.state:
            return Expert._wording(self, wanted, which)
        return f"find {which} {wanted.thing}, {_process(wanted)} it and put it {wanted.relation} the {wanted.place}"

    def _bring(self, wanted: Condition) -> Moves:
        if not wanted.state:
            return (yield from Expert._bring(self, wanted))
        first = f"find and pick up the {wanted.thing}"
        second = f"{_process(wanted)} the {wanted.thing}"
        third = f"find the {wanted.place} and put down the {wanted.thing}"
        if self.form == "reactree":
            yield self._think("steps", first=first, second=f"{second} and {third}")
            yield Expand("sequence", (first, second, third))
        if not (yield from self._node(first, partial(self._find, wanted.thing))):
            return False
        if not (yield from self._node(second, partial(self._treat, wanted))):
            return False
        return (yield from self._node(third, partial(self._put, wanted)))

    # heat, cool, clean ---------------------------------------------------------------------------

    def _treat(self, wanted: Condition) -> Moves:
        name, process = next((n for n in self.notes.held if is_a(n, wanted.thing)), ""), _process(wanted)
        rule = self._rules.of.get(process)
        if self.told and rule is not None:
            done = yield from self._use(process, rule, name)
        else:
            done = yield from self._find_out(process, name)
        if done and self.form == "reactree":
            yield self._think("done")
        return done

    @property
    def _rules(self) -> Rules:
        return self.world.rules or Rules({})

    def _use(self, process: str, rule: Rule, name: str) -> Moves:
        """As the rule says: the thing, the door, the power, and then what it is for."""
        yield self._think("rule", rule=sentence(process, rule))
        if not (yield from self._reach(rule.place)):
            return False
        place = self.notes.place
        if rule.way.thing == "inside":
            yield from self._make(place, "open")
            yield from self._act("put down", name)
        for state in (rule.way.door, rule.way.power):
            if state:
                yield from self._make(self._switch(rule.tap) if rule.tap and state == rule.way.power else place, state)
        yield from self._act(process, f"{name} with {place}")
        return self.world.last.ok and (yield from self._take_back(name, place))

    def _take_back(self, name: str, place: str) -> Moves:
        if name not in self.notes.held:
            yield from self._make(place, "open")
            yield from self._act("pick up", name)
        return True

    def _make(self, name: str, state: str) -> Moves:
        """Open, closed, turned on or off, if it is not so by what was read and done."""
        before = self.notes.place
        if state in ("open", "closed"):
            so = self.notes.open.get(name, state == "open") == (state == "open")
        else:
            so = (name in self.running) == (state == "turned on")
        if so:
            return True
        if state == "open" and name in self.running and self.told and name.rpartition(" ")[0] in self._rules.guarded:
            yield from self._guarded(name)
        if name != before and name not in self.notes.sight:
            yield from self._go(name)
        yield from self._act(_VERB[state], name)
        if state == "open" and not self.world.last.ok and name in self.running:
            yield from self._guarded(name)
            yield from self._act(_VERB[state], name)
        if self.world.last.ok and state.startswith("turned"):
            (self.running.add if state == "turned on" else self.running.discard)(name)
        if self.notes.place != before:
            yield from self._go(before)
        return True

    def _guarded(self, name: str) -> Moves:
        yield self._think("rule", rule=describe(Rules({}, (name.rpartition(" ")[0],)))[0])
        return (yield from self._make(name, "turned off"))

    def _switch(self, tap: str) -> str:
        found = self.notes.where_is(tap)
        return found[0] if found else f"{tap} 1"

    # finding out ---------------------------------------------------------------------------------

    def _find_out(self, process: str, name: str) -> Moves:
        """One appliance after the other, then what is wrong with how it is used."""
        tried: list[str] = []
        while (yield from self._next(process, name, tried)):
            yield from self._act(process, f"{name} with {self.notes.place}")
            if not _USELESS.match(self.world.last.text):
                return (yield from self._find_way(process, name, self.notes.place))
        return False

    def _next(self, process: str, name: str, tried: list[str]) -> Moves:
        """Go to the likeliest appliance that was seen and not tried, into the next room when there is none."""
        appliances = self.world.rulebook.appliances[process]
        while not (seen := [kind for kind in appliances if kind not in tried and self.notes.where_is(kind)]):
            room = next((room for room in self._rooms_for() if room not in self.notes.fixtures), None)
            if room is None:
                return False
            yield self._think("explore", process=process, thing=name.rpartition(" ")[0], room=room)
            yield from self._be_in(room)
        if tried:
            yield self._think("next", wrong=tried[-1], place=seen[0])
        else:
            yield self._think("try", does=PROCESSES[process].does, place=seen[0])
        tried.append(seen[0])
        return (yield from self._reach(seen[0]))

    def _find_way(self, process: str, name: str, place: str) -> Moves:
        kind, tap = place.rpartition(" ")[0], ""
        for _ in range(_TRIES):
            if self.world.last.ok:
                yield self._think("rule", rule=sentence(process, self._rule_now(name, place, tap)))
                return (yield from self._take_back(name, place))
            refused = self.world.last.text
            so = _IS_SO.match(refused)
            if _OUTSIDE.match(refused):
                yield self._think("inside", thing=name.rpartition(" ")[0], place=kind)
                yield from self._make(place, "open")
                yield from self._act("put down", name)
            elif _NOT_HELD.match(refused):
                yield self._think("held", thing=name.rpartition(" ")[0])
                yield from self._take_back(name, place)
            elif so:
                wrong, state = so["kind"], _OTHER[so["state"]]
                tap = wrong if wrong != kind else tap
                yield self._think("so", place=wrong, state=state)
                yield from self._make(self._switch(wrong) if wrong != kind else place, state)
            else:
                return False
            yield from self._act(process, f"{name} with {place}")
        return False

    def _rule_now(self, name: str, place: str, tap: str) -> Rule:
        """How things stand now that it has come out."""
        kind = place.rpartition(" ")[0]
        furniture, taps = self.world.catalogue.furniture[kind], self.world.rulebook.taps
        door = "" if not furniture.opens else "open" if self.notes.open.get(place) else "closed"
        tap = tap or taps.get(kind, "")
        switch = self._switch(tap) if tap else place if furniture.switch else ""
        power = "" if not switch else "turned on" if switch in self.running else "turned off"
        return Rule(kind, Way("held" if name in self.notes.held else "inside", door, power), tap)


def _without_silence(moves: Moves) -> Moves:
    """Leave out the thoughts that have no words."""
    while True:
        try:
            move = next(moves)
        except StopIteration as end:
            return bool(end.value)
        if not (isinstance(move, Think) and not move.text):
            yield move


def _process(wanted: Condition) -> str:
    return next(process for process, what in PROCESSES.items() if what.makes == wanted.state)
