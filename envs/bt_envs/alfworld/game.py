"""One game: a problem in PDDL, and the facts in its text: names, places, positions, goal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError

KINDS = (
    "pick_and_place_simple", "look_at_obj_in_light", "pick_clean_then_place_in_recep", "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep", "pick_two_obj_and_place",
)  # fmt: skip
_BY_WORD = {"istoggled": KINDS[1], "isclean": KINDS[2], "ishot": KINDS[3], "iscool": KINDS[4], "=": KINDS[5]}


class Treatment(NamedTuple):
    """Describes a treatment that a thing needs before it is put away."""

    verb: str
    tool: str  # the kind of furniture
    able: str  # fact of things that it can be done to
    fact: str  # fact of things that it was done to
    doing: str


TREATED = {
    KINDS[2]: Treatment("clean", "sinkbasin", "cleanable", "isclean", "cleaning"),
    KINDS[3]: Treatment("heat", "microwave", "heatable", "ishot", "heating"),
    KINDS[4]: Treatment("cool", "fridge", "coolable", "iscool", "cooling"),
}
STATES = {
    "clean": "isclean", "hot": "ishot", "cool": "iscool", "on": "istoggled", "sliced": "issliced",
}  # fmt: skip
# The facts that change; the rest of a game stays as it was.
CHANGING = ("atlocation", "holds", "opened", "inreceptacle", "isclean", "ishot", "iscool", "istoggled", "issliced")
HINT = "give a game as ALFWorld makes it: game.tw-pddl, or a line with its pddl_problem and goal"

_PLAIN = re.compile(r"[\w\s()?:=;.,+*/<>-]*")  # the engine evaluates what stands in braces, also in a name

Fact = tuple[str, ...]  # its name, and the names of what it is about, without the agent


class Aim(NamedTuple):
    kind: str
    thing: str  # the kind of thing
    place: str  # the kind of receptacle; of a lamp, where it is to be looked at


class Game(NamedTuple):
    """A game. `places` and `things` are in the order of their ids, as the engine lists them."""

    aim: Aim
    places: Mapping[str, str]  # a receptacle's name → its location's; "" for one that cannot be gone to
    things: Sequence[str]
    openable: frozenset[str]
    start: frozenset[Fact]

    def at(self, facts: Iterable[Fact]) -> list[str]:
        """The receptacles in front of the agent."""
        here = next((fact[1] for fact in facts if fact[0] == "atlocation"), "")
        return [place for place, location in self.places.items() if location and location == here]


def kind_of(name: str) -> str:
    return name.rpartition(" ")[0]


def read(problem: str) -> Game:
    if not _PLAIN.fullmatch(problem):
        raise BtError("this is no problem of ALFWorld: it has signs that PDDL has not", HINT)
    text = problem.lower()
    begin, end = text.find("(:init"), text.rfind("(:goal")
    if not 0 <= begin < end:
        raise BtError("this is no problem of ALFWorld: it has no start or no goal", HINT)
    facts, goal = _pieces(text[begin + len("(:init") : end]), _pieces(text[end:])
    ids = {word for fact in facts if fact[0] != "distance" for word in fact[1:]}
    names = named(ids)
    located = {fact[1]: names[fact[2]] for fact in facts if fact[0] == "receptacleatlocation"}
    places = {names[i]: located.get(i, "") for i in sorted(f[1] for f in facts if f[0] == "receptacletype")}
    things = [names[i] for i in sorted(f[1] for f in facts if f[0] == "objecttype")]
    openable = frozenset(names[fact[1]] for fact in facts if fact[0] == "openable")
    return Game(_aim(goal), places, things, openable, changing(facts, names))


def _pieces(text: str) -> list[list[str]]:
    found = (piece.partition(")")[0].split() for piece in text.split("(")[1:])
    return [words for words in found if words]


def named(ids: Iterable[str]) -> dict[str, str]:
    """Returns names by id. As in ALFWorld, the last id of each kind gets number 1."""
    kinds = {i: _kind(i) for i in sorted(ids)}
    left = Counter(kinds.values())
    names = {}
    for i, kind in kinds.items():
        names[i] = f"{kind} {left[kind]}" if "_bar_" in i else i
        left[kind] -= 1
    return names


def _kind(i: str) -> str:
    kind = i.partition("_bar_")[0]
    return f"{kind}basin" if "basin" in i and "_bar_" in i else kind


def changing(facts: Iterable[Sequence[str]], names: Mapping[str, str]) -> frozenset[Fact]:
    """Returns the changeable facts, with names instead of ids."""
    kept = (fact for fact in facts if fact[0] in CHANGING)
    return frozenset(
        (head, *(names.get(i, i).strip() for i in about if not i.startswith("agent"))) for head, *about in kept
    )


def _aim(goal: Sequence[Sequence[str]]) -> Aim:
    heads = {words[0] for words in goal}
    kind = next((kind for word, kind in _BY_WORD.items() if word in heads), KINDS[0])
    types = {w[1]: w[2].removesuffix("type") for w in goal if w[0] in ("objecttype", "receptacletype") and len(w) == 3}
    thing = next((t for name, t in types.items() if name in ("?o", "?o1")), "")
    place = types.get("?ot" if kind == KINDS[1] else "?r", "")
    if not thing or not place:
        raise BtError("the goal of this problem is none of ALFWorld's six", HINT)
    return Aim(kind, thing, place)


def parts(game: Game, facts: frozenset[Fact]) -> tuple[int, int]:
    """Returns the reached and the total parts of the goal (picked, treated, placed), as far as the state shows."""
    aim = game.aim
    own = [thing for thing in game.things if kind_of(thing) == aim.thing]
    if aim.kind == KINDS[1]:
        lamps = [thing for thing in game.things if kind_of(thing) == aim.place]
        return any(("holds", t) in facts for t in own) + any(("istoggled", lamp) in facts for lamp in lamps), 2
    placed = {f[1] for f in facts if f[0] == "inreceptacle" and kind_of(f[2]) == aim.place}
    moved = {f[1] for f in game.start if f[0] == "inreceptacle"} - {f[1] for f in facts if f[0] == "inreceptacle"}
    if aim.kind == KINDS[5]:
        return min(4, sum(sorted((2 if t in placed else t in moved for t in own), reverse=True)[:2])), 4
    treated = TREATED.get(aim.kind)
    scores = [(t in placed) * 2 or int(t in moved) for t in own]
    if treated is not None:
        done = [(treated.fact, t) in facts for t in own]
        scores = [1 + (1 + (t in placed)) if d else int(t in moved) for t, d in zip(own, done, strict=True)]
    return max(scores, default=0), 2 if treated is None else 3


def judge(fact: str, game: Game, facts: frozenset[Fact]) -> bool | None:
    """Tests a fact: `near {place}`, `holding {thing}`, `hand free`, `{place} is open`, `{thing} is hot`, `{thing} is in
    {place}`, `{thing} is hot in {place}`, `{thing} is lit by {lamp}` (held while the lamp is on)."""
    held = [f[1] for f in facts if f[0] == "holds"]
    if fact == "hand free":
        return not held
    if fact.startswith("not holding "):
        return fact.removeprefix("not holding ") not in held
    if fact.startswith("holding "):
        return fact.removeprefix("holding ") in held
    if fact.startswith("near "):
        return fact.removeprefix("near ") in game.at(facts)
    name, said, state = fact.partition(" is ")
    if not said:
        return None
    if state.startswith("in "):
        return ("inreceptacle", name, state.removeprefix("in ")) in facts
    if state in ("open", "closed"):
        return (name in game.openable and ("opened", name) not in facts) is (state == "closed")
    if state.startswith("lit by "):
        return name in held and ("istoggled", state.removeprefix("lit by ")) in facts
    made, within, place = state.partition(" in ")
    head = STATES.get(made)
    return (head, name) in facts and (not within or ("inreceptacle", name, place) in facts) if head else None
