"""The oracle of a house with rules. It follows the rules that it is told; otherwise it learns them from refusals."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bt_envs.house.chores import heard
from bt_envs.house.expert import Acts, Expert
from bt_envs.house.goals import Condition
from bt_envs.house.notes import is_a
from bt_envs.house.rules import PROCESSES, Rule, Rules

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
    goal: str = ""  # goal in words: it may say where the thing is
    running: set[str] = field(default_factory=set)  # appliances that it has turned on

    def run(self) -> Acts:
        known = heard(self.goal)
        if known:
            self.notes.saw[known[0]] = (known[1], known[2])
        return (yield from Expert.run(self))

    def _bring(self, wanted: Condition) -> Acts:
        if not wanted.state:
            return (yield from Expert._bring(self, wanted))
        found = yield from self._find(wanted.thing)
        return found and (yield from self._treat(wanted)) and (yield from self._put(wanted))

    # heat, cool, clean ---------------------------------------------------------------------------

    def _treat(self, wanted: Condition) -> Acts:
        name, process = next((n for n in self.notes.held if is_a(n, wanted.thing)), ""), _process(wanted)
        rule = self._rules.of.get(process)
        if self.told and rule is not None:
            return (yield from self._use(process, rule, name))
        return (yield from self._find_out(process, name))

    @property
    def _rules(self) -> Rules:
        return self.world.rules or Rules({})

    def _use(self, process: str, rule: Rule, name: str) -> Acts:
        """Uses an appliance as the rule requires: places the thing, sets door and power, then runs the process."""
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

    def _take_back(self, name: str, place: str) -> Acts:
        if name not in self.notes.held:
            yield from self._make(place, "open")
            yield from self._act("pick up", name)
        return True

    def _make(self, name: str, state: str) -> Acts:
        """Makes an appliance open, closed, on or off, unless its known state is right already."""
        before = self.notes.place
        if state in ("open", "closed"):
            so = self.notes.open.get(name, state == "open") == (state == "open")
        else:
            so = (name in self.running) == (state == "turned on")
        if so:
            return True
        if state == "open" and name in self.running and self.told and name.rpartition(" ")[0] in self._rules.guarded:
            yield from self._make(name, "turned off")
        if name != before and name not in self.notes.sight:
            yield from self._go(name)
        yield from self._act(_VERB[state], name)
        if state == "open" and not self.world.last.ok and name in self.running:
            yield from self._make(name, "turned off")
            yield from self._act(_VERB[state], name)
        if self.world.last.ok and state.startswith("turned"):
            (self.running.add if state == "turned on" else self.running.discard)(name)
        if self.notes.place != before:
            yield from self._go(before)
        return True

    def _switch(self, tap: str) -> str:
        found = self.notes.where_is(tap)
        return found[0] if found else f"{tap} 1"

    # finding out ---------------------------------------------------------------------------------

    def _find_out(self, process: str, name: str) -> Acts:
        """Tries one appliance after the other; for the first suitable one, finds out how the house wants it used."""
        tried: list[str] = []
        while (yield from self._next(process, name, tried)):
            yield from self._act(process, f"{name} with {self.notes.place}")
            if not _USELESS.match(self.world.last.text):
                return (yield from self._find_way(process, name, self.notes.place))
        return False

    def _next(self, process: str, name: str, tried: list[str]) -> Acts:
        """Goes to the most likely appliance that was seen and not tried. Without such an appliance, explores the
        next room first."""
        appliances = self.world.rulebook.appliances[process]
        while not (seen := [kind for kind in appliances if kind not in tried and self.notes.where_is(kind)]):
            room = next((room for room in self._rooms_for() if room not in self.notes.fixtures), None)
            if room is None:
                return False
            yield from self._be_in(room)
        tried.append(seen[0])
        return (yield from self._reach(seen[0]))

    def _find_way(self, process: str, name: str, place: str) -> Acts:
        kind, tap = place.rpartition(" ")[0], ""
        for _ in range(_TRIES):
            if self.world.last.ok:
                return (yield from self._take_back(name, place))
            refused = self.world.last.text
            so = _IS_SO.match(refused)
            if _OUTSIDE.match(refused):
                yield from self._make(place, "open")
                yield from self._act("put down", name)
            elif _NOT_HELD.match(refused):
                yield from self._take_back(name, place)
            elif so:
                wrong, state = so["kind"], _OTHER[so["state"]]
                tap = wrong if wrong != kind else tap
                yield from self._make(self._switch(wrong) if wrong != kind else place, state)
            else:
                return False
            yield from self._act(process, f"{name} with {place}")
        return False


def _process(wanted: Condition) -> str:
    return next(process for process, what in PROCESSES.items() if what.makes == wanted.state)
