"""A teacher that judges whether a goal is met, by what was done: what `verify` asks.

Its thought takes the instruction apart as a plan would, and names for each part what was brought, or `none`; at the end
stands what is missing, in the words of a plan, from which the answer and the next attempt follow. In TextCraft it looks
into the bag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from bt_envs.house.notes import is_a
from bt_envs.house.suite import load_content
from bt_lab.distill.documents import Document
from bt_runtime.agents.story import THINK
from bt_runtime.agents.verify import ASKED, NO, YES
from recipes.starter import room_judge
from recipes.starter.drills import Sheet
from recipes.starter.errand import Errand, understood
from recipes.starter.room_judge import DEED, MISSING, NOTHING
from recipes.starter.textcraft.scene import Wanted, read_bag, read_goal

# people write in several lines
_GOAL = re.compile(r"\n\nThe goal: (.*?)\n(?:What was done, |You are |Crafting commands:)", re.DOTALL)
_PUT = re.compile(r"You put down .+? (?:on|in) ([A-Za-z ]+?)(?: You hold .*)?\.?")
_CRAFTS, _BAG = "\nCrafting commands:\n", "\nInventory: "
STILL = "Still to do: "  # as who reflects says what was missing
_RUNS, _SECOND = 0.4, 0.5  # of what is doubted: only the start, only the second of two, where there is such a thing


class Deeds(NamedTuple):
    at: dict[str, str]  # thing → the kind of place where it was put down last
    running: set[str]  # what was turned on


def judges(prompt: str) -> bool:
    return "\n\nThe goal: " in prompt and prompt.startswith("You judge whether a goal is met")


def judged(prompt: str, told: Mapping[str, Any] | None = None) -> str:
    """The thought, or the answer that follows from it. `told`: what instructions mean, where somebody knows."""
    if prompt.endswith(ASKED):
        thought = prompt.rpartition("Think:")[2]
        return YES if NOTHING in thought else NO
    goal = _GOAL.search(prompt)
    said = goal[1] if goal else ""
    if _CRAFTS in prompt:
        return _in_the_bag(read_goal(said), read_bag(prompt.rpartition(_BAG)[2]))
    if wish := room_judge.wish_of(said, prompt, told or {}):
        return room_judge.thought(wish, prompt)
    errands = (told or {}).get(said) or understood(said, load_content().catalogue)
    return _thought(errands, _deeds(prompt))


def doubted(document: Document, rng: Random, told: Mapping[str, list[Errand]] | None = None) -> Document | None:
    """The same judgement, had one or two things not been put down, or turned on: any of them, not only the last."""
    prompt = document.text.partition(f"\n{THINK}")[0]
    lines = prompt.split("\n")
    deeds = [at for at, line in enumerate(lines) if line.startswith(("- put down ", "- turn on "))]
    if not deeds:
        return None
    started = [at for at in deeds if lines[at].startswith("- turn on ")]  # it is left out of instructions most easily
    second = _seconds({at: lines[at] for at in deeds})
    if started and rng.random() < _RUNS:
        gone = started
    elif second and rng.random() < _SECOND:
        gone = [rng.choice(second)]
    else:
        gone = rng.sample(deeds, min(len(deeds), rng.choice((1, 1, 2))))
    prompt = "\n".join([*(line for at, line in enumerate(lines) if at not in gone), THINK])
    return judgement(f"{document.kind} doubted", prompt, told)


def judgement(kind: str, prompt: str, told: Mapping[str, Any] | None = None) -> Document:
    """All that a judge says to a prompt of `verify`, as a lesson: the thought, and the answer that follows from it."""
    sheet = Sheet()
    sheet.say(prompt)
    sheet.answer(f" {judged(sheet.text, told)}\n")
    sheet.say(ASKED)
    sheet.answer(f" {judged(sheet.text)}\n")
    return Document(kind, sheet.text, tuple(sheet.learn))


def missing(notes: Sequence[str], errands: Sequence[Errand]) -> list[Errand]:
    """Those that a note of an earlier attempt says are missing; all of them where none does."""
    for note in notes:
        if MISSING in note:
            wanted = note.partition(MISSING)[2].rstrip(".").split(", ")
            return [errand for errand in errands if errand.goal() in wanted]
    return list(errands)


def pressing(notes: Sequence[str], errands: Sequence[Errand]) -> list[Errand]:
    """What the newest note says is still to do comes first; what is to be turned on stays last."""
    for note in reversed(notes):
        if STILL in note:
            wanted = note.partition(STILL)[2].rstrip(".").split(", ")
            return sorted(errands, key=lambda errand: (not errand.thing, errand.goal() not in wanted))
    return list(errands)


def _seconds(deeds: Mapping[int, str]) -> list[int]:
    """Where a thing was put down of whose kind another one was put down before."""
    names = {
        at: line.removeprefix("- put down ").partition(":")[0] for at, line in deeds.items() if " put down " in line
    }
    return [
        at
        for at, name in names.items()
        if any(
            before < at and other != name and other.rpartition(" ")[0] == name.rpartition(" ")[0]
            for before, other in names.items()
        )
    ]


def _deeds(prompt: str) -> Deeds:
    found = Deeds({}, set())
    for sentence, came in DEED.findall(prompt):
        put = _PUT.fullmatch(came)
        if put and sentence.startswith("put down "):
            found.at[sentence.removeprefix("put down ")] = put[1]
        elif sentence.startswith("pick up "):
            found.at.pop(sentence.removeprefix("pick up "), None)
        elif sentence.startswith("turn on "):
            found.running.add(sentence.removeprefix("turn on "))
        elif sentence.startswith("turn off "):
            found.running.discard(sentence.removeprefix("turn off "))
    return found


def _in_the_bag(wanted: Wanted, bag: Mapping[str, int]) -> str:
    part = f"{wanted.amount} {wanted.item}"
    held = bag.get(wanted.item, 0)
    missing = f"{MISSING}{part}." if held < wanted.amount else NOTHING
    return f"{part}: {held or 'none'}. {missing}"


def _thought(errands: Sequence[Errand], deeds: Deeds) -> str:
    said, lacking, used = [], [], set[str]()
    for errand in errands:
        if errand.thing:
            there = [n for n, at in deeds.at.items() if is_a(n, errand.thing) and at == errand.place and n not in used]
        else:
            there = [name for name in sorted(deeds.running) if is_a(name, errand.place)]
        there = there[: errand.amount]
        used.update(there)
        left = errand.amount - len(there)
        said.append(f"{errand.goal()}: {', '.join([*there, *['none'] * left])}.")
        if left:
            lacking.append(errand.goal())
    return " ".join([*said, f"{MISSING}{', '.join(lacking)}." if lacking else NOTHING])
