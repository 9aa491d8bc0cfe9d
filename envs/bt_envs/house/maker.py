"""Makes the tasks of one kind, whichever file describes it, in the homes that have what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from bt_envs.house.catalogue import Catalogue
from bt_envs.house.chores import Chore, can_be_done, make_chore
from bt_envs.house.layout import House
from bt_envs.house.rules import Rules, as_data
from bt_envs.house.tasks import Errand, fits, make_task
from bt_runtime.types import Task


@dataclass(frozen=True)
class Maker:
    catalogue: Catalogue
    errands: Mapping[str, Errand]
    chores: Mapping[str, Chore]
    usual: Rules  # for chores when no others are asked for
    rules: Rules | None
    hint: bool

    def fit(self, kind: str, homes: Iterable[House]) -> list[House]:
        if kind in self.errands:
            return [home for home in homes if fits(self.errands[kind], home)]
        return [home for home in homes if can_be_done(self.chores[kind], self.rules or self.usual, home)]

    def make(self, kind: str, home: House, rng: Random, name: str) -> Task:
        if kind in self.errands:
            return under(self.rules, make_task(self.errands[kind], home, self.catalogue, rng, name))
        chore, rules = self.chores[kind], self.rules or self.usual
        return make_chore(chore, rules, home, self.catalogue, rng, name, self.hint)


def under(rules: Rules | None, task: Task) -> Task:
    """Returns the task in a house with these rules."""
    return task if rules is None else task._replace(data={**task.data, "rules": as_data(rules)})
