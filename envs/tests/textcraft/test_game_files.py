from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from bt_envs.textcraft.game_files import read_game
from bt_envs.textcraft.planner import plan
from bt_envs.textcraft.suite import books
from bt_runtime import BtError

SHAPED = {
    "type": "minecraft:crafting_shaped",
    "group": "sign",
    "pattern": ["###", "###", " X "],
    "key": {"#": {"item": "minecraft:oak_planks"}, "X": {"item": "minecraft:stick"}},
    "result": {"item": "minecraft:oak_sign", "count": 3},
}
PLANKS = {
    "type": "minecraft:crafting_shapeless",
    "group": "planks",
    "ingredients": [{"tag": "minecraft:oak_logs"}],
    "result": {"item": "minecraft:oak_planks", "count": 4},
}
STICK = {
    "type": "minecraft:crafting_shaped",
    "pattern": ["#", "#"],
    "key": {"#": [{"tag": "minecraft:planks"}, {"item": "minecraft:bamboo"}]},
    "result": {"item": "minecraft:stick", "count": 4},
}
SMELTED = {"type": "minecraft:smelting", "ingredient": {"item": "minecraft:sand"}, "result": "minecraft:glass"}
UNPACKED = {
    "type": "minecraft:crafting_shapeless",
    "ingredients": [{"item": "minecraft:iron_block"}],
    "result": {"item": "minecraft:iron_ingot", "count": 9},
}


def write(folder: Path, **files: object) -> Path:
    for name, raw in files.items():
        (folder / f"{name}.json").write_text(json.dumps(raw))
    return folder


def test_a_folder_of_the_games_files_is_a_book(tmp_path: Path) -> None:
    """Shaped and shapeless recipes are read; smelting and taking blocks apart are not; tags with members are kinds."""
    found = read_game(write(tmp_path, sign=SHAPED, planks=PLANKS, stick=STICK, glass=SMELTED, ingot=UNPACKED))
    assert {r.line() for r in found.recipes} == {
        "3 oak sign = 6 oak planks, 1 stick",
        "4 oak planks = 1 oak logs",
        "4 stick = 2 planks",
    }
    assert found.kinds == {"planks": ("oak planks",)}
    assert found.fetchable("oak logs") and not found.fetchable("planks")


@pytest.mark.parametrize(
    "broken", [{**SHAPED, "key": {}}, {**PLANKS, "ingredients": [5]}, {**PLANKS, "result": None}, [1], "text"]
)
def test_a_broken_file_is_named(tmp_path: Path, broken: object) -> None:
    """The error says which file; nothing else goes wrong."""
    with pytest.raises(BtError, match=r"bad\.json"):
        read_game(write(tmp_path, planks=PLANKS, bad=broken))


def test_a_folder_without_recipes_is_an_error(tmp_path: Path) -> None:
    """With a way out."""
    with pytest.raises(BtError) as caught:
        read_game(tmp_path)
    assert "recipes" in caught.value.hint


@pytest.mark.data
def test_the_papers_depths_come_out_of_the_games_files(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """200 test goals of depth 4, 3 and 2 (11, 112 and the first 77): all of the first two depths, and every goal that
    is set aside for development is of depth 2; the two together are all of depth 2."""
    game = read_game(data / "textcraft")
    depths = Counter(game.depth(item) for item in game.of)
    aside = [entry["goal"] for entry in json.loads((data / "textcraft" / "dev_goals.json").read_text())]
    with capsys.disabled():
        print(f"\nTextCraft: {len(game.recipes)} recipes, goals by depth {dict(sorted(depths.items()))}")
    assert (depths[4], depths[3], depths[2] - len(aside)) == (11, 112, 77)
    assert max(depths) == 4 and {game.depth(goal) for goal in aside} == {2}


@pytest.mark.data
def test_every_goal_of_the_games_files_can_be_planned(data: Path) -> None:
    """No goal of depth 2 or more is cut off by a circle."""
    game = read_game(data / "textcraft")
    for depth in (2, 3, 4):
        assert not [goal for goal in game.goals(depth) if not plan(game, goal)]


@pytest.mark.data
def test_our_book_tells_the_facts_of_the_game(data: Path) -> None:
    """Every recipe of ours is one of the game's, up to the plural of a tag and to circles cut elsewhere."""
    from bt_envs.textcraft import game_files

    raw = json.loads((data / "textcraft" / "recipes_1.16.5.json").read_text())
    known = {told(r) for entry in raw.values() if (r := game_files._recipe(entry, {}))}
    assert not [recipe.line() for recipe in books(None)["game"].recipes if told(recipe) not in known]


def told(recipe: object) -> tuple[object, ...]:
    needs = [(n.item.lstrip("#").rstrip("s"), n.amount) for n in recipe.needs]  # type: ignore[attr-defined]
    return recipe.item, recipe.makes, *sorted(needs)  # type: ignore[attr-defined]
