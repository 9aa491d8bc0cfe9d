from __future__ import annotations

import pytest

from bt_runtime.envs.textcraft.recipes import Book, Ingredient, Recipe, counted, game_id, read_line
from bt_runtime.envs.textcraft.suite import books


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
    """At least 250 recipes, none lost to a circle, with goals of depth 1 to 4."""
    game = books(None)["game"]
    assert len(game.recipes) >= 250
    assert all(len(game.goals(depth)) >= 20 for depth in (1, 2, 3, 4)) and not game.goals(5)
