"""A file or folder of tasks is recognised by what is in it, whatever it is called."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bt_envs.alfred import trials
from bt_lab.run.source import find
from bt_runtime import BtError
from bt_runtime.plugins import Wanted, open_suite
from bt_runtime.skills.worlds.outline import ENDS, PEEK, outline
from bt_runtime.skills.worlds.registry import open_world

ROOMS = (("kitchen", 1), ("bedroom", 2))
FURNITURE = (("fridge", 11, 1), ("kitchentable", 12, 1), ("bed", 13, 2))


def graph(*things: tuple[str, int, str, int]) -> dict[str, Any]:
    """VirtualHome's form: two rooms, three pieces of furniture, and things (class, id, relation, where)."""
    nodes = [_node(i, "Rooms", name, []) for name, i in ROOMS]
    nodes += [_node(i, "Appliances", name, ["SURFACES", "CONTAINERS", "CAN_OPEN"]) for name, i, _ in FURNITURE]
    nodes += [_node(i, "Food", name, ["GRABBABLE"]) for name, i, _, _ in things]
    edges = [_edge(i, "INSIDE", room) for _, i, room in FURNITURE]
    edges += [_edge(i, relation, where) for _, i, relation, where in things]
    edges += [_edge(12, "CLOSE", 11), _edge(11, "CLOSE", 12)]
    return {"nodes": nodes, "edges": edges}


def _node(i: int, category: str, name: str, properties: list[str]) -> dict[str, Any]:
    node = {"id": i, "category": category, "class_name": name, "properties": properties, "states": []}
    return {**node, "bounding_box": None}


def _edge(a: int, relation: str, b: int) -> dict[str, Any]:
    return {"from_id": a, "relation_type": relation, "to_id": b}


APPLES = graph(("apple", 21, "ON", 12), ("apple", 22, "ON", 12))
WAH_TEST = [
    {
        "task_id": 7, "env_id": 0, "task_name": "put_fridge", "task_goal": {"inside_apple_fridge": 2},
        "nl_instructions": ["Put both apples away where it is cold."], "init_room": "bedroom", "init_graph": APPLES,
    }
]  # fmt: skip
RECORDED = [
    {
        "apartment": 3,
        "task_name": "put_fridge",
        "init_graph": APPLES,
        "goal": {"put_fridge": [{"put_apple_inside_11": 1}]},
    }
]
EPISODE = {"task_name": "put_fridge", "env_id": "3", "goals": {"inside_apple_11": 2}, "init_unity_graph": APPLES}
SHOWN = "Crafting commands:\ncraft 1 wibble using 2 wobble\n"
RESULTS = {
    "env_0": {"problem": "craft wibble.", "commands": SHOWN, "trace": "", "plans": [], "reward": 1},
    "overall": {"rate": 1.0, "count": 1},
}
LAMP = "DeskLamp|+01.00|+00.80|+01.00"
TRAJECTORY = {
    "task_id": "trial_T1", "task_type": "look_at_obj_in_light",
    "pddl_params": {"object_target": "BasketBall", "toggle_target": "DeskLamp"},
    "scene": {
        "floor_plan": "FloorPlan999", "scene_num": 301,
        "object_poses": [{"objectName": "BasketBall_1", "position": {"x": 8.0, "y": 0.1, "z": 8.0}}],
        "init_action": {"x": 1.0, "z": 0.5, "rotation": 0},
    },
    "plan": {"high_pddl": [
        {"planner_action": {"action": "GotoLocation", "location": "loc|31|31|0|30"}},
        {"planner_action": {"action": "PickupObject", "objectId": "BasketBall|+08.00|+00.10|+08.00"}},
        {"planner_action": {"action": "ToggleObject", "objectId": LAMP}},
    ]},
    "turk_annotations": {"anns": [{"task_desc": "Look at the ball under the lamp."}]},
}  # fmt: skip
LAYOUT = {
    "FloorPlan999-openable": {"Desk|+01.00|+00.70|+01.00": [1.0, 0.5, 0, 0]}, "FloorPlan999-objects": ["DeskLamp"],
}  # fmt: skip


def write(path: Path, found: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(map(json.dumps, found)) if ".jsonl" in path.name else json.dumps(found)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def solved(suite: str, task: Any, **world: Any) -> bool:
    made = open_world(suite, **world)
    made.reset(task)
    for sentence in open_suite(suite).oracle(made, task):
        made.act(sentence)
    met, total = made.verdict()
    made.close()
    return 0 < total == met


def test_an_outline_tells_the_names_of_the_first_entry_and_reads_no_further(tmp_path: Path) -> None:
    """Also where the entry is longer than what is looked at, its texts hold brackets, or the file is cut off."""
    rows = write(tmp_path / "a.json", [{"b": '}]\\"', "c": {"d": 1}, "e": ["f", {"g": 2}]}, {"h": 3}])
    assert outline(rows) == (True, {"b", "c", "e"}, {"d"})
    assert outline(write(tmp_path / "b.jsonl.gz", [{"x": 1}, {"y": 1}])) == (True, {"x"}, frozenset())
    assert outline(write(tmp_path / "c.json", {"env_0": {"p": 1}, "env_1": {"q": 1}})).inner == {"p"}
    long = write(tmp_path / "d.json", {"k": {"m": '\\" {' * PEEK}, "l": 1})
    assert outline(long) == (False, {"k"}, {"m"})
    for text in ("", "nonsense", "[1, 2]", '"text"', "\x00\xff"):
        (tmp_path / "e.json").write_text(text)
        os.utime(tmp_path / "e.json", ns=(0, len(text)))
        assert not outline(tmp_path / "e.json").keys
    (tmp_path / "f.json.gz").write_bytes(b"\x1f\x8b\x08 cut")
    assert not outline(tmp_path / "f.json.gz").keys and not outline(tmp_path / "gone.json").keys


def test_adapts_results_as_they_were_released_give_their_tasks(tmp_path: Path) -> None:
    """Their last entry says how many were reached, and is no task."""
    found = find(str(write(tmp_path / "any name.json", RESULTS)), Wanted())
    assert [(found.suite, task.goal) for task in found.tasks] == [("textcraft", "craft wibble")]
    assert solved("textcraft", found.tasks[0])


@pytest.mark.parametrize(
    ("entries", "goal", "start"),
    [(WAH_TEST, "Put both apples away where it is cold.", ["bedroom 1"]), (RECORDED, "", []), (EPISODE, "", [])],
)
def test_tasks_with_graphs_bring_their_own_apartment(tmp_path: Path, entries: Any, goal: str, start: list[str]) -> None:
    """WAH-NL's test form (goals, instructions, environments), Watch-And-Help's tasks and episodes: no other data is
    needed, and the oracle reaches their goals."""
    found = find(str(write(tmp_path / "tasks.json.gz", entries)), Wanted())
    (task,) = found.tasks
    assert (found.suite, task.kind, task.data["start"]) == ("house", "put_fridge", start)
    assert not goal or task.goal == goal
    assert solved("house", task, **found.world)


@pytest.mark.parametrize("folder", [False, True])
def test_a_graph_of_virtualhome_is_a_home_in_which_tasks_are_made(tmp_path: Path, folder: bool) -> None:
    """As a scene, or as the beginning of one of its programs."""
    write(tmp_path / "scene.json", APPLES)
    path = write(tmp_path / "file7_1.json", {"init_graph": APPLES, "final_graph": APPLES})
    found = find(str(tmp_path if folder else path), Wanted(episodes=4, kinds=("put_fridge",)))
    assert found.suite == "house" and len(found.tasks) == 4
    assert {task.data["house"] for task in found.tasks} <= ({"scene", "file7_1"} if folder else {"file7_1"})
    assert all(solved("house", task, **found.world) for task in found.tasks)


@pytest.mark.parametrize("name", ["valid_unseen/look-1/trial_T1/traj_data.json", "mine.jsonl"])
def test_alfreds_tasks_are_any_split_in_its_folder(tmp_path: Path, name: str) -> None:
    """And the ball that lies on the bare floor, where no way to any furniture leads past, is told at the door."""
    write(tmp_path / "alfred" / trials.LAYOUTS, LAYOUT)
    path = write(tmp_path / "alfred" / name, [TRAJECTORY] if "jsonl" in name else TRAJECTORY)
    place = path if "jsonl" in name else tmp_path / "alfred" / "valid_unseen"
    found = find(str(place), Wanted(data=str(tmp_path)))
    assert found.suite == "thor" and [t.goal for t in found.tasks] == ["Look at the ball under the lamp."]
    world = open_world("thor", through="scene")
    assert "BasketBall (1)" in world.reset(found.tasks[0]).text
    assert solved("thor", found.tasks[0], through="scene")


@pytest.mark.parametrize(
    "lacking",
    [{**WAH_TEST[0], "task_goal": {"melt_apple": 1}}, {k: v for k, v in WAH_TEST[0].items() if k != "task_id"}],
)
def test_an_entry_that_lacks_something_is_named_with_its_file(tmp_path: Path, lacking: Any) -> None:
    with pytest.raises(BtError, match=r"not a goal of Watch-And-Help|entry 1 of .*tasks.json is no task"):
        find(str(write(tmp_path / "tasks.json", [lacking])), Wanted())


@pytest.mark.parametrize("entries", [{"a": {"b": 1}}, [{"question": "why?"}], [], 3])
def test_the_unknown_is_refused_with_what_it_holds_and_what_was_looked_for(tmp_path: Path, entries: Any) -> None:
    with pytest.raises(BtError) as caught:
        find(str(write(tmp_path / "odd.json", entries)), Wanted())
    assert "it holds" in caught.value.message and "looked for: " in caught.value.hint
    assert "VirtualHome's graphs" in caught.value.hint and "ADaPT's results" in caught.value.hint


def test_real_files_are_recognised_under_other_names(data: Path, tmp_path: Path) -> None:
    """Each file of the data, as `x` with its ending, is read by the same suite as ever."""
    known = {
        "textcraft/recipes_1.16.5.json": "textcraft", "wah/envset_hist_1adb906f.json.gz": "house",
        "wah/expert_log_env2_put_fridge.json.gz": "house", "house/TestScene3_graph.json.gz": "house",
        "alfred/json_2.1.0_valid_seen.jsonl.gz": "thor", "hotpotqa/questions_dev.jsonl.gz": "hotpotqa",
        "alfworld/games_dev.jsonl.gz": "alfworld",
    }  # fmt: skip
    for name, suite in known.items():
        path = tmp_path / suite / f"x{next(end for end in reversed(ENDS) if name.endswith(end))}"
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(data / name)
        found = find(str(path), Wanted(episodes=1, data=str(data) if suite == "thor" else ""))
        assert (found.suite, len(found.tasks)) == (suite, 1), name
