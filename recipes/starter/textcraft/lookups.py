"""Lookups: many goals about one list of recipes, so that a long list is read for more than one answer.

A lesson's prompt has a list of its own for one recipe that is looked for. Here the list stands once, as an executor or
a planner is told it, and goals follow one another: each with its bag, and then what would be answered to it if it stood
alone. Asked for are rather those whose names end alike, or whose recipes begin alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random

from bt_envs.textcraft.recipes import Book, Recipe
from bt_envs.textcraft.world import TextCraft
from bt_lab.distill.documents import Document
from bt_runtime.agents.prompt import agent_prompt, system_text
from bt_runtime.agents.story import THINK, StoryStep, written
from bt_runtime.agents.surroundings import DONE, FAILURE
from bt_runtime.types import Task
from recipes.starter.drills import Sheet
from recipes.starter.seen import read
from recipes.starter.textcraft.books import imagined, misread
from recipes.starter.textcraft.scene import Scene, read_bag, read_scene
from recipes.starter.textcraft.teacher import teacher

KIND = "textcraft lookups"
NOTHING = "Inventory: You are not carrying anything."
_GOALS = (5, 14)  # about one list
_ROLES = {"executor": ["think", "act"], "plan_steps": ["expand"]}
_SHORT, _LONG, _TO_THE_END = 2, 16, 0.35  # lines of what is carried out; how often it is to its end
_LOOK = "inventory"
_WANTS = (1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 6, 8, 9, 12, 16, 18, 24)


def lookups(seed: int, count: int, first: int = 0, wide: float = 0.75) -> Iterator[Document]:
    """So many lists; the same numbers give the same ones. `wide` is the share of those as long as the game's."""
    world = TextCraft({})
    for number in range(first, first + count):
        rng = Random(f"lookups {seed} {number}")
        task = None
        while task is None:
            task = imagined(rng, rng.choice((2, 3, 3, 4)), f"lookups-{seed}-{number}", rng.random() < wide)
        yield _asked(rng, world, task)


def _asked(rng: Random, world: TextCraft, task: Task) -> Document:
    world.reset(task)
    shown = world.look().text.removesuffix(NOTHING)
    role = rng.choice(("executor", "plan_steps"))
    system = system_text(role, {"moves": _ROLES[role], "recall": False})
    sheet, asked = Sheet(), set[str]()
    for recipe in _chosen(rng, world.book, read_scene(shown)):
        goal, bag = _goal(rng, world.book, recipe, role == "executor", asked)
        prompt = agent_prompt(system, goal, f"{shown}{bag}").text()
        sheet.say(f"\nYour task is to: {goal}\n{bag}\n" if sheet.text else prompt)
        if role == "executor":
            world.restore(_holding(world.snapshot(), read_bag(bag)))
            _carried_out(sheet, prompt, world, _LONG if rng.random() < _TO_THE_END else _SHORT)
        else:
            sheet.say("# Think:")
            sheet.answer(teacher(read(f"{prompt}# Think:"), ()))
            sheet.say("\n")
    return Document(KIND, sheet.text, tuple(sheet.learn))


def _holding(snapshot: bytes, bag: Mapping[str, int]) -> bytes:
    return json.dumps({**json.loads(snapshot), "bag": bag}).encode()


def _chosen(rng: Random, book: Book, scene: Scene) -> list[Recipe]:
    """Of each thing once: what was answered before is not to be copied instead of the list. First come rather those
    that take one of a kind that is made, and those that are read wrong most."""
    order = sorted(scene.recipes, key=lambda recipe: rng.random() * _late(recipe, book, scene))
    return list({recipe.item: recipe for recipe in reversed(order)}.values())[::-1][: rng.randint(*_GOALS)]


def _late(recipe: Recipe, book: Book, scene: Scene) -> float:
    if any(need.item in scene.members for need in recipe.needs):
        return 0.1
    return 0.4 if misread(recipe, book) else 1.0


def _carried_out(sheet: Sheet, prompt: str, world: TextCraft, most: int) -> None:
    """So many lines at most: the thought and what is done first, or all of it, as often as it takes."""
    steps: list[StoryStep] = []
    while len(steps) < most:
        said = teacher(read(prompt + written(steps)), [*world.skills(), DONE, FAILURE])
        text = said.partition(" ")[2]
        if text == _LOOK:  # what was to be fetched is made by a recipe that is not shown
            return
        sheet.answer(f"{said}\n")
        if text in (DONE, FAILURE):
            return
        steps.append(
            StoryStep("think", text) if said.startswith(THINK) else StoryStep("act", text, world.act(text).text)
        )
        _, _, heard = steps[-1].written().partition("\n")
        sheet.say(f"{heard}\n")


def _goal(rng: Random, book: Book, recipe: Recipe, acts: bool, asked: set[str]) -> tuple[str, str]:
    """What is asked for, and the bag: empty, but for a goal that finishes with what others have made. Of what is
    crafted `get` is asked as well, as by a plan that was wrong."""
    amount, sort = rng.choice(_WANTS), rng.random()
    if sort < 0.2 and acts:
        listed = ", ".join(f"{need.amount} {need.item}" for need in recipe.needs)
        return f"craft {amount} {recipe.item} using {listed}", _bag(rng, book, recipe, amount)
    verb = "get" if rng.random() < 0.1 else "craft"
    needs = [need.item for need in recipe.needs if need.item not in asked]
    kinds = [name for name in needs if name in book.kinds]
    fetched = [name for name in needs if book.fetchable(name)]
    name = recipe.item
    if sort < 0.5 and kinds:
        name = rng.choice(kinds)
    elif sort < 0.27 and fetched:
        name, verb = rng.choice(fetched), "craft"
    asked.add(name)
    return (f"{verb} {amount} {name}" if sort < 0.85 or verb == "get" else f"craft {name}"), NOTHING


def _bag(rng: Random, book: Book, recipe: Recipe, amount: int) -> str:
    """Most of what it takes, at times too little of it, and something that is left over from elsewhere."""
    held: dict[str, int] = {}
    for need in recipe.needs:
        if rng.random() < 0.7:
            held[rng.choice(book.members(need.item))] = max(
                1, need.amount * amount + rng.choice((0, 0, 0, 1, 2, 3, -1))
            )
    for other in rng.sample(sorted(book.items), rng.choice((0, 0, 1, 1, 2))):
        held.setdefault(other, rng.randint(1, 8))
    listed = list(held.items())
    rng.shuffle(listed)
    return f"Inventory: {' '.join(f'[{item}] ({n})' for item, n in listed)}" if listed else NOTHING
