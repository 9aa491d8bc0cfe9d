"""What a prompt of TextCraft shows, the recipes and the bag, and what it wants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from bt_envs.textcraft.recipes import Ingredient, Recipe, counted

MOST = 1000  # of anything that a goal may want: a model writes what it likes
_LINE = re.compile(r"^craft (\d{1,9}) (.+?) using (.+)$", re.MULTILINE)
_HELD = re.compile(r"\[([^\[\]]+)\] \((\d+)\)")
_GOAL = re.compile(r"(craft|complete|get) (?:(\d{1,9}) )?(.+?)(?: using (.+))?")


@dataclass(frozen=True)
class Scene:
    """What the first observation shows."""

    recipes: tuple[Recipe, ...]
    bag: Mapping[str, int]

    @cached_property
    def products(self) -> frozenset[str]:
        return frozenset(recipe.item for recipe in self.recipes)

    @cached_property
    def members(self) -> dict[str, str]:
        """kind → the item that is made for it, of those whose names say that they are of it."""
        named = dict.fromkeys(need.item for recipe in self.recipes for need in recipe.needs)
        return {name: member for name in named if name not in self.products and (member := self._member(name))}

    def _member(self, kind: str) -> str:
        akin = [r for r in self.recipes if _akin(r.item, kind) and kind not in (n.item for n in r.needs)]
        if len({r.item for r in akin}) < 2:
            return ""
        return min(akin, key=lambda way: any(need.item in self.products for need in way.needs)).item

    def crafted(self, name: str) -> bool:
        return name in self.products or name in self.members

    def fits(self, item: str, name: str) -> bool:
        """Is it that item, or one of that kind?"""
        return item == name or (name in self.members and _akin(item, name))

    def taken(self, bag: Mapping[str, int], name: str) -> str:
        """What is taken for it: of a kind that of which most is held, else what is made for it."""
        held = [item for item in bag if self.fits(item, name)]
        return max(held, key=lambda item: bag[item]) if held else self.members.get(name, name)

    def recipe(self, item: str) -> Recipe | None:
        """The first whose ingredients can all be fetched, else the first; of a kind that of one of it."""
        name = item if item in self.products else self.members.get(item, item)
        ways = [recipe for recipe in self.recipes if recipe.item == name]
        return min(ways, key=lambda way: any(self.crafted(need.item) for need in way.needs), default=None)

    def named(self, item: str, needs: tuple[Ingredient, ...]) -> Recipe | None:
        """The recipe that a goal names by its ingredients."""
        amounts = [need.amount for need in needs]
        alike = [r for r in self.recipes if self.fits(r.item, item) and [need.amount for need in r.needs] == amounts]
        meant = [sum(a.item == b.item for a, b in zip(r.needs, needs, strict=True)) for r in alike]
        return alike[meant.index(max(meant))]._replace(needs=needs) if alike else None


@lru_cache(maxsize=256)
def read_scene(opening: str) -> Scene:
    recipes = tuple(Recipe(item, int(makes), _needs(needs)) for makes, item, needs in _LINE.findall(opening))
    return Scene(recipes, read_bag(opening))


def read_bag(told: str) -> dict[str, int]:
    inventory = told.rpartition("Inventory:")[2]
    return {item: int(count) for item, count in _HELD.findall(inventory)}


def _needs(listed: str) -> tuple[Ingredient, ...]:
    return tuple(need for need in map(counted, listed.split(",")) if need is not None)


def _akin(item: str, kind: str) -> bool:
    """`oak planks` is one of `planks`, and `oak slab` of `wooden slabs`."""
    return item.endswith(f" {kind}") or (" " in item and f"{item.split()[-1]}s" == kind.split()[-1])


class Wanted(NamedTuple):
    verb: str
    amount: int
    item: str
    needs: tuple[Ingredient, ...]  # that the goal itself names

    @property
    def finishes(self) -> bool:
        """Is it to be made of what is held?"""
        return self.verb == "complete" or bool(self.needs)


def read_goal(goal: str) -> Wanted:
    """A goal that is none of TextCraft is a thing that nothing is known of."""
    found = _GOAL.fullmatch(goal)
    if found is None:
        return Wanted("craft", 1, goal, ())
    verb, amount, item, needs = found.groups()
    return Wanted(verb, min(max(int(amount or 1), 1), MOST), item, _needs(needs or ""))
