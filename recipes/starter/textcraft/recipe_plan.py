"""A recipe of TextCraft to follow: how often, what each ingredient takes, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from bt_envs.textcraft.recipes import Recipe
from recipes.starter.textcraft.scene import Scene, Wanted

Verdict = Literal["have", "get", "craft"]


class Need(NamedTuple):
    """One ingredient: what is fetched for one time that the recipe is followed, what is crafted for all of them."""

    each: int
    amount: int
    name: str  # as the recipe has it
    item: str  # what is taken for it
    verdict: Verdict

    def written(self) -> str:
        """Name, verdict, amount, in the order in which one follows from the other; then what a part or an act says."""
        return f"{self.name}: have." if self.verdict == "have" else f"{self.name}: {self.done()}."

    def done(self) -> str:
        return f"{self.verdict} {self.amount} {self.name}"


class Work(NamedTuple):
    """A recipe to follow until there is as much as is wanted, and what its ingredients take."""

    name: str  # what is wanted: the recipe's item, or a kind that it is of
    recipe: Recipe
    wanted: int
    needs: tuple[Need, ...]

    def using(self) -> str:
        """What follows the product's name in the list, so that it can be copied from there; a kind's name is the end of
        the product's, so it is found there too."""
        return self.recipe.command().partition(" using ")[2]

    def thought(self) -> str:
        return f"{self.name} using {self.using()}. Wants {self.wanted}. {_listed(self.needs)}"

    def rest(self, made: int) -> str:
        """Said when so many of what has to be crafted are made: what is next."""
        crafts = [need for need in self.needs if need.verdict == "craft"]
        told = f"{crafts[made - 1].amount} {crafts[made - 1].name}: made."
        left = _listed([need for need in self.needs if need not in crafts[:made]]) or "nothing."
        return f"{told} {self.name} using {self.using()}. Wants {self.wanted}. Left: {left}"

    def last(self) -> str:
        """The part that finishes with what the others have made: it names what it uses, a kind as a kind."""
        return f"craft {self.wanted} {self.name} using {', '.join(f'{need.each} {need.name}' for need in self.needs)}"

    def parts(self, last: str) -> list[str]:
        """Subgoals: what has itself to be crafted; where nothing has, what is fetched; and the last craft."""
        chosen = [n for n in self.needs if n.verdict == "craft"] or [n for n in self.needs if n.verdict == "get"]
        return [*(need.done() for need in chosen), last]


def _listed(needs: Sequence[Need]) -> str:
    return " ".join(need.written() for need in needs)


def survey(scene: Scene, name: str, recipe: Recipe, wanted: int, bag: Mapping[str, int]) -> Work:
    """What each ingredient takes; `bag` is what may be used up. How many the recipe makes at a time stands before the
    name by which it is found, where a small network does not see it: what has to be crafted for it is planned
    as if it made one, what can be fetched is fetched for one time after the other, and how many came is seen then."""
    needs = []
    for each, need in recipe.needs:
        item, all_of_it = scene.taken(bag, need), each * wanted
        verdict: Verdict = "have" if bag.get(item, 0) >= all_of_it else "craft" if scene.crafted(need) else "get"
        needs.append(Need(each, each if verdict == "get" else all_of_it, need, item, verdict))
    return Work(name, recipe, wanted, tuple(needs))


def work_for(scene: Scene, wanted: Wanted) -> Work | None:
    """None when no recipe makes it."""
    recipe = scene.named(wanted.item, wanted.needs) or scene.recipe(wanted.item)
    return recipe and survey(scene, wanted.item, recipe, wanted.amount, scene.bag if wanted.finishes else {})
