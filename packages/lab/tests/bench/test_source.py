"""A suite is a world by its name, or a file in a format that a world reads."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bt_lab.run.source import apart, find
from bt_runtime import BtError
from bt_runtime.plugins import Wanted, open_suite
from bt_runtime.skills.worlds.registry import open_world

SHOWN = """Crafting commands:
craft 4 oak planks using 1 oak logs
craft 1 wibble using 2 oak planks, 1 wobble

"""
RESULTS = {
    "env_0": {"problem": "craft wibble.", "commands": SHOWN, "trace": "…", "plans": [], "reward": 0},
    "env_1": {"problem": "craft oak planks.", "commands": SHOWN, "trace": "", "plans": [], "reward": 1},
}


def solved(suite: str, task: Any, world: dict[str, Any]) -> bool:
    made = open_world(suite, **world)
    made.reset(task)
    for sentence in open_suite(suite).oracle(made, task):
        made.act(sentence)
    verdict = made.verdict()
    made.close()
    return 0 < verdict.total == verdict.met


def test_a_world_is_found_by_its_name_and_gives_tasks_of_the_split_that_is_asked_for(doors: str) -> None:
    found = find(doors, Wanted(seed=3, episodes=2))
    assert (found.suite, [t.id for t in found.tasks]) == (doors, ["doors-eval-3-0", "doors-eval-3-1"])
    assert [t.id for t in find(doors, Wanted(episodes=1, split="train")).tasks] == ["doors-train-0-0"]
    assert {t.kind for t in find("textcraft", Wanted(kinds=("depth 3",))).tasks} == {"depth 3"}


def test_a_name_that_is_none_is_an_error_with_a_guess() -> None:
    with pytest.raises(BtError) as caught:
        find("textcarft", Wanted())
    assert "textcraft" in caught.value.hint


@pytest.mark.parametrize("packed", [False, True])
def test_textcrafts_results_give_their_tasks_with_the_recipes_that_were_shown(tmp_path: Path, packed: bool) -> None:
    text = json.dumps(RESULTS).encode()
    path = tmp_path / ("run.json.gz" if packed else "run.json")
    path.write_bytes(gzip.compress(text) if packed else text)
    found = find(str(path), Wanted())
    assert [(t.kind, t.goal) for t in found.tasks] == [("depth 2", "craft wibble"), ("depth 1", "craft oak planks")]
    assert found.tasks[0].data["commands"] == ["4 oak planks = 1 oak logs", "1 wibble = 2 oak planks, 1 wobble"]
    assert found.tasks[1].data["book"] == "game"  # a book that knows it is used
    assert all(solved(found.suite, task, found.world) for task in found.tasks)
    assert find(str(path), Wanted(episodes=1)).tasks == found.tasks[:1]


def test_lines_of_nothing_and_files_that_are_not_there_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text("{}\n")
    with pytest.raises(BtError, match="no format that is known"):
        find(str(tmp_path / "tasks.jsonl"), Wanted())
    with pytest.raises(BtError, match="there is no file"):
        find(str(tmp_path / "none.json"), Wanted())


@pytest.mark.parametrize("text", ["nonsense", "[]", "{}", '{"env_0": {"problem": "craft x."}}', '{"env_0": 3}'])
def test_a_file_that_is_none_of_the_formats_is_an_error_and_no_traceback(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(BtError):
        find(str(tmp_path / "odd.json"), Wanted())
    (tmp_path / "odd.txt").write_text(text)
    with pytest.raises(BtError, match="no format that is known"):
        find(str(tmp_path / "odd.txt"), Wanted())


def test_recipe_files_of_the_game_are_textcraft_with_their_book(data: Path) -> None:
    path = data / "textcraft" / "recipes_1.16.5.json"
    found = find(str(path), Wanted(episodes=6))
    assert {t.data["book"] for t in found.tasks} == {"data"}
    assert all(solved(found.suite, task, found.world) for task in found.tasks)


@pytest.mark.parametrize("name", ["wah/train_plans_instructions.json", "wah/envset_hist_1adb906f.json.gz"])
def test_files_of_watch_and_help_are_tasks_of_the_house_in_their_apartments(data: Path, name: str) -> None:
    found = find(str(data / name), Wanted(episodes=3))
    assert found.suite == "house" and len(found.tasks) == 3
    prefix = "wah-nl-train-" if "train" in name else "envset_hist_1adb906f-"
    assert all(task.id.startswith(prefix) for task in found.tasks)
    assert all(solved("house", task, found.world) for task in found.tasks)


def test_files_of_alfred_are_tasks_of_thor_by_the_split_that_their_name_says(data: Path) -> None:
    found = find(str(data / "alfred" / "json_2.1.0_valid_seen.jsonl.gz"), Wanted(episodes=2))
    same = open_suite("thor").tasks(0, 2, "eval", source="alfred", data=str(data))
    assert (found.suite, found.tasks) == ("thor", same)


def test_what_is_trained_on_is_never_what_is_tested(doors: str, tmp_path: Path) -> None:
    for name in (doors, "textcraft"):
        tested = find(name, Wanted(episodes=5))
        lessons = apart(name, Wanted(episodes=5), 4, tested)
        assert len(lessons) == 4 and all("-train-" in task.id for task in lessons)
    path = tmp_path / "run.json"  # knows no splits
    path.write_text(json.dumps({f"env_{i}": RESULTS["env_0"] for i in range(6)}))
    tested = find(str(path), Wanted(episodes=4))
    lessons = apart(str(path), Wanted(episodes=4), 4, tested)
    assert [t.id for t in tested.tasks] == [f"run-env_{i}" for i in range(4)]
    assert [t.id for t in lessons] == ["run-env_4", "run-env_5"]
