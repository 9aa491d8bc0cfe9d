"""Ways to ask for things to be brought, made by a seed for lessons: none of them is one of the evaluation's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from random import Random
from re import compile as pattern

from bt_envs.house.phrases import article, capital, number, plural, spin
from bt_envs.house.suite import load_content
from bt_envs.house.tasks import Errand
from bt_runtime.types import Json
from recipes.starter.data import read
from recipes.starter.house import people

_SAID = read("house/phrasings")
# what people call things besides their names; `of` stands for any vessel
_CALLED = _SAID["called"]
_LEADS, _SCENES, _ONTO, _INTO = (_SAID[sort] for sort in ("leads", "scenes", "onto", "into"))
_FACTS, _TAILS, _STARTS = (_SAID[sort] for sort in ("facts", "tails", "starts"))
_WASHES, _WASHED = _SAID["washes"], _SAID["washed"]


def asked(errand: Errand, wanted: Mapping[str, int], rng: Random) -> tuple[str, list[Json]]:
    """The instruction, and what it wants in the order in which it says so."""
    loose = rng.random() < 0.3  # words that are no names of this world
    style = rng.choice(("article", "number", "digits", "the", "mixed", "bare"))  # bare: `apple, wine and cupcake`
    order = rng.sample(sorted(wanted.items()), len(wanted))
    parts = [_part(thing, count, style, loose, rng) for thing, count in order]
    place = rng.choice(_CALLED[errand.place]) if loose and errand.place in _CALLED else errand.place
    them = "it" if sum(wanted.values()) == 1 else "them"
    if rng.random() < 0.45:
        said = people.put(parts, errand, style, rng, _evaluated())
    else:
        say = _in_turn(parts, errand, rng) if len(parts) > 1 and rng.random() < 0.15 else rng.choice(errand.say)
        said = spin(say, rng).replace("{things}", people.listed(parts, style, rng))
    said = capital(said.replace("{them}", them).replace("{place}", place))
    if rng.random() < 0.08:
        said = said.lower()
    if rng.random() < 0.15:
        said = said.rstrip(".!")
    if rng.random() < 0.06:
        said = people.mistyped(said, rng)
    return said, [[thing, count] for thing, count in order]


def _part(thing: str, count: int, style: str, loose: bool, rng: Random) -> str:
    """`two bottles of wine`, `the wine`, `1 wine`, `wine`."""
    name = rng.choice(_CALLED[thing]) if loose and thing in _CALLED and rng.random() < 0.6 else thing
    own = rng.choice(("article", "number", "digits", "the")) if style == "mixed" else style
    told = people.adjective(thing, rng) if rng.random() < 0.05 else ""
    if count > 1:
        head, of, rest = name.partition(" of ")
        many = str(count) if style == "digits" else number(count, rng)
        return f"{'the ' if own == 'the' and rng.random() < 0.3 else ''}{many} {told}{plural(head)}{of}{rest}"
    return _one(own, f"{told}{name}", rng)


def _in_turn(parts: Sequence[str], errand: Errand, rng: Random) -> str:
    """A sentence for each thing, as people go through a list."""
    forms = _ONTO if errand.way == "on" else _INTO
    said = [rng.choice(forms).replace("{things}", part).replace("{them}", "that") for part in parts]
    starts = rng.choice(_STARTS) if errand.then else ""
    return f"{'. '.join(map(capital, said))}.{starts}"


def _one(style: str, name: str, rng: Random) -> str:
    said = {"digits": f"1 {name}", "number": f"{number(1, rng)} {name}", "article": article(name), "the": f"the {name}"}
    return said.get(style, name)


def phrase(rng: Random, way: str, runs: bool) -> str:
    """A sentence with {things}, {place} and {them}; never one of the evaluation's."""
    while True:
        said = _phrase(rng, way, runs)
        if said not in _evaluated():
            return said


def _phrase(rng: Random, way: str, runs: bool) -> str:
    scene = rng.choice(_SCENES)
    if runs and rng.random() < 0.5:  # plainly, as a rule
        washes = "" if rng.random() < 0.4 else rng.choice(_LEADS)
        return _joined(scene, rng.choice(_WASHED) if rng.random() < 0.35 else washes + rng.choice(_WASHES))
    if rng.random() < (0.5 if runs else 0.25):
        said = _joined(scene, rng.choice(_FACTS[way]))
    else:
        said = _joined(scene, rng.choice(_LEADS) + rng.choice(_ONTO if way == "on" else _INTO) + rng.choice(_TAILS))
    return said + rng.choice(_STARTS) if runs else said


def _joined(scene: str, said: str) -> str:
    lowered = said if scene.endswith((", ", ": ")) else said[:1].upper() + said[1:]
    return f"{scene}{lowered}"


@lru_cache(maxsize=1)
def _evaluated() -> frozenset[str]:
    """Every way in which the suite's own tasks may be put."""
    return frozenset(said for errand in load_content().errands.values() for text in errand.say for said in ways(text))


_CHOICE = pattern(r"\[([^\[\]]*)\]")


def ways(text: str) -> Iterator[str]:
    """All that `spin` could make of a text."""
    pieces = _CHOICE.split(text)
    options = [piece.split("|") if i % 2 else [piece] for i, piece in enumerate(pieces)]
    for chosen in product(*options):
        said = "".join(chosen)
        yield said[:1].upper() + said[1:]
