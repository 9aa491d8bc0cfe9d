"""The oracle: plans from a goal down to items that can be fetched, and counts so that nothing is made twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import ceil, prod
from typing import NamedTuple

from bt_envs.textcraft.recipes import Book, Recipe

_ALL = 512  # up to so many ways to make the goal are compared one by one; beyond, one choice is mended at a time


class Deed(NamedTuple):
    """One step of a plan: fetch `amount` of `item`, or craft it by `recipe` `times` times."""

    item: str
    amount: int
    recipe: Recipe | None
    times: int
    stand_in: Mapping[str, str]

    def sentences(self) -> list[str]:
        if self.recipe is None:
            return [f"get {self.amount} {self.item}"]
        return [self.recipe.command(self.stand_in)] * self.times


Choice = dict[str, Recipe | str]  # an item → its recipe; a kind → its member


def plan(book: Book, goal: str) -> list[Deed]:
    """Returns the fewest sentences that craft one `goal`, with one recipe for each item and one member for each kind;
    [] if impossible."""
    options = _options(book, goal)
    if not any(isinstance(way, Recipe) for way in options.get(goal, ())):
        return []
    best: list[Deed] = []
    for choice in _choices(book, goal, options):
        deeds = _deeds(goal, choice)
        if deeds and (not best or steps(deeds) < steps(best)):
            best = deeds
    return best


def steps(deeds: list[Deed]) -> int:
    return sum(d.times if d.recipe else 1 for d in deeds)


def _options(book: Book, goal: str) -> dict[str, list[Recipe | str]]:
    """Returns every item that the goal may need, with the ways to get it."""
    found: dict[str, list[Recipe | str]] = {}
    todo = [goal]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        if name in book.kinds:
            found[name] = list(book.kinds[name])
            todo += book.kinds[name]
        elif book.craftable(name):
            found[name] = list(book.of[name])
            todo += [n.item for r in book.of[name] for n in r.needs]
    return found


def _choices(book: Book, goal: str, options: Mapping[str, list[Recipe | str]]) -> Iterator[Choice]:
    names = list(options)
    shallow: Choice = {name: min(ways, key=lambda way: _rank(book, way)) for name, ways in options.items()}
    if prod(len(options[n]) for n in names) <= _ALL:
        yield from (dict(zip(names, ways, strict=True)) for ways in product(*(options[n] for n in names)))
        return
    best, least = shallow, steps(_deeds(goal, shallow)) or 1_000_000
    better = True
    while better:
        better = False
        for name in _touched(goal, best):
            for way in options[name]:
                tried = {**best, name: way}
                length = steps(_deeds(goal, tried))
                if 0 < length < least:
                    best, least, better = tried, length, True
    yield best


def _rank(book: Book, way: Recipe | str) -> int:
    if isinstance(way, str):
        return book.depth(way)
    return max(book.depth(n.item) for n in way.needs)


def _touched(goal: str, choice: Choice) -> list[str]:
    """Returns the choices that this plan depends on."""
    seen: list[str] = []
    todo = [goal]
    while todo:
        name = todo.pop()
        if name in choice and name not in seen:
            seen.append(name)
            way = choice[name]
            todo += [way] if isinstance(way, str) else [n.item for n in way.needs]
    return seen


def _deeds(goal: str, choice: Choice) -> list[Deed]:
    """Returns the steps: ingredients before products, with each need summed. [] when the choice is circular."""
    order = _order(goal, choice)
    need = dict.fromkeys(order or (), 0)
    need[goal] = 1
    deeds: list[Deed] = []
    for item in reversed(order or []):
        recipe = choice.get(item)
        if not isinstance(recipe, Recipe):
            deeds.append(Deed(item, need[item], None, 0, {}))
            continue
        times = ceil(need[item] / recipe.makes)
        stand_in = {n.item: _member(n.item, choice) for n in recipe.needs}
        if len(set(stand_in.values())) < len(stand_in):
            return []  # one item cannot stand for two ingredients of a recipe
        for ingredient in recipe.needs:
            need[stand_in[ingredient.item]] += ingredient.amount * times
        deeds.append(Deed(item, times * recipe.makes, recipe, times, stand_in))
    return deeds[::-1]


def _member(name: str, choice: Choice) -> str:
    """Returns the item chosen for a name; kinds of kinds are followed down."""
    way = choice.get(name)
    return _member(way, choice) if isinstance(way, str) else name


def _order(goal: str, choice: Choice) -> list[str] | None:
    """Orders items: every ingredient before its product; None for a circle."""
    done: dict[str, bool] = {}  # False while its ingredients are being ordered

    def visit(item: str) -> bool:
        if item in done:
            return done[item]
        done[item] = False
        recipe = choice.get(item)
        needs = [_member(n.item, choice) for n in recipe.needs] if isinstance(recipe, Recipe) else []
        if not all(visit(need) for need in needs):
            return False
        del done[item]
        done[item] = True  # moved to the end: after its ingredients
        return True

    return list(done) if visit(goal) else None
