"""Reads our recipe books: YAML with one recipe a line, and words that stand for whole families of items."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from bt_envs.textcraft.recipes import Book, Recipe, read_line
from bt_runtime.skills.worlds.content import TEXT, TEXTS, Content, by_name, check_of, read_yaml

MOST = 1000  # texts that one line stands for: the fullest of ours is 16
_WORD = re.compile(r"\{(\w+)\}")
_FIELDS = {"book": TEXT, "words": by_name(TEXTS), "kinds": by_name(TEXTS), "recipes": TEXTS}
CHECK = check_of("a recipe book", _FIELDS, ("recipes",))
Line = tuple[str | int, ...]  # where it stands


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
