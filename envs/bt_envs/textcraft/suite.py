"""TextCraft as a suite. Training is on invented books only; the game's own book is for evaluation."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Literal

from bt_envs.textcraft import game_files, results_file
from bt_envs.textcraft.game_files import read_game
from bt_envs.textcraft.planner import plan
from bt_envs.textcraft.recipes import Book, Recipe, read_line
from bt_envs.textcraft.results_file import read_results
from bt_envs.textcraft.tasks import depths, task_invented, task_of_book
from bt_envs.textcraft.world import TextCraft
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import find
from bt_runtime.skills.worlds.content import TEXT, TEXTS, Content, by_name, check_of, read_json, read_yaml
from bt_runtime.skills.worlds.registry import Read, Split, Wanted, choose_kinds, no_more_options, tasks_of
from bt_runtime.types import Task, World

# Reads our recipe books: YAML with one recipe a line, and words that stand for whole families of items.

MOST = 1000  # texts that one line stands for: the fullest of ours is 16
_WORD = re.compile(r"\{(\w+)\}")
_FIELDS = {"book": TEXT, "words": by_name(TEXTS), "kinds": by_name(TEXTS), "recipes": TEXTS}
CHECK = check_of("a recipe book", _FIELDS, ("recipes",))
Line = tuple[str | int, ...]  # place of a line


def read_book(path: Path) -> Book:
    """Reads the book; raises for a line that is no recipe, and quotes it."""
    content = read_yaml(path, CHECK)
    found = content.data
    recipes = [
        _recipe(line, content, i)
        for i, text in enumerate(found["recipes"])
        for line in _spread(str(text), content, ("recipes", i))
    ]
    kinds = {
        kind: [name for i, text in enumerate(members) for name in _spread(str(text), content, ("kinds", kind, i))]
        for kind, members in found.get("kinds", {}).items()
    }
    return Book(str(found.get("book", path.stem)), recipes, kinds)


def _spread(text: str, content: Content, at: Line) -> Iterator[str]:
    """Expands `{wood} door` to one text for each wood. A repeated word has one value within a line."""
    words, used = content.data.get("words", {}), list(dict.fromkeys(_WORD.findall(text)))
    for word in used:
        if word not in words:
            raise content.fault(f"`{{{word}}}` is not one of `words`", f"words here: {', '.join(words)}", *at)
    if math.prod(len(words[w]) for w in used) > MOST:
        message = f"`{text}` stands for more than {MOST:,} lines"
        raise content.fault(message, "use fewer of the `words` in one line", *at)
    for values in product(*(map(str, words[w]) for w in used)):
        chosen = dict(zip(used, values, strict=True))
        yield _WORD.sub(lambda m, chosen=chosen: chosen[m[1]], text)  # type: ignore[misc]


def _recipe(line: str, content: Content, i: int) -> Recipe:
    recipe = read_line(line)
    if recipe is None:
        raise content.fault(f"`{line}` is not a recipe", "write `4 oak planks = 1 oak log, 2 stick`", "recipes", i)
    return recipe


RESULTS = "results of TextCraft are JSON, packed or not"


class TextCraftSuite:
    name = "textcraft"
    kinds: Sequence[str] = ("depth 1", "depth 2", "depth 3", "depth 4")
    skills = "textcraft"
    formats: Sequence[str] = ("TextCraft's recipes", "ADaPT's results of it")
    reads_data: Sequence[Literal["open", "tasks"]] = ("open", "tasks")

    def open(self, *, data: str | os.PathLike[str] | None = None, **options: Any) -> World:
        no_more_options(self.name, options, ("data",))
        return TextCraft(books(data))

    def tasks(
        self,
        seed: int,
        count: int,
        split: Split = "train",
        kinds: Sequence[str] | None = None,
        *,
        book: str | None = None,
        data: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> list[Task]:
        """Returns tasks. `book`: invented (default of train), game (default of eval), or data (recipe files under
        `data`).

        The paper tests depth 2 and deeper, so the game's deeper goals are for evaluation. Training has depth 1, and
        for `data` the goals in its dev_goals.json."""
        no_more_options(self.name, options, ("book", "data"))
        levels = depths(choose_kinds(self.kinds, kinds))
        source = book or ("data" if data else "invented" if split == "train" else "game")
        rng = Random(f"textcraft {split} {seed}")
        names = (f"textcraft-{split}-{seed}-{i:04}" for i in range(count))
        if source == "invented":
            return [task_invented(levels[i % len(levels)], rng, split, name) for i, name in enumerate(names)]
        shelf = books(data)
        if source not in shelf:
            raise BtError(f"no recipe book is called `{source}`", f"books here: invented, {', '.join(shelf)}")
        goals = _goals(shelf[source], levels, split, data if source == "data" else None)
        if not goals:
            raise BtError(f"the book `{source}` has no {split} goal of these kinds", "ask for other kinds or a split")
        decks = [_dealt(own, Random(f"goals {split} {seed} {i}")) for i, own in enumerate(goals)]
        return [task_of_book(shelf[source], next(decks[i % len(decks)]), rng, name) for i, name in enumerate(names)]

    def read(self, path: Path, wanted: Wanted) -> Read | None:
        """Reads recipe files or result files, by their content."""
        if game_files.is_ours(path):
            return tasks_of(self, wanted._replace(data=wanted.data or str(path)))
        if not results_file.is_ours(path):
            return None
        tasks = read_results(read_json(path, RESULTS), books(wanted.data or None), path.stem)
        chosen = [t for t in tasks if not wanted.kinds or t.kind in wanted.kinds]
        return Read(chosen[: wanted.episodes], {"data": wanted.data} if wanted.data else {})

    def wanted(self, task: Task) -> Mapping[str, int]:
        return {str(task.data["goal"]): 1}

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        no_more_options(self.name, options, ())
        if not isinstance(world, TextCraft):
            raise BtError("this oracle knows TextCraft only", "open the world with open_world('textcraft')")
        offered = set(world.skills())
        for deed in plan(world.book, str(task.data["goal"])):
            for sentence in deed.sentences():
                if deed.recipe is None and sentence not in offered:
                    yield from _in_parts(deed.item, deed.amount, offered)
                else:
                    yield sentence


SUITE = TextCraftSuite()


def books(data: str | os.PathLike[str] | None) -> dict[str, Book]:
    """Returns every book by name: ours (the project's file wins), and `data` when a folder of the game's files is
    named."""
    path = find("envs", "textcraft/game")
    if path is None:
        raise BtError("the recipe book envs/textcraft/game.yaml is missing", "reinstall bt_runtime")
    shelf = {"game": _read(path, path.stat().st_mtime_ns, True)}
    if data is not None:
        folder = Path(data)
        inner = folder / "textcraft" if (folder / "textcraft").is_dir() else folder
        shelf["data"] = _read(inner, 0, False)
    return shelf


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, ours: bool) -> Book:
    """Reads a book once: books never change, so worlds share them."""
    return read_book(path) if ours else read_game(path)


def _goals(book: Book, levels: Sequence[int], split: Split, data: str | os.PathLike[str] | None) -> list[list[str]]:
    """Returns the goals in one list for each depth that has any."""
    if data is None:
        own = [level for level in levels if (level == 1) == (split == "train")]
        return [goals for level in own if (goals := book.goals(level))]
    kept = _set_aside(Path(data))
    found = [[g for g in book.goals(level) if (g in kept) == (split == "train")] for level in levels if level > 1]
    return [goals for goals in found if goals]


def _dealt(goals: Sequence[str], rng: Random) -> Iterator[str]:
    """Deals goals: each once before any repeats, because a repeated goal adds little information."""
    while True:
        yield from rng.sample(goals, len(goals))


def _set_aside(data: Path) -> set[str]:
    """Returns the goals of the data that may be trained on."""
    folder = data if data.is_dir() else data.parent
    for path in (folder / "textcraft" / "dev_goals.json", folder / "dev_goals.json"):
        if path.is_file():
            return {entry["goal"] for entry in json.loads(path.read_text(encoding="utf-8"))}
    return set()


def _in_parts(item: str, count: int, offered: set[str]) -> Iterator[str]:
    """Yields sentences that fetch an unusual number in amounts that `skills` offers."""
    while count > 0:
        n = next((n for n in range(count, 0, -1) if f"get {n} {item}" in offered), count)
        yield f"get {n} {item}"
        count -= n
