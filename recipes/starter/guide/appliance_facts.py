"""What is known of heating, cooling or cleaning in one house, and the lines in which a plan says it: one fact a line.

Whoever follows a plan, reflects on it or rewrites it uses the same few sentences, so that each can be copied from where
it was said before. `It` is the appliance that the line before has named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bt_envs.house.rules import PROCESSES, Rules

FIND, BRING = "Find the thing and pick it up.", "Bring the thing to its place."
TRY = "Try another one."
SLOTS = ("thing", "door", "power", "guard")  # how an appliance is used, in the order in which the world looks at it
_STEP = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Known:
    """Empty where nothing is known."""

    useless: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()  # nothing happened with these, and nobody said why
    use: str = ""  # the appliance
    thing: str = ""  # held, inside
    door: str = ""  # open, closed
    power: str = ""  # turned on, turned off
    tap: str = ""  # what is turned on instead of the appliance
    guard: str = ""  # "guarded": opens only when turned off

    def ways(self) -> tuple[str, ...]:
        """How it is used, in single words."""
        power = f"{self.tap} {self.power}" if self.tap and self.power else self.power
        return tuple(word for word in (self.thing, self.door, power) if word)

    def without(self, place: str) -> Known:
        """That place was of no use: what was believed of it falls too."""
        useless = (*self.useless, *([] if place in self.useless else [place]))
        return Known(useless, self.idle) if self.use == place else replace(self, useless=useless)

    def tried(self, place: str) -> Known:
        """Nothing happened with that place."""
        idle = (*self.idle, *([] if place in self.idle else [place]))
        return Known(self.useless, idle) if self.use == place else replace(self, idle=idle)

    def using(self, place: str) -> Known:
        if self.use == place:
            return self
        return Known(tuple(name for name in self.useless if name != place), self.idle, place)

    def merged(self, newer: Known) -> Known:
        """What was seen goes before what was believed."""
        found = self
        for place in newer.useless:
            found = found.without(place)
        for place in newer.idle:
            found = found.tried(place)
        if newer.use:
            found = found.using(newer.use)
            slots: dict[str, Any] = {slot: getattr(newer, slot) for slot in (*SLOTS, "tap") if getattr(newer, slot)}
            found = replace(found, **slots)
        return found


def useless(process: str, place: str) -> str:
    return f"The {place} does not {process}."


def idle(place: str) -> str:
    return f"Nothing happens with the {place}."


def way(process: str, known: Known) -> list[str]:
    """The way to do it, as far as it is known; nothing without the appliance."""
    if not known.use:
        return []
    said = [f"{process.capitalize()} with the {known.use}."]
    if known.thing:
        said.append("Put the thing in it." if known.thing == "inside" else "Hold the thing.")
    if known.door:
        said.append(f"It must be {known.door}.")
    if known.power:
        said.append(f"{f'The {known.tap}' if known.tap else 'It'} must be {known.power}.")
    if known.guard:
        said.append("It opens only when turned off.")
    return said


def line(process: str, known: Known, slot: str) -> str:
    """The one that tells this slot."""
    return next(said for said in way(process, known) if slot in heard(process, said, Known())[1])


def in_words(known: Known, words: Iterable[str]) -> Known:
    """`known` with the ways that single words tell: what `ways` gave."""
    for word in words:
        tap, sign, power = word.rpartition("turned ")
        if sign:
            known = replace(known, power=f"turned {power}", tap=tap.strip())
        elif word in ("held", "inside"):
            known = replace(known, thing=word)
        else:
            known = replace(known, door=word)
    return known


def sentences(process: str, known: Known) -> list[str]:
    """All that matters: what is of no use matters only until it is known what is."""
    vain = [*(useless(process, place) for place in known.useless), *map(idle, known.idle)]
    return way(process, known) or vain


def plan(process: str, known: Known) -> str:
    """Numbered lines; nothing while nothing is known."""
    told = sentences(process, known)
    if not told:
        return ""
    lines = [FIND, *told, *([] if known.use else [TRY]), BRING]
    return numbered(lines)


def numbered(lines: Iterable[str]) -> str:
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def steps(text: str) -> list[tuple[str, str]]:
    """(number, line) of each step of a plan."""
    return [(number, line) for number, line in _STEP.findall(text)]


# Reading -----------------------------------------------------------------------------------------

_VERBS, _DOES, _DOING = (
    "|".join(words)
    for words in (PROCESSES, (p.does for p in PROCESSES.values()), (p.doing for p in PROCESSES.values()))
)
_PLACE = r"(?P<place>[a-z][a-z ]*?)"
_FORMS: tuple[tuple[str, str], ...] = (  # (what it tells, how it may be said); the first wording is ours
    ("useless", rf"The {_PLACE} does not (?P<verb>{_VERBS})\."),
    ("useless", rf"Do not (?P<verb>{_VERBS}) with the {_PLACE}\."),
    ("useless", rf"The {_PLACE} cannot be used for (?P<doing>{_DOING})\."),
    ("idle", rf"Nothing happens with the {_PLACE}\."),
    ("all", rf"The {_PLACE} (?P<does>{_DOES}) what (?P<what>is inside|you hold)(?:, when (?P<when>.+))?\."),
    ("use", rf"(?P<verb>{_VERBS.title()}) with the {_PLACE}\."),
    ("use", rf"Use the {_PLACE} for (?P<doing>{_DOING})\."),
    ("use", rf"What (?P<does>{_DOES}) is the {_PLACE}\."),
    ("held", r"Hold the thing\.|Keep the thing in your hand\.|The thing stays in your hand\."),
    ("inside", r"Put the thing in it\.|The thing goes into it\.|Lay the thing inside\."),
    ("door", r"It must be (?P<door>open|closed)\.|See that it is (?P<door2>open|closed)\."),
    ("power", r"(?:It|The (?P<tap>[a-z]+)) must be (?P<power>turned on|turned off)\."),
    ("power", r"See that (?:it|the (?P<tap>[a-z]+)) is (?P<power>turned on|turned off)\."),
    ("guard", r"It opens only when turned off\.|Turn it off before you open it\."),
)
_READ = tuple((what, re.compile(form)) for what, form in _FORMS)
_SO = re.compile(
    r"(?P<door>open|closed)|the (?P<tap>[a-z]+) is (?P<tapped>turned on|turned off)|(?P<power>turned o[nf]+)"
)


def heard(process: str, line: str, known: Known) -> tuple[Known, tuple[str, ...]]:
    """`known` with what a sentence tells of this process, and the slots that it fills."""
    for what, form in _READ:
        found = form.fullmatch(line)
        if found:
            return _told(process, what, {k: v for k, v in found.groupdict().items() if v}, known)
    return known, ()


def _told(process: str, what: str, said: dict[str, str], known: Known) -> tuple[Known, tuple[str, ...]]:
    about = PROCESSES[process]
    named = (said.get("verb", "").lower(), said.get("does", ""), said.get("doing", ""))
    if any(named) and not {process, about.does, about.doing} & set(named):
        return known, ()  # it is about something else
    if what == "useless":
        return known.without(said["place"]), (f"useless {said['place']}",)
    if what == "idle":
        return known.tried(said["place"]), (f"idle {said['place']}",)
    if what in ("use", "all"):
        found, slots = known.using(said["place"]), ["use"]
        if what == "all":
            found, slots = replace(found, thing="inside" if said["what"] == "is inside" else "held"), ["use", "thing"]
            for so in _SO.finditer(said.get("when", "")):
                found, slot = _so(so, found)
                slots.append(slot)
        return found, tuple(slots)
    if what in ("held", "inside"):
        return replace(known, thing=what), ("thing",)
    if what == "door":
        return replace(known, door=said.get("door") or said["door2"]), ("door",)
    if what == "power":
        return replace(known, power=said["power"], tap=said.get("tap", "")), ("power",)
    return replace(known, guard="guarded"), ("guard",)


def _so(so: re.Match[str], known: Known) -> tuple[Known, str]:
    if so["door"]:
        return replace(known, door=so["door"]), "door"
    return replace(known, power=so["tapped"] or so["power"], tap=so["tap"] or ""), "power"


class Guide:
    """A plan that was read: what it tells, and in which step."""

    def __init__(self, process: str, text: str) -> None:
        self.text, self.known = text, Known()
        self.step: dict[str, str] = {}  # by slot: the step that tells it, as it is said
        self.number: dict[str, str] = {}
        for number, line in steps(text):
            self.known, slots = heard(process, line, self.known)
            said = dict.fromkeys(slots or _fixed(line), f"Step {number}: {line}")
            self.step |= said
            self.number |= dict.fromkeys(said, number)


def _fixed(line: str) -> Iterator[str]:
    if "pick" in line.lower():
        yield "find"
    elif line.startswith(("Bring ", "Carry ", "Then put ")):
        yield "bring"
    elif line.startswith("Try "):
        yield "try"


def read(process: str, said: Sequence[str]) -> Known:
    """What sentences tell, one after the other."""
    known = Known()
    for line in said:
        known, _ = heard(process, line, known)
    return known


def split(text: str) -> list[str]:
    """`Heat with the stove. Hold the thing.` → its sentences."""
    return [f"{part.strip()}." for part in text.split(".") if part.strip()]


def of(process: str, rules: Rules) -> Known:
    """Everything that is to be known of it in a house."""
    rule = rules.of[process]
    tap = rule.tap if rule.way.power else ""
    guard = "guarded" if rule.place in rules.guarded else ""
    return Known((), (), rule.place, rule.way.thing, rule.way.door, rule.way.power, tap, guard)
