"""Tasks of TextCraft: a goal, the recipes that lead to it, and up to ten that do not."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from bt_envs.textcraft.invent import invent
from bt_envs.textcraft.recipes import Book, Recipe
from bt_runtime.types import Json, Task

DISTRACTORS = 10


def gold(book: Book, goal: str) -> list[Recipe]:
    """Every recipe in the tree under the goal."""
    found: list[Recipe] = []
    seen: set[str] = set()
    todo = [goal]
    while todo:
        name = todo.pop(0)
        if name in seen:
            continue
        seen.add(name)
        todo += book.kinds.get(name, ())
        for recipe in book.of.get(name, ()):
            found.append(recipe)
            todo += [n.item for n in recipe.needs]
    return found


def commands(book: Book, goal: str, rng: Random) -> list[Recipe]:
    """Returns the recipes that a player sees, shuffled: the needed ones, and distractors with common ingredients."""
    shown = gold(book, goal)
    others: dict[Recipe, None] = {}
    for recipe in shown:
        for need in recipe.needs:
            uses = book.uses.get(need.item, [])
            others.update(dict.fromkeys(rng.sample(uses, min(len(uses), DISTRACTORS))))
    pool = [r for r in others if r not in set(shown)]
    shown = shown + rng.sample(pool, min(len(pool), DISTRACTORS))
    rng.shuffle(shown)
    return shown


def task_of_book(book: Book, goal: str, rng: Random, name: str) -> Task:
    data = {"book": book.name, "goal": goal, "commands": [r.line() for r in commands(book, goal, rng)]}
    return Task(name, f"depth {book.depth(goal)}", f"craft {goal}", data)


def task_invented(depth: int, rng: Random, split: str, name: str) -> Task:
    """Makes a task that carries its own invented recipe book."""
    book = invent(rng.getrandbits(32), split)
    goal = rng.choice(book.goals(depth))
    own = task_of_book(book, goal, rng, name)
    data: dict[str, Json] = {k: v for k, v in own.data.items() if k != "book"}
    data["recipes"] = [r.line() for r in book.recipes]
    data["kinds"] = {kind: list(members) for kind, members in book.kinds.items()}
    return own._replace(data=data)


def depths(kinds: Sequence[str] | None) -> list[int]:
    """`["depth 2"]` → [2]."""
    return [int(kind.rpartition(" ")[2]) for kind in kinds or ()]
