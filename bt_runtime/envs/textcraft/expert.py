"""TextCraft's oracle with its reasons: one recipe at a time, ingredients first, as ADaPT would take it apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Literal

from bt_runtime.envs.textcraft.planner import Deed, plan
from bt_runtime.envs.textcraft.recipes import Recipe
from bt_runtime.envs.textcraft.world import TextCraft
from bt_runtime.envs.trajectory import Act, Enter, Expand, Leave, Moves, Think

Form = Literal["react", "reactree"]


@dataclass(slots=True)
class Crafter:
    world: TextCraft
    goal: str
    form: Form = "react"
    bag: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)  # set aside for a recipe that is being prepared
    ways: Mapping[str, Deed] = field(default_factory=dict)

    def run(self) -> Moves:
        """From an empty bag to the goal."""
        deeds = plan(self.world.book, self.goal)
        self.ways = {deed.item: deed for deed in deeds}
        if not deeds:
            yield Think(f"None of the recipes makes {self.goal}.")
            return False
        return (yield from self._have(self.goal, 1))

    def _have(self, item: str, amount: int) -> Moves:
        """See to it that so many are free to be used."""
        lacking = amount - (self.bag[item] - self.kept[item])
        recipe = self.ways[item].recipe
        if lacking <= 0:
            yield Think(f"I have {amount} {item} left already.")
        elif recipe is None:
            yield from self._get(item, lacking)
        else:
            yield from self._craft(recipe, self.ways[item].stand_in, ceil(lacking / recipe.makes))
        return True

    def _get(self, item: str, amount: int) -> Moves:
        yield Act(f"get {amount} {item}")
        self.bag[item] += amount
        return True

    def _craft(self, recipe: Recipe, stand_in: Mapping[str, str], times: int) -> Moves:
        needs = [(stand_in[n.item], n.amount * times) for n in recipe.needs]
        listed = " and ".join(f"{amount} {item}" for item, amount in needs)
        often = "" if times == 1 else f", {times} times"
        yield Think(f"{recipe.item} is made by: {recipe.command()}{often}. For that I need {listed}.")
        parts = [
            (self._goal_of(item, amount), partial(self._have, item, amount), item, amount) for item, amount in needs
        ]
        last = f"craft {recipe.makes * times} {recipe.item} from what I have"
        expands = self.form == "reactree" and any(self.ways[item].recipe for item, _ in needs)
        if expands:
            yield Expand("sequence", (*(text for text, *_ in parts), last))
        for text, part, item, amount in parts:
            yield from self._node(text, part, expands)
            self.kept[item] += amount
        yield from self._node(last, partial(self._make, recipe, stand_in, times), expands)
        for item, amount in needs:
            self.kept[item] -= amount
        return True

    def _goal_of(self, item: str, amount: int) -> str:
        return f"{'craft' if self.ways[item].recipe else 'get'} {amount} {item}"

    def _make(self, recipe: Recipe, stand_in: Mapping[str, str], times: int) -> Moves:
        for _ in range(times):
            yield Act(recipe.command(stand_in))
            for need in recipe.needs:
                self.bag[stand_in[need.item]] -= need.amount
            self.bag[recipe.item] += recipe.makes
        return True

    def _node(self, goal: str, part: Callable[[], Moves], own: bool) -> Moves:
        """An agent node of its own where the parent has expanded."""
        if not own:
            return (yield from part())
        yield Enter(goal)
        came_out = yield from part()
        yield Leave("success" if came_out else "failure")
        return came_out
