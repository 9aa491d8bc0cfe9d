"""A recipe of TextCraft to follow: how often, what each ingredient takes, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from bt_runtime.distill.scene import Scene, Wanted
from bt_runtime.envs.textcraft.recipes import Recipe
from bt_runtime.envs.textcraft.world import MANY

Verdict = Literal["have", "get", "craft"]


class Need(NamedTuple):
    """One ingredient for all the times that a recipe is followed."""

    each: int
    amount: int
    name: str  # as the recipe has it
    item: str  # what is taken for it
    verdict: Verdict

    def written(self) -> str:
        taken = "" if self.item == self.name else f" = {self.item}"
        pieces = self.pieces()
        listed = f" {', '.join(map(str, pieces))}" if self.verdict == "get" and len(pieces) > 1 else ""
        return f"{self.amount} {self.name}{taken}: {self.verdict}{listed}."

    def pieces(self) -> list[int]:
        """The numbers in which it is fetched: a world offers multiples of what a recipe calls for, up to a bound."""
        most = max(self.each, MANY // self.each * self.each)
        return [most] * (self.amount // most) + ([self.amount % most] if self.amount % most else [])


class Work(NamedTuple):
    """A recipe to follow until there is as much as is wanted, and what its ingredients take."""

    recipe: Recipe
    wanted: int
    needs: tuple[Need, ...]

    @property
    def times(self) -> int:
        return -(-self.wanted // self.recipe.makes)

    def using(self) -> str:
        """What follows the product's name in the list: so it is copied from there, and then found what it makes."""
        return self.recipe.command().partition(" using ")[2]

    def thought(self) -> str:
        counts = f"Wants {self.wanted}, makes {self.recipe.makes}, times {self.times}."
        return f"{self.recipe.item} using {self.using()}. {counts} {_listed(self.needs)}"

    def rest(self, start: int) -> str:
        """Said when an ingredient has been made, and the next is due."""
        made = f"{self.needs[start - 1].amount} {self.needs[start - 1].item}: made."
        left = _listed(self.needs[start:]) or "nothing."
        return f"{made} {self.recipe.item} using {self.using()}. Times {self.times}. Left: {left}"

    def last(self) -> str:
        """The part that finishes with what the others have made: it names what it uses."""
        needs = ", ".join(f"{need.each} {need.item}" for need in self.needs)
        return f"craft {self.wanted} {self.recipe.item} using {needs}"

    def parts(self, last: str) -> list[str]:
        """Subgoals: what has itself to be crafted; where nothing has, what is fetched; and the last craft."""
        chosen = [n for n in self.needs if n.verdict == "craft"] or [n for n in self.needs if n.verdict == "get"]
        return [*(f"{need.verdict} {need.amount} {need.item}" for need in chosen), last]


def _listed(needs: Sequence[Need]) -> str:
    return " ".join(need.written() for need in needs)


def survey(scene: Scene, recipe: Recipe, wanted: int, bag: Mapping[str, int]) -> Work:
    """What each ingredient takes; `bag` is what may be used up."""
    needs, times = [], -(-wanted // recipe.makes)
    for each, name in recipe.needs:
        item, amount = scene.members.get(name, name), each * times
        verdict: Verdict = "have" if bag.get(item, 0) >= amount else "craft" if scene.crafted(item) else "get"
        needs.append(Need(each, amount, name, item, verdict))
    return Work(recipe, wanted, tuple(needs))


def work_for(scene: Scene, wanted: Wanted) -> Work | None:
    """None when no recipe makes it."""
    recipe = scene.named(wanted.item, wanted.needs) or scene.recipe(wanted.item)
    return recipe and survey(scene, recipe, wanted.amount, scene.bag if wanted.finishes else {})
