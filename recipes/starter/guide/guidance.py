"""Lessons of a guide: whole optimisations of a plan, by the tree that `btr lab optimise` runs; the coach is the model.

Each has house rules, homes and instructions of its own. It begins with no plan, or with one that is right, that knows a
part, or that is wrong in a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from bt_envs.house.rules import PROCESSES, Rule, Rules
from bt_envs.house.suite import load_content
from bt_lab.distill.documents import Document
from bt_runtime.agents import autoplan
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.run.run import Run, Tree, load
from bt_runtime.tree.budget import Budget
from bt_runtime.tree.clock import Manual
from recipes.starter.guide import appliance_facts as facts
from recipes.starter.guide.appliance_facts import Known
from recipes.starter.guide.chores import make_lesson_chore
from recipes.starter.guide.coach import Coach
from recipes.starter.lesson import Slips

_BATCHES = (2, 2, 2, 4, 4, 8)
_FEEDBACK = ("detailed",) * 7 + ("full",) * 2 + ("terse",)
_PARTS = (
    *[(autoplan.SUMMARY, autoplan.FLAW, autoplan.REVISION)] * 5, (autoplan.SUMMARY,),
    (autoplan.SUMMARY, autoplan.REVISION), (autoplan.SUMMARY, autoplan.FLAW),
)  # fmt: skip
_STEPS = (9, 10, 11, 12, 12, 13, 14, 16, 24)  # acts of an attempt: some end before they come to anything
_SLIPPING = (0.0, 0.0, 0.04, 0.08)
_MOST = {"acting": 4, "reflecting": 3}  # documents of one lesson: they share its rules, and more lessons teach more
_DONE = "Act: done\n"
RULES = 100_000  # sets of training rules to draw from


def lessons(seed: int, count: int, first: int = 0) -> Iterator[list[Document]]:
    """So many optimisations; the same numbers give the same lessons."""
    tree = load("autoplan")
    for number in range(first, first + count):
        yield lesson(tree, seed, number)


def lesson(tree: Tree, seed: int, number: int) -> list[Document]:
    rng = Random(f"guidance {seed} {number}")
    process, rules = rng.choice(list(PROCESSES)), house_rules(rng.randrange(RULES))
    name = f"guidance-{seed}-{number:06}"
    hint = rng.random() < 0.95

    def tasks(part: str, count: int) -> list[Any]:
        return [make_lesson_chore(process, rules, rng, f"{name}-{part}-{i}", hint)._asdict() for i in range(count)]

    batch = rng.choice(_BATCHES)
    rounds = [{"iteration": 0, "tasks": []}] + [{"iteration": n, "tasks": tasks(str(n), batch)} for n in (1, 2)]
    coach = Coach(Slips(rng.choice(_SLIPPING), rng))
    with TemporaryDirectory() as folder:
        inputs = {
            "world": "house", "options": {"feedback": rng.choice(_FEEDBACK)}, "goal": f"{process} tasks in the house",
            "rounds": rounds, "validation": tasks("aside", 2),
            "plan": beginning(process, facts.of(process, rules), rng),
            "parts": list(rng.choice(_PARTS)), "at_once": 1, "patience": 9, "folder": folder,
        }  # fmt: skip
        budget = Budget(steps=rng.choice(_STEPS))
        with Run(tree, inputs=inputs, model=ScriptedModel(coach), seed=seed, budget=budget, clock=Manual()) as run:
            run.spin()
    return chosen(coach, rng)


def house_rules(number: int) -> Rules:
    """None of them has a rule of the evaluation."""
    return load_content().rulebook.draw(number, "train")


def chosen(coach: Coach, rng: Random) -> list[Document]:
    """All rewritings, and some of the others: attempts that came to their end rather than those that were cut off."""
    found: list[Document] = []
    for sort, most in _MOST.items():
        own = getattr(coach, sort).documents()
        rng.shuffle(own)
        found += sorted(own, key=lambda document: not document.text.endswith(_DONE) and rng.random() < 0.5)[:most]
    return found + coach.rewriting.documents()


# plans to begin with ---------------------------------------------------------------------------


def beginning(process: str, right: Known, rng: Random) -> str:
    """No plan, or one that somebody might have written."""
    sort = rng.choices(("empty", "right", "part", "wrong"), (45, 10, 20, 25))[0]
    if sort == "empty":
        return ""
    known = (
        right if sort == "right" else partly(process, right, rng) if sort == "part" else wrongly(process, right, rng)
    )
    return facts.plan(process, known) if rng.random() < 0.75 else reworded(process, known, rng)


def partly(process: str, right: Known, rng: Random) -> Known:
    """Some of it; or only what is of no use."""
    if rng.random() < 0.5:
        vain = [name for name in load_content().rulebook.appliances[process] if name != right.use]
        return Known(tuple(rng.sample(vain, rng.randint(1, len(vain)))))
    forgotten: dict[str, Any] = {slot: "" for slot in facts.SLOTS if rng.random() < 0.5}
    return replace(right, **forgotten)


def wrongly(process: str, right: Known, rng: Random) -> Known:
    """One line of it is not as it is in that house, or the appliance is another one. Rules of the evaluation are not
    even told wrongly."""
    rules = [rule for rule in load_content().rulebook.rules["train"][process] if rule.place != right.use]
    near = [rule for rule in load_content().rulebook.rules["train"][process] if _one_off(rule, right)]
    rule = rng.choice(near if near and rng.random() < 0.5 else rules)
    return facts.of(process, Rules({process: rule}))


def _one_off(rule: Rule, right: Known) -> bool:
    """The same appliance, used otherwise in one respect."""
    return (
        rule.place == right.use
        and sum(a != b for a, b in zip(rule.way, (right.thing, right.door, right.power), strict=True)) == 1
    )


_WORDINGS: Sequence[dict[str, str]] = (
    {
        "find": "Pick up the thing.", "bring": "Carry the thing to its place.", "use": "Use the {place} for {doing}.",
        "held": "Keep the thing in your hand.", "inside": "The thing goes into it.", "door": "See that it is {door}.",
        "power": "See that {switch} is {power}.", "useless": "Do not {verb} with the {place}.",
    },
    {
        "find": "Look for the thing and pick it up.", "bring": "Then put the thing where it is wanted.",
        "use": "What {does} is the {place}.", "held": "The thing stays in your hand.",
        "inside": "Lay the thing inside.", "door": "It must be {door}.", "power": "{Switch} must be {power}.",
        "useless": "The {place} cannot be used for {doing}.",
    },
)  # fmt: skip


def reworded(process: str, known: Known, rng: Random) -> str:
    """The same plan in other words."""
    words, about = rng.choice(_WORDINGS), PROCESSES[process]
    switch = f"the {known.tap}" if known.tap else "it"
    slots = {
        "place": known.use, "verb": process, "does": about.does, "doing": about.doing, "door": known.door,
        "power": known.power, "switch": switch, "Switch": switch.capitalize(),
    }  # fmt: skip
    keys = ["use", known.thing, "door" if known.door else "", "power" if known.power else ""] if known.use else []
    lines = [words[key].format(**slots) for key in keys if key]
    lines += [] if known.use else [words["useless"].format(**{**slots, "place": place}) for place in known.useless]
    return facts.numbered([words["find"], *lines, words["bring"]])
