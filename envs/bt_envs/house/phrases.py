"""Expands alternative phrasings: `[Put|Set] it down[|, please]` stands for four sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_S = ("s", "x", "z", "ch", "sh")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def spin(text: str, rng: Random) -> str:
    """Returns one random phrasing; chooses the innermost alternatives first."""
    while True:
        spun = _CHOICE.sub(lambda found: rng.choice(found[1].split("|")), text)
        if spun == text:
            return text
        text = spun


def filled(text: str, slots: Mapping[str, str]) -> str:
    """Fills the slots of `Put {things} down`; other brackets stay as they are."""
    for name, value in slots.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def plural(name: str) -> str:
    """`cutlery knife` → cutlery knives."""
    if name.endswith("fe"):
        return f"{name[:-2]}ves"
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return name + ("es" if name.endswith(_S) else "s")


def article(name: str) -> str:
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def number(count: int, rng: Random) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) and rng.random() < 0.6 else str(count)


def listing(parts: Sequence[str], rng: Random) -> str:
    """Joins parts as `a, b and c`, or in another usual way."""
    if len(parts) < 2:
        return "".join(parts)
    if rng.random() < 0.15:
        return " and ".join(parts)
    comma = "," if len(parts) > 2 and rng.random() < 0.5 else ""
    return f"{', '.join(parts[:-1])}{comma} and {parts[-1]}"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
