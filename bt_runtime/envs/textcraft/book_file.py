"""Our own form of a recipe book: YAML with one line a recipe, and words that stand for whole families."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from bt_runtime.envs.content import many, read_yaml, texts
from bt_runtime.envs.textcraft.recipes import Book, Recipe, read_line
from bt_runtime.faults.diagnostic import BtError

MOST = 1000  # texts that one line stands for: the fullest of ours is 16
_WORD = re.compile(r"\{(\w+)\}")


def read_book(path: Path) -> Book:
    """The book in that file; a line that is no recipe is an error that quotes it."""
    found = read_yaml(path)
    words = many(found, "words", path, {})
    lines = texts(found, "recipes", path, None)
    recipes = [_recipe(line, path) for text in lines for line in spread(text, words, path)]
    kinds = {
        kind: [name for text in members for name in spread(text, words, path)]
        for kind, members in many(found, "kinds", path, {}).items()
    }
    return Book(str(found.get("book", path.stem)), recipes, kinds)


def spread(text: str, words: Mapping[str, Sequence[str]], path: Path) -> Iterator[str]:
    """`{wood} door` → one text for each wood; the same word twice in a line has the same value."""
    used = list(dict.fromkeys(_WORD.findall(text)))
    for word in used:
        if word not in words:
            raise BtError(f"{path}: `{{{word}}}` is not one of `words`", f"words here: {', '.join(words)}")
    if math.prod(len(words[w]) for w in used) > MOST:
        raise BtError(f"{path}: `{text}` stands for more than {MOST:,} lines", "name fewer of `words` in one line")
    for values in product(*(words[w] for w in used)):
        chosen = dict(zip(used, values, strict=True))
        yield _WORD.sub(lambda m, chosen=chosen: chosen[m[1]], text)  # type: ignore[misc]


def _recipe(line: str, path: Path) -> Recipe:
    recipe = read_line(line)
    if recipe is None:
        raise BtError(f"{path}: `{line}` is not a recipe", "write `4 oak planks = 1 oak log, 2 stick`")
    return recipe
