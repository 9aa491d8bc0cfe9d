"""A recipe book: the recipes, the generic ingredients (kinds), and each item's depth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

NAMESPACE = "minecraft:"  # as the game writes it in its replies
_COUNTED = re.compile(r"(\d{1,9}) (.+)")  # a longer number is no number of things


class Ingredient(NamedTuple):
    amount: int
    item: str  # an item, or a kind such as `planks`


class Recipe(NamedTuple):
    item: str
    makes: int
    needs: tuple[Ingredient, ...]

    def line(self) -> str:
        """The compact form: `4 oak planks = 1 oak log`."""
        return f"{self.makes} {self.item} = " + ", ".join(f"{n.amount} {n.item}" for n in self.needs)

    def command(self, stand_in: Mapping[str, str] | None = None) -> str:
        """Returns the sentence of a recipe; `stand_in` gives the item chosen for each kind."""
        chosen = stand_in or {}
        needs = ", ".join(f"{n.amount} {chosen.get(n.item, n.item)}" for n in self.needs)
        return f"craft {self.makes} {self.item} using {needs}"


def game_id(item: str) -> str:
    return NAMESPACE + item.replace(" ", "_")


def counted(text: str) -> Ingredient | None:
    """`6 dark oak planks` → (6, "dark oak planks")."""
    found = _COUNTED.fullmatch(text.strip())
    return Ingredient(int(found[1]), found[2].strip()) if found else None


def read_line(line: str) -> Recipe | None:
    """Parses a recipe from one compact line; None for other text."""
    left, sign, right = line.partition("=")
    output = counted(left)
    needs = [counted(part) for part in right.split(",")]
    if not sign or output is None or output.amount < 1 or any(n is None or n.amount < 1 for n in needs):
        return None
    return Recipe(output.item, output.amount, tuple(n for n in needs if n is not None))


class Book:
    """A book of recipes. A recipe that would close a cycle is dropped, in the order given."""

    def __init__(self, name: str, recipes: Iterable[Recipe], kinds: Mapping[str, Iterable[str]]) -> None:
        self.name = name
        self.recipes = _without_circles(recipes)
        self.kinds = {kind: tuple(members) for kind, members in kinds.items()}
        self.of: dict[str, list[Recipe]] = {}
        for recipe in self.recipes:
            self.of.setdefault(recipe.item, []).append(recipe)
        self.kinds_of: dict[str, set[str]] = {}
        for kind, members in self.kinds.items():
            for member in members:
                self.kinds_of.setdefault(member, set()).add(kind)
        named = {n.item for r in self.recipes for n in r.needs} - self.kinds.keys()
        self.items = frozenset({*self.of, *named, *self.kinds_of})
        self._depths: dict[str, int] = {}

    @cached_property
    def uses(self) -> dict[str, list[Recipe]]:
        """Maps an ingredient to the recipes that use it."""
        found: dict[str, list[Recipe]] = {}
        for recipe in self.recipes:
            for need in recipe.needs:
                found.setdefault(need.item, []).append(recipe)
        return found

    def craftable(self, item: str) -> bool:
        return item in self.of

    def fetchable(self, item: str) -> bool:
        return item in self.items and item not in self.of

    def fits(self, item: str, need: str) -> bool:
        """True when this item may be used where a recipe asks for `need`."""
        return item == need or need in self.kinds_of.get(item, ())

    def members(self, need: str) -> tuple[str, ...]:
        """The items that may be used for `need`."""
        return self.kinds.get(need, (need,))

    def depth(self, name: str) -> int:
        """Returns an item's depth: 0 when it is fetched, else one more than its deepest ingredient, by the shallowest
        recipe."""
        return self._depth(name, frozenset())

    def _depth(self, name: str, above: frozenset[str]) -> int:
        if name in self._depths:
            return self._depths[name]
        if name in above:
            return 1_000_000  # only a circle through a kind gets here; another way is always shallower
        inner = above | {name}
        if name in self.kinds:
            found = min((self._depth(m, inner) for m in self.kinds[name]), default=0)
        else:
            ways = [max(self._depth(n.item, inner) for n in r.needs) + 1 for r in self.of.get(name, ())]
            found = min(ways, default=0)
        if found < 1_000_000:
            self._depths[name] = found
        return found

    def goals(self, depth: int) -> list[str]:
        """Returns every item of this depth, in a fixed order."""
        return sorted(item for item in self.of if self.depth(item) == depth)


def _without_circles(recipes: Iterable[Recipe]) -> tuple[Recipe, ...]:
    """Drops recipes that close a cycle. Dependencies come from earlier recipes only, so the order decides which
    recipe is dropped."""
    below: dict[str, set[str]] = {}
    kept = []
    for recipe in recipes:
        own = below.setdefault(recipe.item, set())
        names = [n.item for n in recipe.needs]
        if recipe.item in names or any(recipe.item in below.get(name, ()) for name in names):
            continue
        kept.append(recipe)
        for name in names:
            own.add(name)
            own |= below.get(name, set())
    return tuple(kept)
