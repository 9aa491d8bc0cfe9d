"""How people put a task who are no writers: lines, lists, what is said by the way, slips of the keyboard."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from random import Random
from re import sub

from bt_envs.house.phrases import capital, listing, spin
from bt_envs.house.suite import load_content
from bt_envs.house.tasks import Errand
from recipes.starter.data import read

_SAID = read("house/phrasings")["people"]
_JOINTS = (" and ", " plus ", " as well as ", " along with ", " together with ", " & ", ", and also ")


def put(parts: Sequence[str], errand: Errand, style: str, rng: Random, kept_apart: Collection[str]) -> str:
    """The whole instruction but for {place} and {them}; never one that an evaluation has."""
    form = rng.random()
    if form < 0.18:
        return _lines(parts, errand, rng)
    if form < 0.34:
        return _list(parts, errand, rng)
    while True:
        said = spin(rng.choice(_SAID[_way(errand)]), rng)
        head = "" if said.startswith("{things}") else rng.choice(_SAID["heads"])
        said = _by_the_way(f"{head}{said}{rng.choice(_SAID['ends'])}", errand, rng)
        if capital(said) not in kept_apart:
            return said.replace("{things}", listed(parts, style, rng))


def _way(errand: Errand) -> str:
    return "runs" if errand.then else errand.way


def _by_the_way(said: str, errand: Errand, rng: Random) -> str:
    """Where things are said to be, which nobody can rely on."""
    furniture, rooms = _around()
    source = rng.choice([name for name in furniture if name != errand.place])
    return said.replace("{source}", source).replace("{room}", rng.choice(rooms))


@lru_cache(maxsize=1)
def _around() -> tuple[list[str], list[str]]:
    known = load_content().catalogue
    return [name for name, each in known.furniture.items() if each.holds and each.seen], list(known.rooms)


def listed(parts: Sequence[str], style: str, rng: Random) -> str:
    """`a, b and c`, and as people hasten through a list."""
    form = rng.random()
    if len(parts) < 2 or form < 0.7:
        return listing(parts, rng)
    if form < 0.78:
        return rng.choice(_JOINTS).join(parts)
    if form < 0.84:
        return ", ".join(parts)
    if form < 0.88 and style in ("digits", "number", "article"):
        return " ".join(parts)
    if form < 0.92 and len(parts) == 2:
        return f"both {parts[0]} and {parts[1]}"
    joint = rng.choice((",", " ,", ", ", ";"))
    return f"{joint.join(parts[:-1])}{rng.choice((' and ', rng.choice(_JOINTS), ',and ', joint))}{parts[-1]}"


def _lines(parts: Sequence[str], errand: Errand, rng: Random) -> str:
    """One thing after the other, each with what is to be done."""
    took, laid, told = rng.choice(_SAID["took"]), rng.choice(_SAID["laid"][errand.way]), []
    opens = errand.way == "in" and rng.random() < 0.6
    opened = rng.choice(_SAID["opens"]) if opens else ""
    for number, part in enumerate(parts):
        if rng.random() < 0.15:
            took, laid = rng.choice(_SAID["took"]), rng.choice(_SAID["laid"][errand.way])
        told += [took.replace("{part}", part), opened if number == 0 else ""]
        told.append(laid.replace("{it}", rng.choice(("it", _bare(part), _bare(part)))))
    told.append(rng.choice(_SAID["closes"]) if opens else "")
    told.append(rng.choice(_SAID["starts"]) if errand.then else "")
    joint = rng.choice(("\n", "\n", "\n", ". ", ", then ", ".\n", "; "))
    said = [text for text in told if text]
    if "." in joint or rng.random() < 0.3:
        said = [capital(text) for text in said] if joint.strip(". ") == "" else said
    return joint.join(said) + rng.choice((".", ""))


def _bare(part: str) -> str:
    """`a bottle of wine` → the bottle of wine."""
    return f"the {sub(r'^(?:an?|the|one|1) ', '', part)}"


def _list(parts: Sequence[str], errand: Errand, rng: Random) -> str:
    """A line for each, under what is to become of them."""
    head = spin(rng.choice(_SAID["lists"][_way(errand)]), rng)
    mark = rng.choice(("- ", "- ", "* ", "", "#"))
    lines = [f"{f'{n}. ' if mark == '#' else mark}{part}" for n, part in enumerate(parts, 1)]
    if rng.random() < 0.25:  # what is to become of them said last
        return "{}\n{}".format("\n".join(lines), capital(f"all of this: {head.replace('these ', '')}."))
    return f"{head}:{rng.choice((chr(10), chr(10), ' '))}" + rng.choice(("\n", "\n", "\n", ", ")).join(lines)


def adjective(thing: str, rng: Random) -> str:
    known = load_content().catalogue.things[thing]
    dish = "dishwasher" in known.kept
    return f"{rng.choice(_SAID['how']['dish' if dish else 'food'])} " if dish or "fridge" in known.kept else ""


def mistyped(said: str, rng: Random) -> str:
    """One letter too few, twice, or in the wrong place."""
    able = [i for i in range(2, len(said) - 2) if said[i - 1 : i + 2].isalpha()]
    if not able:
        return said
    at = rng.choice(able)
    wrong = rng.choice(("", said[at] * 2, said[at + 1] + said[at]))
    return said[:at] + wrong + said[at + (2 if len(wrong) == 2 and wrong[0] != wrong[1] else 1) :]
