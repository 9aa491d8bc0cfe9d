"""How each fact of TextCraft comes about: what lies around is fetched, the rest is made by the book's recipes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from math import ceil

from bt_envs.textcraft.recipes import Book, counted
from bt_runtime.skills.worlds.ways import Way

_MEMBERS = 6  # of a kind of ingredient that are tried
_CHOICES = 24  # of members for one recipe
_HELD = " in inventory"


def ways(book: Book, fact: str) -> list[Way]:
    asked = counted(fact.removesuffix(_HELD)) if fact.endswith(_HELD) else None
    if asked is None:
        return []
    if book.fetchable(asked.item):
        return [Way(f"get {asked.amount} {asked.item}", (), (fact,))]
    return list(_crafted(book, asked.item, asked.amount, fact))


def _crafted(book: Book, item: str, amount: int, fact: str) -> Iterator[Way]:
    for recipe in book.of.get(item, ()):
        times = ceil(amount / recipe.makes)
        pools = [book.members(need.item)[:_MEMBERS] for need in recipe.needs]
        for chosen in islice(product(*pools), _CHOICES):
            if len(set(chosen)) < len(chosen):
                continue
            pairs = list(zip(recipe.needs, chosen, strict=True))
            told = ", ".join(f"{need.amount} {each}" for need, each in pairs)
            needs = [f"{need.amount * times} {each}{_HELD}" for need, each in pairs]
            yield Way(f"craft {recipe.makes} {item} using {told}", needs, (fact,), float(times), times)
