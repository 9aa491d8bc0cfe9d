from __future__ import annotations

from itertools import product
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.textcraft.planner import plan, steps
from bt_envs.textcraft.recipes import Book, Ingredient, Recipe, read_line


def book(*lines: str, **kinds: list[str]) -> Book:
    return Book("test", [r for line in lines if (r := read_line(line))], kinds)


def sentences(found: Book, goal: str) -> list[str]:
    return [sentence for deed in plan(found, goal) for sentence in deed.sentences()]


def test_what_is_used_twice_is_counted_once() -> None:
    """Needs are summed before they are met, so that what one craft leaves over serves the next."""
    found = book("4 planks = 1 log", "4 stick = 2 planks", "1 sword = 2 planks, 1 stick")
    assert sentences(found, "sword") == [
        "get 1 log",
        "craft 4 planks using 1 log",
        "craft 4 stick using 2 planks",
        "craft 1 sword using 2 planks, 1 stick",
    ]


def test_of_two_recipes_the_one_with_fewer_sentences_is_taken() -> None:
    """Bamboo is fetched; planks would have to be made first."""
    found = book("4 planks = 1 log", "4 stick = 2 planks", "1 stick = 2 bamboo", "1 pole = 1 stick")
    assert sentences(found, "pole")[0] == "get 2 bamboo"


def test_a_kind_is_a_member_that_is_needed_anyway() -> None:
    """Where one plank must be oak, the generic planks are oak too."""
    found = book(
        "4 birch planks = 1 birch log",
        "4 oak planks = 1 oak log",
        "4 stick = 2 planks",
        "1 oak sign = 2 oak planks, 1 stick",
        planks=["birch planks", "oak planks"],
    )
    assert sentences(found, "oak sign")[:2] == ["get 1 oak log", "craft 4 oak planks using 1 oak log"]


def test_two_ingredients_never_share_an_item() -> None:
    """`2 planks, 3 oak planks` needs two entries, so the generic one is another wood."""
    found = book(
        "4 birch planks = 1 birch log",
        "4 oak planks = 1 oak log",
        "1 box = 2 planks, 3 oak planks",
        planks=["oak planks", "birch planks"],
    )
    assert sentences(found, "box")[-1] == "craft 1 box using 2 birch planks, 3 oak planks"


def test_what_cannot_be_crafted_has_no_plan() -> None:
    """A thing to fetch and an unknown thing: nothing is planned, nothing is raised."""
    assert plan(book("1 a = 1 b"), "b") == [] and plan(book("1 a = 1 b"), "z") == []


@settings(max_examples=60, derandomize=True)
@given(st.integers(0, 10_000))
def test_no_other_way_is_shorter(seed: int) -> None:
    """On small books with one recipe for each item, no numbers of crafts reach the goal with fewer sentences."""
    found = small_book(Random(seed))
    goal = found.recipes[-1].item
    assert steps(plan(found, goal)) == fewest(found, goal)


def small_book(rng: Random) -> Book:
    names = ["raw a", "raw b"]
    recipes = []
    for i in range(rng.randint(1, 4)):
        needs = rng.sample(names, rng.randint(1, min(2, len(names))))
        recipes.append(Recipe(f"item {i}", rng.randint(1, 3), tuple(Ingredient(rng.randint(1, 3), n) for n in needs)))
        names.append(f"item {i}")
    return Book("small", recipes, {})


def fewest(found: Book, goal: str) -> int:
    """All numbers of crafts up to what could ever be needed, tried one by one."""
    best = 10_000
    for times in product(range(10), repeat=len(found.recipes)):
        if sum(times) >= best:
            continue
        left: dict[str, int] = {goal: -1}
        for recipe, n in zip(found.recipes, times, strict=True):
            left[recipe.item] = left.get(recipe.item, 0) + n * recipe.makes
            for need in recipe.needs:
                left[need.item] = left.get(need.item, 0) - n * need.amount
        if all(n >= 0 for item, n in left.items() if found.craftable(item)):
            best = min(best, sum(times) + sum(n < 0 for item, n in left.items() if found.fetchable(item)))
    return best
