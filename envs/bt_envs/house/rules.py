"""House rules: the appliances that heat, cool and clean, how each is used, and furniture that opens only when turned
off."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

from bt_envs.house.catalogue import Catalogue, Furniture
from bt_envs.house.phrases import capital
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.shape import Schema, closed
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.skills.worlds.content import CODE, TEXT, TEXTS, by_name, check_of, texts
from bt_runtime.types import Json


class Process(NamedTuple):
    """A process that changes the state of a thing, such as heating."""

    makes: str
    ends: str
    does: str
    doing: str


PROCESSES: Mapping[str, Process] = {
    "heat": Process("hot", "cold", "heats", "heating"),
    "cool": Process("cold", "hot", "cools", "cooling"),
    "clean": Process("clean", "dirty", "cleans", "cleaning"),
}


class Way(NamedTuple):
    """A way to use an appliance. An empty field means that any state works, or that it has no door or switch."""

    thing: str  # "inside" or "held"
    door: str = ""  # "open" or "closed"
    power: str = ""  # "turned on" or "turned off"


class Rule(NamedTuple):
    place: str  # a class of furniture
    way: Way
    tap: str = ""  # thing turned on and off in place of the appliance


class Rules(NamedTuple):
    """The special rules of one house."""

    of: Mapping[str, Rule]  # heat, cool, clean
    guarded: tuple[str, ...] = ()  # opens only when turned off, and starts only when closed


_WORDS = {"thing": ("inside", "held"), "door": ("open", "closed"), "power": ("turned on", "turned off")}

_RULE: Schema = {
    "type": "object",
    "$comment": "a rule",
    **closed({"with": TEXT, **{part: {"enum": list(said)} for part, said in _WORDS.items()}}, ("with", "thing")),
}
_RULES: Schema = {
    "type": "object", "$comment": "house rules", **closed({**dict.fromkeys(PROCESSES, _RULE), "guarded": TEXTS}, ()),
}  # fmt: skip
_SOME: Schema = {**TEXTS, "minItems": 1}
_CHORE = closed({"things": _SOME, "say": _SOME, "on": TEXTS, "in": TEXTS}, ("things", "say"))
_FIELDS: Schema = {
    "usual": _RULES,
    "appliances": {"type": "object", **closed(dict.fromkeys(PROCESSES, TEXTS), PROCESSES)},
    "taps": by_name(TEXT),
    "held_out": by_name(TEXTS),
    "kinds": {"type": "object", **closed({of: {"type": "object", **_CHORE} for of in PROCESSES}, ())},
}
# a file of rules, and of the tasks under them
CHECK = check_of("what heats, cools and cleans", _FIELDS, ("usual", "appliances", "held_out", "kinds"))
IN_TASK = DocumentCheck(_RULES, CODE, "house rules")


def read_rules(data: Mapping[str, Any], catalogue: Catalogue, taps: Mapping[str, str]) -> Rules:
    """Parses rules: `{"heat": {"with": "stove", "thing": "held", "door": "open", "power": "turned on"}, "guarded":
    []}`"""
    for fault in IN_TASK.of_json(data):
        raise BtError(f"house rules: {fault.message}", fault.label or fault.help or "docs/worlds.md shows sound ones")
    of = {process: _rule(process, data[process], catalogue, taps) for process in PROCESSES if process in data}
    guarded = texts(data.get("guarded", ()))
    for name in guarded:
        if not (_known(name, catalogue).opens and catalogue.furniture[name].switch):
            raise BtError(f"house rules: a {name} cannot be guarded", "guarded is what has a door and a switch")
    stuck = [r.place for r in of.values() if r.place in guarded and r.way[1:] == ("open", "turned on")]
    if stuck:
        raise BtError(
            f"house rules: the {stuck[0]} is guarded and is to run while open", "a guarded one runs only when closed"
        )
    return Rules(of, guarded)


def _rule(process: str, data: Mapping[str, Any], catalogue: Catalogue, taps: Mapping[str, str]) -> Rule:
    furniture = _known(str(data["with"]), catalogue)
    way = Way(*(str(data.get(part, "")) for part in _WORDS))
    if way not in ways(furniture, taps, any_too=True):
        raise BtError(
            f"house rules: `{process}`: a {furniture.name} cannot be used so: {', '.join(filter(None, way))}",
            "thing: inside or held; door: open or closed; power: turned on or turned off",
        )
    return Rule(furniture.name, way, taps.get(furniture.name, ""))


def _known(name: str, catalogue: Catalogue) -> Furniture:
    if name not in catalogue.furniture:
        raise BtError(f"house rules: no furniture is called `{name}`", "it has to stand in things.yaml")
    return catalogue.furniture[name]


def ways(furniture: Furniture, taps: Mapping[str, str], any_too: bool = False) -> list[Way]:
    """Returns every way to use furniture. `any_too`: also ways in which a door or a switch does not matter."""
    idle = ("",) if any_too else ()
    things = _WORDS["thing"] if furniture.holds_in else ("held",)
    doors = (*_WORDS["door"], *idle) if furniture.opens else ("",)
    powers = (*_WORDS["power"], *idle) if furniture.switch or furniture.name in taps else ("",)
    return [Way(*way) for way in product(things, doors, powers)]


def as_data(rules: Rules) -> dict[str, Json]:
    """Returns the rules as data that `read_rules` accepts."""
    found: dict[str, Json] = {}
    for process, rule in rules.of.items():
        parts = {part: word for part, word in zip(_WORDS, rule.way, strict=True) if word}
        found[process] = {"with": rule.place, **parts}
    return {**found, "guarded": list(rules.guarded)}


def describe(rules: Rules) -> tuple[str, ...]:
    """Returns one sentence for each process, and one about guarded furniture."""
    told = [sentence(process, rule) for process, rule in rules.of.items()]
    *most, last = [f"the {name}" for name in rules.guarded] or [""]
    if most:
        told.append(f"{capital(', '.join(most))} and {last} open only when turned off and start only when closed.")
    elif last:
        told.append(f"{capital(last)} opens only when turned off and starts only when closed.")
    return tuple(told)


def sentence(process: str, rule: Rule) -> str:
    """Describes a rule: `The stove heats what you hold, when it is open and turned off.`"""
    what = "what is inside" if rule.way.thing == "inside" else "what you hold"
    own = [word for word in (rule.way.door, "" if rule.tap else rule.way.power) if word]
    so = [f"it is {' and '.join(own)}"] if own else []
    so += [f"the {rule.tap} is {rule.way.power}"] if rule.tap and rule.way.power else []
    when = f", when {' and '.join(so)}" if so else ""
    return f"The {rule.place} {PROCESSES[process].does} {what}{when}."
