"""Reads the game's own recipe files: a folder of JSON files, or one JSON file with all of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bt_envs.textcraft.recipes import NAMESPACE, Book, Ingredient, Recipe
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.content import read_json
from bt_runtime.skills.worlds.outline import inside, outline

# Circles are cut in load order; with these first every item that the paper tests can be made.
FIRST = ("iron_nugget.json", "gold_nugget.json", "honey_bottle.json")
_TABLE = ("minecraft:crafting_shaped", "minecraft:crafting_shapeless")
_MADE = {"result", "ingredient", "ingredients", "pattern"}  # what an entry says besides its type
PEEKED = 16  # files of a folder that are looked into, to tell what it is
_TAG = "#"  # marks a generic ingredient until it is known which of them have members


def is_ours(path: Path) -> bool:
    """True for a recipe file, a file with all recipes, or a folder with either."""
    if path.is_dir():
        inner = path / "recipes" if (path / "recipes").is_dir() else path
        return any(map(is_ours, inside(inner)[:PEEKED]))
    found = outline(path)
    return not found.rows and any("type" in names and names & _MADE for names in (found.keys, found.inner))


def read_game(path: Path) -> Book:
    """Reads a book from the game's recipe files."""
    files = _files(path)
    order = [name for name in FIRST if name in files]
    order += sorted(set(files) - set(order))
    recipes = []
    groups: dict[str, str] = {}
    for name in order:
        try:
            found = _recipe(files[name], groups)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
            raise BtError(f"{path}: {name} is not a recipe of the game: {problem!r}", "leave it out") from problem
        recipes += [found] if found else []
    return _book(recipes, groups)


def _files(path: Path) -> Mapping[str, Any]:
    many = (p for p in inside(path) if "type" in outline(p).inner and is_ours(p))
    single = path if path.is_file() else next(many, None)
    try:
        if single:
            loaded = read_json(single, "give a folder of the game's recipe files")
            return {single.name: loaded} if "type" in loaded else loaded if isinstance(loaded, dict) else {}
        folder = path / "recipes" if (path / "recipes").is_dir() else path
        files = {p.name: json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))}
    except (OSError, ValueError) as problem:
        raise BtError(
            f"cannot read recipes from {path}: {problem}", "give a folder of the game's recipe files"
        ) from None
    if not files:
        raise BtError(f"no recipe files in {path}", "give the folder that holds `recipes/` or `recipes_*.json`")
    return files


def _recipe(raw: Mapping[str, Any], groups: dict[str, str]) -> Recipe | None:
    """Reads a crafting-table recipe; None for other recipes, and for taking a block apart."""
    if raw.get("type") not in _TABLE:
        return None
    needs = tuple(Ingredient(count, item) for item, count in Counter(_named(raw)).items())
    if not needs:
        raise ValueError("it has no ingredients")
    result = raw["result"]
    item = _plain(result if isinstance(result, str) else result["item"])
    makes = 1 if isinstance(result, str) else int(result.get("count") or 1)
    if len(needs) == 1 and needs[0].item.endswith(" block"):
        return None
    if raw.get("group"):
        groups[item] = _plain(raw["group"])
    return Recipe(item, makes, needs)


def _named(raw: Mapping[str, Any]) -> Iterator[str]:
    """Yields each ingredient's name, once for each use."""
    if "pattern" in raw:
        squares = Counter("".join(raw["pattern"]))
        for key, ingredient in raw["key"].items():
            yield from [_name(ingredient)] * squares[key]
    else:
        yield from (_name(ingredient) for ingredient in raw["ingredients"])


def _name(ingredient: Any) -> str:
    first = ingredient[0] if isinstance(ingredient, list) else ingredient
    return _plain(first["item"]) if "item" in first else _TAG + _plain(first["tag"])


def _plain(game_name: str) -> str:
    return game_name.removeprefix(NAMESPACE).replace("_", " ")


def _book(recipes: Iterable[Recipe], groups: Mapping[str, str]) -> Book:
    """Builds the book. A tag becomes a kind when some recipe makes a member of it (the game's `group`); otherwise it is
    an item to fetch."""
    untagged = Book("data", [_untag(r) for r in recipes], {})
    kinds: dict[str, list[str]] = {}
    for item, group in groups.items():
        if item != group and untagged.craftable(item):
            kinds.setdefault(group, []).append(item)
    used = {n.item[1:] for r in recipes for n in r.needs if n.item.startswith(_TAG)}
    return Book("data", untagged.recipes, {kind: members for kind, members in kinds.items() if kind in used})


def _untag(recipe: Recipe) -> Recipe:
    return recipe._replace(needs=tuple(Ingredient(n.amount, n.item.removeprefix(_TAG)) for n in recipe.needs))
