"""Invents recipe books: made-up items in random trees, which no model knows by heart."""

from __future__ import annotations

import re
from random import Random

from bt_envs.textcraft.recipes import Book, Ingredient, Recipe

_STARTS = (
    "b",
    "br",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gl",
    "k",
    "kr",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "s",
    "sk",
    "st",
    "t",
    "v",
    "z",
)
_VOWELS = ("a", "e", "i", "o", "u", "au", "ei", "oo")
# The last sounds tell the split, so that no item of one is ever met in the other.
_ENDS = {"train": ("b", "ck", "d", "lm", "mp", "nt", "rd"), "eval": ("ff", "ld", "nk", "p", "rn", "ss", "x")}


def sounds_of(split: str) -> re.Pattern[str]:
    """A pattern for every word in the invented books of this split."""
    syllable = f"(?:{'|'.join(_STARTS)})(?:{'|'.join(_VOWELS)})"
    return re.compile(f"{syllable}(?:{syllable})?(?:{'|'.join(_ENDS[split])})")


def invent(seed: int, split: str, deepest: int = 4) -> Book:
    """Invents a book with items of every depth up to `deepest`."""
    rng = Random(f"recipes {split} {seed}")
    names = _Names(rng, _ENDS[split])
    raw = [names.new() for _ in range(rng.randint(8, 12))]
    kinds: dict[str, list[str]] = {}
    for _ in range(rng.randint(1, 2)):
        kind = names.word()
        kinds[kind] = [f"{names.word()} {kind}" for _ in range(rng.randint(2, 4))]
    layers: list[list[str]] = [raw]
    recipes: list[Recipe] = []
    for level in range(1, deepest + 1):
        layer = [names.new() for _ in range(rng.randint(4, 7))]
        if level == 1:  # the members of a kind are made, each from a thing of its own
            layer += [member for members in kinds.values() for member in members]
        recipes += [_recipe(rng, item, layers, kinds) for item in layer]
        layers.append(layer)
    for item in rng.sample([i for layer in layers[2:] for i in layer], 3):  # some have a second recipe
        level = next(n for n, layer in enumerate(layers) if item in layer)
        recipes.append(_recipe(rng, item, layers[:level], kinds))
    return Book(f"invented {split} {seed}", recipes, kinds)


def _recipe(rng: Random, item: str, layers: list[list[str]], kinds: dict[str, list[str]]) -> Recipe:
    """Invents a recipe: one ingredient from the layer below, which ensures the depth, and up to two from any layer."""
    needs = {rng.choice(layers[-1]): rng.choice((1, 1, 1, 2, 2, 3, 4, 6))}
    pool = [name for layer in layers for name in layer]
    if len(layers) > 1:
        pool += [*kinds, *kinds]
    for _ in range(rng.choice((0, 1, 1, 2))):
        other = rng.choice(pool)
        akin = {m for need in needs for m in kinds.get(need, ())}  # a kind and its member never stand side by side
        akin |= {kind for kind, members in kinds.items() if set(members) & needs.keys()}
        if other not in needs and other not in akin:
            needs[other] = rng.choice((1, 1, 2, 2, 3, 4))
    return Recipe(item, rng.choice((1, 1, 1, 2, 3, 4)), tuple(Ingredient(count, name) for name, count in needs.items()))


class _Names:
    """Draws words that were not drawn before."""

    def __init__(self, rng: Random, ends: tuple[str, ...]) -> None:
        self._rng, self._ends = rng, ends
        self._used: set[str] = set()

    def word(self) -> str:
        while True:
            starts, vowels = self._rng.choices(_STARTS, k=2), self._rng.choices(_VOWELS, k=2)
            long = self._rng.random() < 0.4
            found = starts[0] + vowels[0] + (starts[1] + vowels[1] if long else "") + self._rng.choice(self._ends)
            if found not in self._used:
                self._used.add(found)
                return found

    def new(self) -> str:
        return f"{self.word()} {self.word()}" if self._rng.random() < 0.3 else self.word()
