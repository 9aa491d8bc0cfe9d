from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from bt_envs.house.suite import SUITE, load_content
from bt_envs.house.tasks import ask
from bt_runtime import BtError


@pytest.mark.parametrize("knows", ["seen", "all"])
def test_the_oracles_solve_a_thousand_of_a_thousand(knows: str) -> None:
    """Searching or knowing, every generated task is solved; nothing is refused, and all of it was offered."""
    world = SUITE.open()
    solved = 0
    for i, task in enumerate(SUITE.tasks(17, 500) + SUITE.tasks(17, 500, "eval")):
        world.reset(task)
        for sentence in SUITE.oracle(world, task, knows=knows):  # type: ignore[arg-type]
            assert i % 20 or sentence in world.skills(), sentence
            assert world.act(sentence).ok, (task, sentence)
        met, total = world.verdict()
        solved += met == total
    assert solved == 1000


def test_tasks_are_of_five_kinds_with_one_to_six_parts_and_nothing_is_done_yet() -> None:
    """Every kind and every number of parts is met; at the start no part is."""
    world = SUITE.open()
    tasks = SUITE.tasks(2, 600)
    sizes: Counter[int] = Counter()
    for task in tasks:
        world.reset(task)
        met, total = world.verdict()
        assert met == 0
        sizes[total] += 1
    assert set(sizes) == {1, 2, 3, 4, 5, 6}
    assert Counter(task.kind for task in tasks) == dict.fromkeys(SUITE.kinds, 120)


def test_instructions_are_phrased_in_many_ways_and_name_what_is_wanted() -> None:
    """Every thing and the place are named; six hundred tasks have hundreds of different wordings."""
    wordings = set()
    for task in SUITE.tasks(3, 600):
        said = task.goal.lower()
        shape = said
        for wanted in task.data["goal"]:
            assert wanted["place"] in said
            thing = wanted.get("thing", "")
            assert thing.removesuffix("knife") in said
            shape = shape.replace(thing, "X") if thing else shape
        wordings.add(shape)
        assert "[" not in said and "{" not in said
    assert len(wordings) > 300


def test_no_home_serves_both_splits() -> None:
    """Evaluation is in houses that training never saw."""
    train = {t.data["house"] for t in SUITE.tasks(1, 200)}
    test = {t.data["house"] for t in SUITE.tasks(1, 200, "eval")}
    assert train and test and not train & test


def test_a_task_is_plain_json_and_made_by_its_seed_alone() -> None:
    """It can be stored and sent; the first of many are the same as few."""
    tasks = SUITE.tasks(5, 10)
    assert json.loads(json.dumps([t.data for t in tasks])) == [t.data for t in tasks]
    assert SUITE.tasks(5, 30)[:10] == tasks != SUITE.tasks(6, 10)


def test_the_number_of_a_thing_tells_nothing_of_its_place() -> None:
    """Over many tasks, plate 1 is met in about as many places as plate 2."""
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for task in SUITE.tasks(6, 400):
        places = [place.rpartition(" ")[0] for kind, place, _ in task.data["things"] if kind == "plate"]
        first.update(places[:1])
        second.update(places[1:2])
    assert set(first) == set(second)


def test_a_projects_own_houses_stand_beside_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the project's envs/house is a house more, or replaces ours of the same name."""
    own = tmp_path / "envs" / "house"
    own.mkdir(parents=True)
    line = "fridge, dishwasher, kitchen table, coffee table"
    for name in ("hut", "flat"):
        (own / f"{name}.yaml").write_text(f"version: 1\nhouse: {name}\nrooms:\n  kitchen 1: {line}\n")
    monkeypatch.setenv("BTR_PROJECT", str(tmp_path))
    found = load_content().homes
    assert len(found["hut"].fixtures) == len(found["flat"].fixtures) == 4
    assert len(found["villa"].fixtures) > 4
    world = SUITE.open()
    for task in SUITE.tasks(1, 20, homes=["hut"]):
        world.reset(task)
        assert all(world.act(sentence).ok for sentence in SUITE.oracle(world, task))
        met, total = world.verdict()
        assert met == total


def test_hundreds_of_houses_run_side_by_side() -> None:
    """Worlds that take turns say exactly what they say alone."""
    tasks = SUITE.tasks(13, 300)
    single = SUITE.open()
    alone = []
    for task in tasks:
        single.reset(task)
        alone.append([single.act(sentence).text for sentence in SUITE.oracle(single, task)])
    worlds = [SUITE.open() for _ in tasks]
    for world, task in zip(worlds, tasks, strict=True):
        world.reset(task)
    scripts = [SUITE.oracle(world, task) for world, task in zip(worlds, tasks, strict=True)]
    together: list[list[str]] = [[] for _ in tasks]
    running = list(range(len(tasks)))
    while running:
        for i in list(running):
            sentence = next(scripts[i], None)
            if sentence is None:
                running.remove(i)
            else:
                together[i].append(worlds[i].act(sentence).text)
    assert together == alone


def test_homes_and_kinds_can_be_chosen_and_outside_tasks_need_their_data() -> None:
    """`homes` narrows, an unknown one has a guess; `source` other than made asks for the data."""
    assert {t.data["house"] for t in SUITE.tasks(1, 5, homes=["villa"])} == {"villa"}
    with pytest.raises(BtError) as caught:
        SUITE.tasks(1, 5, homes=["vila"])
    assert "villa" in caught.value.hint
    with pytest.raises(BtError, match="outside data"):
        SUITE.tasks(1, 5, source="wah")
    with pytest.raises(BtError, match="made, wah or wah_nl"):
        SUITE.tasks(1, 5, source="attic")


def test_two_of_a_kind_are_asked_for_in_the_plural() -> None:
    """Two plates, and `them` for more than one thing."""
    errand = load_content().errands["setup_table"]
    said = {ask(errand, {"plate": 2}, Random(n)) for n in range(80)}
    assert all("plates" in text for text in said)
    assert not [text for text in said if " it " in text and "put it" in text]
