"""ALFRED's tasks in sentences as people might say them, and which of their words mean what; none of the suite's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from random import Random

from bt_envs.alfred import kinds
from bt_envs.house.phrases import plural, spin
from bt_envs.thor.goals import Goal
from bt_envs.thor.tasks import LAMPS, SAYINGS
from recipes.starter import data
from recipes.starter.house.people import mistyped
from recipes.starter.thor.names import LAMP
from recipes.starter.thor.wish import TREATED, Told

_SLOT = re.compile(r"\{(\w+)\}")
_AN = re.compile(r"\b([Aa]) (?=[aeio]|urn|upp|und|upr)")
_INSIDE = kinds.CLOSED_HIDES | {"GarbageCan", "SinkBasin", "BathtubBasin"}
_CUTS = ("cut", "slice", "slice up", "cut up", "chop", "cut a slice of", "cut a piece of", "take a slice of")
_SLICES = (
    "slice of {}", "slice of {}", "{} slice", "{} slice", "piece of {}", "sliced {}", "cut {}", "slice of the {}",
    "chunk of {}", "{} piece", "cut up {}",
)  # fmt: skip
_TWO = (
    "two {}", "two {}", "two {}", "2 {}", "both {}", "a pair of {}", "a couple of {}", "the two {}",
    "both of the {}", "a set of two {}",
)  # fmt: skip
_ARTICLES = {  # how often each
    "o": ((42, "a "), (38, "the "), (8, ""), (4, "one "), (2, "some "), (2, "my "), (2, "this "), (2, "that ")),
    "m": ((45, "a "), (40, "the "), (10, ""), (5, "one ")),
    "p": ((80, "the "), (12, "a "), (5, ""), (3, "my ")),
    "t": ((64, "the "), (26, "a "), (10, "")),
}
_DESCRIBED = {"o": 0.12, "m": 0.1, "p": 0.12, "t": 0.06}  # how often with an adjective
_INSTEAD, _VAGUE = 0.15, 0.35  # how often by the name of what is not here, by one of several meanings
_FROM, _ABOUT, _HEAD, _WRONG, _SLIP = 0.25, 0.14, 0.14, 0.08, 0.03


def said(goal: Goal, here: Collection[str], rng: Random) -> tuple[str, Told]:
    """What a person says in a room of these kinds, and what is to be understood."""
    while True:
        saying = _Saying(goal, here, rng)
        if (shape := saying.shape()) not in _theirs():
            return saying.text(shape)


@lru_cache(maxsize=1)
def _theirs() -> frozenset[str]:
    return frozenset(way.replace("on the {p}", "{on} the {p}") for ways in SAYINGS.values() for way in ways)


@lru_cache(maxsize=1)
def _meanings() -> Mapping[str, frozenset[str]]:
    """Every piece of furniture that a name may mean."""
    told: dict[str, set[str]] = {}
    for kind in data.read("thor/words")["furniture"]:
        for name in _names("furniture", kind):
            told.setdefault(name, set()).add(kind)
    return {name: frozenset(meant) for name, meant in told.items()}


def _names(sort: str, kind: str) -> list[str]:
    """A thing's own name is as frequent as two others."""
    own = [] if kind == LAMP else [kinds.to_words(kind)] * 2
    return [*own, *data.read("thor/words")[sort][kind]]


def _first(names: Iterable[str], here: Collection[str]) -> str:
    return next((name for name in names if name in here), "")


class _Saying:
    """One way to say one goal; `{o}`, `{p}`, `{m}`, `{t}` stand for the names until the end."""

    def __init__(self, goal: Goal, here: Collection[str], rng: Random) -> None:
        self.data, self.here, self.rng = data.read("thor/words"), here, rng
        lamps = [lamp for lamp in LAMPS if lamp in here]
        vague = goal.toggle and len(lamps) < 2 and rng.random() < 0.5
        self.goal = goal._replace(toggle=LAMP) if vague else goal
        self.how = TREATED[goal.type][0] if goal.type in TREATED else ""
        self.cut = False
        self.words: dict[str, str] = {}
        self.names = {slot: name for slot, name in self._named() if name}

    def _named(self) -> list[tuple[str, str]]:
        goal = self.goal
        thing = self._called("things", goal.object)
        if goal.sliced:
            self.cut = goal.type != "pick_two_obj_and_place" and self.rng.random() < 0.2
            thing = thing if self.cut else self.rng.choice(_SLICES).format(thing)
        if goal.type == "pick_two_obj_and_place":
            thing = self._two(thing)
        lamp = self._called("lamps", goal.toggle) if goal.toggle else ""
        dish = self._called("things", goal.movable) if goal.movable else ""
        place = self._called("furniture", goal.parent) if goal.parent else ""
        return [("o", self._described("o", thing)), ("t", lamp), ("m", self._described("m", dish)),
                ("p", self._described("p", place))]  # fmt: skip

    def _called(self, sort: str, kind: str) -> str:
        """Furniture by a name that means nothing else in this room."""
        names = _names(sort, kind)
        if sort == "furniture":
            names = self._placed(kind)
        elif other := self._rival(kind):
            names = [name for name in names if name not in _names(sort, other)] or names
        name = self.rng.choice(names)
        return mistyped(name, self.rng) if self.rng.random() < _SLIP else name

    def _placed(self, kind: str) -> list[str]:
        """What it may be called in this room: often a name that means something else in another."""
        here, chance = set(self.here), self.rng.random()
        if kind in here and chance < _INSTEAD:
            missed = [
                at for at, taken in self.data["instead"].items() if at not in here and _first(taken, here) == kind
            ]
            names = [name for at in missed for name in _names("furniture", at) if not _meanings()[name] & here]
        else:
            names = [name for name in _names("furniture", kind) if not (_meanings()[name] - {kind}) & here]
            names = [name for name in names if chance > _VAGUE or len(_meanings()[name]) > 1] or names
        return names or _names("furniture", kind)[:1]

    def _rival(self, kind: str) -> str:
        """The thing that is meant by a name of this one too, by what hangs here."""
        holders = self.data["holders"]
        if kind not in holders:
            return ""
        other = next(name for name in holders if name != kind)
        hangs = [name for name in holders if holders[name] in self.here]
        return "" if hangs == [kind] or (hangs != [other] and kind == "Towel") else other

    def _described(self, slot: str, name: str) -> str:
        if not name or (self.goal.type == "pick_two_obj_and_place" and slot == "o"):
            return name
        words = self.data["places" if slot == "p" else "colours"]
        return f"{self.rng.choice(words)} {name}" if self.rng.random() < _DESCRIBED[slot] else name

    def _two(self, name: str) -> str:
        if self.rng.random() < 0.06:
            self.words["object"] = f"{name} and another {name}"
        else:
            self.words["object"] = self.rng.choice(_TWO).format(_plural(name))
        return self.words["object"]

    def shape(self) -> str:
        way = self.rng.choice(self._ways())
        for _ in range(2):  # verbs, and what those are made of
            way = _SLOT.sub(lambda found: self.data["slots"].get(found[1], found[0]), way)
        way = spin(way, self.rng)
        head = self.rng.choice(self.data["heads"]) if way[0] != "{" or way.startswith("{v}") else ""
        way = _SLOT.sub(lambda found: self._filled(found[1]), way)
        return " ".join((f"{head}{way}" if self.rng.random() < _HEAD else way).split())

    def _ways(self) -> list[str]:
        ways, goal = self.data["said"], self.goal
        sort = {"pick_and_place_simple": "simple", "pick_and_place_with_movable_recep": "movable"}.get(
            goal.type, "treated"
        )
        if self.cut:
            return list(ways[f"sliced_{sort}"])
        return list(ways["treated" if self.how else goal.type])

    def _filled(self, slot: str) -> str:
        if slot in _ARTICLES:
            return f"{self._article(slot)}{{{slot}}}"
        return str(getattr(self, f"_{slot}")())

    def _article(self, slot: str) -> str:
        often, articles = zip(*_ARTICLES[slot], strict=True)
        return str(self.rng.choices(articles, often)[0])

    def _ho(self) -> str:
        self.words["how"] = self.rng.choice(self.data["how"][self.how])
        return f"{self._article('o')}{self.words['how']} {{o}}"

    def _v(self) -> str:
        self.words["how"] = self.rng.choice(self.data["verbs"][self.how])
        return self.words["how"]

    def _oo(self) -> str:
        self.words["object"] = cut = f"{self.rng.choice(_CUTS)} {self._article('o')}{{o}}"
        return cut

    def _os(self) -> str:
        return "{o}"

    def _using(self) -> str:
        return str(self.rng.choice(self.data["using"][self.how]))

    def _on(self) -> str:
        inside = (self.goal.parent in _INSIDE) != (self.rng.random() < _WRONG)
        self.words["on"] = self.rng.choice(
            ("in", "in", "into", "inside", "inside of") if inside else ("on", "on", "on top of", "onto")
        )
        return "{on}"

    def _into(self) -> str:
        flat = self.goal.movable in ("Plate", "Pan") and self.rng.random() < 0.6
        return self.rng.choice(("on", "onto") if flat else ("in", "in", "into", "inside"))

    def _mm(self) -> str:
        return self.rng.choice(("it", "both", "them", "everything", "the {m}", "the {m}", "the {m}"))

    def _src(self) -> str:
        return self._noise("from", _FROM)

    def _by(self) -> str:
        return self._noise("about", _ABOUT)

    def _noise(self, sort: str, often: float) -> str:
        if self.rng.random() >= often:
            return ""
        return str(self.rng.choice(self.data[sort])).replace("{x}", self._x())

    def _x(self) -> str:
        others = [kind for kind in self.data["furniture"] if kind != self.goal.parent]
        return f"the {self._called('furniture', self.rng.choice(others))}"

    def text(self, shape: str) -> tuple[str, Told]:
        names = {**self.names, "on": self.words.pop("on", "")}
        text = _AN.sub(r"\1n ", shape.format(**names))
        thing = self.words.get("object", "{o}").format(**names)
        slots = {"movable": "m", "toggle": "t", "parent": "p"}
        meant = {part: names.get(slot, "") for part, slot in slots.items()}
        quoted = {"object": thing, "how": self.words.get("how", ""), **meant}
        told = {part: _AN.sub(r"\1n ", words) for part, words in quoted.items() if words}
        if self.rng.random() < 0.65:
            text = text[:1].upper() + text[1:]
        return f"{text}{self.rng.choice(('', '.'))}", Told(self.goal, told)


def _plural(name: str) -> str:
    """`bar of soap` → bars of soap; `keys` are more than one already."""
    first, of, rest = name.partition(" of ")
    if of:
        return f"{_plural(first)}{of}{rest}"
    if name.endswith("loaf"):
        return f"{name[:-1]}ves"
    if name.endswith("s") and not name.endswith(("ss", "us")):
        return name
    return f"{name}es" if name.endswith("o") else plural(name)
