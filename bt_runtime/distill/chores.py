"""Tasks for lessons in homes with rules of their own: homes, rules and instructions that no evaluation has."""

from __future__ import annotations

from random import Random

from bt_runtime.distill.homes import make_home
from bt_runtime.envs.house.chores import Chore, can_be_done, make_chore
from bt_runtime.envs.house.rules import Rules
from bt_runtime.envs.house.start import house_of
from bt_runtime.envs.house.suite import load_content
from bt_runtime.envs.phrases import capital
from bt_runtime.types import Task

_LEADS = (
    "", "", "", "", "please ", "now ", "could you ", "I want you to ", "your job is to ", "kindly ", "next, ",
    "go and ", "you should ", "make sure to ", "help me to ",
)  # fmt: skip
_MADE = (  # {things} is "a hot apple"
    "bring {things} and lay it {way} the {place}", "place {things} {way} the {place}", "set {things} {way} the {place}",
    "leave {things} {way} the {place}", "have {things} ready {way} the {place}", "get {things} {way} the {place}",
    "put down {things} {way} the {place}", "see that {things} gets {way} the {place}", "lay {things} {way} the {place}",
)  # fmt: skip
_DONE = (  # {plain} is "an apple"
    "{verb} {plain}, then lay it {way} the {place}", "{verb} {plain} and bring it to its place {way} the {place}",
    "find {plain}, {verb} it and put it {way} the {place}", "{verb} {plain} for me, then set it {way} the {place}",
    "take {plain}, {verb} it and leave it {way} the {place}", "{verb} {plain}, and then put it {way} the {place}",
    "get {plain}, {verb} it, and place it {way} the {place}",
)  # fmt: skip
_FACTS = (
    "I need {things} {way} the {place}", "there must be {things} {way} the {place}",
    "I want {things} {way} the {place}",
    "what is missing {way} the {place} is {things}",
    "see to it that there is {things} {way} the {place}",
    "we would like {things} {way} the {place}",
)  # fmt: skip
_ENDS = (".", ".", ".", ".", ", please.", " now.", "!")


def sentence(process: str, rng: Random) -> str:
    """How a chore is asked for; none of these is one of the evaluation's."""
    said = rng.choice(_FACTS) if rng.random() < 0.25 else rng.choice(_LEADS) + rng.choice((*_MADE, *_DONE))
    return capital(said.replace("{verb}", process)) + rng.choice(_ENDS)


def make_lesson_chore(process: str, rules: Rules, rng: Random, name: str, hint: bool = True) -> Task:
    """A chore in a home of its own under these rules."""
    content = load_content()
    usual = content.chores.kinds[process]
    while True:
        home = make_home(rng, content.catalogue, most=5)
        house = house_of(home, content.catalogue)
        chore = Chore(process, usual.things, usual.spots, (sentence(process, rng),))
        if can_be_done(chore, rules, house):
            task = make_chore(chore, rules, house, content.catalogue, rng, name, hint)
            return task._replace(data={**task.data, "house": home})
