"""Reads the tasks in ADaPT's result files of TextCraft, with the recipes shown in each; the results are ignored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bt_envs.textcraft.recipes import Book, Recipe, counted
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.outline import outline
from bt_runtime.types import Task


def is_ours(path: Path) -> bool:
    """True when the first entry has a problem and the shown commands, which other worlds' results lack."""
    return not outline(path).rows and {"problem", "commands"} <= outline(path).inner


def read_results(found: Any, shelf: Mapping[str, Book], name: str) -> list[Task]:
    """`{"env_0": {"problem": "craft X.", "commands": …}}`; X is made by the last book of `shelf` that knows it."""
    if not isinstance(found, dict) or not found:
        raise BtError(f"{name} holds no results of TextCraft", 'they are {"env_0": {"problem": …, "commands": …}, …}')
    tasks = []
    for key, entry in found.items():
        if isinstance(entry, dict) and "problem" not in entry and "commands" not in entry:
            continue  # `overall`: how many were reached
        try:
            goal = str(entry["problem"]).strip().removeprefix("craft ").rstrip(".")
            shown = list(_recipes(str(entry["commands"])))
        except (KeyError, TypeError) as problem:
            raise BtError(f"{name}: `{key}` is no result of TextCraft: {problem!r}", "leave it out") from None
        tasks.append(_task(f"{name}-{key}", goal, shown, shelf))
    return tasks


def _task(task: str, goal: str, shown: list[Recipe], shelf: Mapping[str, Book]) -> Task:
    """Builds a task. If no book can craft the goal, only the shown recipes apply."""
    lines = [recipe.line() for recipe in shown]
    books = [book for book in shelf.values() if book.craftable(goal)]
    if books:
        book = books[-1]
        return Task(task, f"depth {book.depth(goal)}", f"craft {goal}", _data(goal, lines, book=book.name))
    own = Book("task", shown, {})
    return Task(task, f"depth {own.depth(goal)}", f"craft {goal}", _data(goal, lines, recipes=lines, kinds={}))


def _data(goal: str, lines: list[str], **more: Any) -> dict[str, Any]:
    return {**more, "goal": goal, "commands": lines}


def _recipes(text: str) -> Iterator[Recipe]:
    """Parses the recipes: `craft 4 oak planks using 1 oak logs`, one a line; other lines are headings."""
    for line in text.splitlines():
        made, sign, used = line.strip().removeprefix("craft ").partition(" using ")
        item = counted(made)
        needs = [need for part in used.split(",") if (need := counted(part)) is not None]
        if sign and item is not None and needs:
            yield Recipe(item.item, item.amount, tuple(needs))
