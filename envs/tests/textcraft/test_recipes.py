from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bt_envs.textcraft.recipes import Book, Ingredient, Recipe, counted, game_id, read_line
from bt_envs.textcraft.suite import books
from bt_runtime.language.project import find


def book(*lines: str, **kinds: list[str]) -> Book:
    recipes = [read_line(line) for line in lines]
    assert all(recipes)
    return Book("test", [r for r in recipes if r], kinds)


def test_a_line_is_read_and_said_again() -> None:
    """The compact form loses nothing, and gives the game's command."""
    recipe = read_line("3 oak sign = 6 oak planks, 1 stick")
    assert recipe == Recipe("oak sign", 3, (Ingredient(6, "oak planks"), Ingredient(1, "stick")))
    assert read_line(recipe.line()) == recipe
    assert recipe.command() == "craft 3 oak sign using 6 oak planks, 1 stick"


@pytest.mark.parametrize(
    "line", ["oak sign = 6 planks", "1 sign", "1 sign = planks", "0 sign = 1 log", "1 a = 1 b,", ""]
)
def test_a_line_that_is_no_recipe_is_none(line: str) -> None:
    """A missing number, sign or ingredient is seen."""
    assert read_line(line) is None


def test_numbers_too_long_are_no_numbers() -> None:
    """A count of thousands of digits is refused before it costs anything."""
    assert counted("9" * 5000 + " oak log") is None
    assert counted("12 oak log") == Ingredient(12, "oak log")


def test_a_recipe_that_would_need_its_own_product_is_left_out_by_order() -> None:
    """Of a circle, the recipe that comes later goes."""
    forward = book("9 nugget = 1 ingot", "1 ingot = 9 nugget")
    assert [r.item for r in forward.recipes] == ["nugget"]
    assert forward.fetchable("ingot") and not forward.fetchable("nugget")
    assert [r.item for r in book("1 ingot = 9 nugget", "9 nugget = 1 ingot").recipes] == ["ingot"]


def test_depth_is_the_shallowest_way_to_the_deepest_ingredient() -> None:
    """Every ingredient has to be made, but one recipe is enough; a kind is as deep as its shallowest member."""
    found = book(
        "4 planks oak = 1 log",
        "4 stick = 2 planks",
        "1 stick = 2 bamboo",
        "1 sign = 6 planks, 1 stick",
        planks=["planks oak"],
    )
    assert [found.depth(i) for i in ("log", "planks oak", "planks", "stick", "sign")] == [0, 1, 1, 1, 2]


def test_ids_are_the_games() -> None:
    """`dark oak sign` is minecraft:dark_oak_sign in a reply."""
    assert game_id("dark oak sign") == "minecraft:dark_oak_sign"


def test_our_book_has_enough_recipes_of_every_depth() -> None:
    """At least 600 recipes, with goals of depth 1 to 4: 11 of depth 4, as the paper has."""
    game = books(None)["game"]
    assert len(game.recipes) >= 600
    assert [len(game.goals(depth)) > 100 for depth in (1, 2, 3)] == [True] * 3
    assert len(game.goals(4)) == 11 and not game.goals(5)


def test_no_line_of_our_book_is_lost_to_a_circle() -> None:
    path = find("envs", "textcraft/game")
    assert path is not None
    lines = [line for text in yaml.safe_load(path.read_text())["recipes"] for line in [read_line(text)] if line]
    plain = {line.line() for line in lines if "{" not in line.line()}
    assert plain <= {recipe.line() for recipe in books(None)["game"].recipes}


def test_our_book_names_things_as_the_game_does() -> None:
    """Logs in the plural, and a tag that no recipe makes is fetched by its own name."""
    game = books(None)["game"]
    assert [r.line() for r in game.of["oak planks"]] == ["4 oak planks = 1 oak logs"]
    fetched = ("oak logs", "crimson stems", "logs", "coals", "wooden slabs", "stone tool materials")
    assert all(map(game.fetchable, fetched))
    assert game.kinds.keys() == {"planks", "wool"}
    assert game.depth("barrel") == 2


@pytest.mark.data
def test_our_book_has_every_name_of_the_game_s_own_files_and_no_other(data: Path) -> None:
    """And every goal lies at the paper's depth, but what is made of wool: the files leave white wool out of it."""
    shelf = books(data)
    ours, theirs = shelf["game"], shelf["data"]
    assert ours.items == theirs.items
    assert {item for item in ours.items if ours.depth(item) != theirs.depth(item)} <= {"painting"}
