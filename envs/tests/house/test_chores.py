from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from bt_envs.house.chores import heard, read_chores
from bt_envs.house.rules import PROCESSES, as_data
from bt_envs.house.suite import SUITE, load_content
from bt_envs.house.world import HouseWorld
from bt_runtime import BtError
from bt_runtime.language.project import packaged
from bt_runtime.skills.worlds.registry import Split

KINDS = ["heat", "cool", "clean"]


def open_house() -> HouseWorld:
    world = SUITE.open()
    assert isinstance(world, HouseWorld)
    return world


@pytest.mark.parametrize("split", ["train", "eval"])
def test_one_thing_has_to_be_hot_cold_or_clean_and_in_its_place(split: Split) -> None:
    """The goal says so, the words name all three, and at the start it is not so, nor does the thing lie there."""
    world = open_house()
    for rules in range(12):
        for task in SUITE.tasks(5, 9, split, KINDS, rules=rules):
            (goal,) = task.data["goal"]
            assert goal["state"] == PROCESSES[task.kind].makes and goal["amount"] == 1
            assert goal["place"] != task.data["rules"][task.kind]["with"]  # or it would be there already
            said = task.goal.lower()
            assert goal["thing"] in said and goal["place"] in said and (task.kind in said or goal["state"] in said)
            assert not [t for t in task.data["things"] if t[0] == goal["thing"] and t[1].startswith(goal["place"])]
            world.reset(task)
            assert world.verdict() == (0, 1)


def test_they_are_made_only_when_they_are_asked_for() -> None:
    """By kind, or by rules alone; a kind of its own in a count of three is each third task."""
    assert not {task.kind for task in SUITE.tasks(1, 30)} & set(KINDS)
    assert Counter(t.kind for t in SUITE.tasks(1, 30, kinds=KINDS)) == dict.fromkeys(KINDS, 10)
    assert {t.kind for t in SUITE.tasks(1, 9, rules=4)} == set(SUITE.asked_for) == set(KINDS)
    assert [t.kind for t in SUITE.tasks(1, 2, kinds=["put_fridge", "heat"])] == ["put_fridge", "heat"]


def test_a_task_carries_the_rules_of_its_house_and_is_made_by_its_seeds_alone() -> None:
    """Plain JSON; the usual rules without a number; another number gives other rules and another name."""
    book = load_content().rulebook
    tasks = SUITE.tasks(5, 6, "eval", KINDS, rules=2)
    assert json.loads(json.dumps([t.data for t in tasks])) == [t.data for t in tasks]
    assert all(t.data["rules"] == as_data(book.draw(2, "eval")) for t in tasks)
    assert all(t.data["rules"] == as_data(book.usual) for t in SUITE.tasks(5, 3, kinds=KINDS))
    assert SUITE.tasks(5, 20, "eval", KINDS, rules=2)[:6] == tasks == SUITE.tasks(5, 6, "eval", KINDS, rules="eval 2")
    assert not {t.id for t in tasks} & {t.id for t in SUITE.tasks(5, 6, "eval", KINDS, rules=3)}


def test_the_splits_have_neither_houses_nor_rules_in_common() -> None:
    """A rule for the kind of task at hand is never one of the other split."""
    met: dict[str, set[Any]] = {"train": set(), "eval": set()}
    homes: dict[str, set[str]] = {"train": set(), "eval": set()}
    for split in ("train", "eval"):
        for rules in range(40):
            for task in SUITE.tasks(1, 3, split, KINDS, rules=rules):
                met[split].add((task.kind, json.dumps(task.data["rules"][task.kind])))
                homes[split].add(task.data["house"])
    assert len(met["train"]) > 50 and len(met["eval"]) > 15
    assert not met["train"] & met["eval"] and not homes["train"] & homes["eval"]


def test_a_house_has_what_its_task_needs() -> None:
    """The appliance is there, and a faucet in its room where it needs one."""
    for rules in range(60):
        for task in SUITE.tasks(2, 6, kinds=KINDS, rules=rules):
            rule = load_content().rulebook.find(task.data["rules"]).of[task.kind]
            house = load_content().homes[task.data["house"]]
            rooms = {house.fixtures[i].room for i in house.of_class(rule.place)}
            assert rooms and (not rule.tap or rooms <= {house.fixtures[i].room for i in house.of_class(rule.tap)})


def test_a_hint_says_truly_where_the_thing_lies() -> None:
    """In words that are understood again; apart from it the task is the same."""
    plain = SUITE.tasks(7, 12, kinds=KINDS, rules=5)
    hinted = SUITE.tasks(7, 12, kinds=KINDS, rules=5, hint=True)
    world = open_house()
    assert hinted[0] == SUITE.tasks(7, 1, kinds=KINDS, rules=5, hint="yes")[0]
    assert hinted[0].goal.startswith(plain[0].goal) and hinted[0].data == plain[0].data
    for task in hinted:
        world.reset(task)
        told = heard(task.goal)
        assert told is not None
        name, place, room = told
        assert world.holds(f"{name} on {place}") or world.holds(f"{name} in {place}")
        assert world.house.rooms[world.house.fixtures[world.house.index[place]].room].name == room
        assert name.rpartition(" ")[0] == task.data["goal"][0]["thing"]
    assert heard(plain[0].goal) is None


def test_other_kinds_of_task_may_be_set_in_a_house_with_rules() -> None:
    """They say what they always said, the rules come along, and the oracle reaches their goal."""
    world = open_house()
    for task, as_ever in zip(SUITE.tasks(3, 15, kinds=SUITE.kinds, rules=1), SUITE.tasks(3, 15), strict=True):
        assert task.goal == as_ever.goal and {**as_ever.data, "rules": task.data["rules"]} == task.data
        world.reset(task)
        assert all(world.act(sentence).ok for sentence in SUITE.oracle(world, task))
        met, total = world.verdict()
        assert met == total


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("kinds: {melt: {}}", "`kinds` has no `melt`"),
        ("kinds: {heat: {things: [lava], say: [so]}}", "`lava` is not in things.yaml"),
        ("kinds: {heat: {things: [apple], say: [so], in: [volcano]}}", "`volcano` is not in things.yaml"),
        ("kinds: {heat: {things: [], say: [so]}}", "`things` of `heat`"),
        ("kinds: []", "`kinds` is a mapping, not a list"),
    ],
)
def test_what_is_wrong_in_the_file_is_told(text: str, what: str, tmp_path: Any) -> None:
    """With the file's name."""
    path = tmp_path / "rules.yaml"
    sound = (packaged("envs") / "house" / "rules.yaml").read_text().partition("\nkinds:")[0]
    path.write_text(f"{sound}\n{text}\n")
    with pytest.raises(BtError, match=what) as caught:
        read_chores(path, load_content().catalogue)
    assert str(path) in str(caught.value)
