"""Tasks for lessons in homes with rules of their own: homes, rules and instructions that no evaluation has."""

from __future__ import annotations

from random import Random

from bt_envs.house.chores import Chore, can_be_done, make_chore
from bt_envs.house.phrases import capital
from bt_envs.house.rules import Rules
from bt_envs.house.start import house_of
from bt_envs.house.suite import load_content
from bt_runtime.types import Task
from recipes.starter.data import read
from recipes.starter.house.homes import make_home

_SAID: dict[str, list[str]] = read("house/phrasings")["chores"]
_LEADS, _MADE, _DONE, _FACTS, _ENDS = (_SAID[sort] for sort in ("leads", "made", "done", "facts", "ends"))


def sentence(process: str, rng: Random) -> str:
    """How a chore is asked for; none of these is one of the evaluation's."""
    said = rng.choice(_FACTS) if rng.random() < 0.25 else rng.choice(_LEADS) + rng.choice((*_MADE, *_DONE))
    return capital(said.replace("{verb}", process)) + rng.choice(_ENDS)


def make_lesson_chore(process: str, rules: Rules, rng: Random, name: str, hint: bool = True) -> Task:
    """A chore in a home of its own under these rules."""
    content = load_content()
    usual = content.chores[process]
    while True:
        home = make_home(rng, content.catalogue, most=5)
        house = house_of(home, content.catalogue)
        chore = Chore(process, usual.things, usual.spots, (sentence(process, rng),))
        if can_be_done(chore, rules, house):
            task = make_chore(chore, rules, house, content.catalogue, rng, name, hint)
            return task._replace(data={**task.data, "house": home})
