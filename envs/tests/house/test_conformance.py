"""The released trajectories, goals and recorded episodes against our house. Counts are printed."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bt_envs.house.acts import split
from bt_envs.house.expert import Expert
from bt_envs.house.graph import read_goal
from bt_envs.house.replay import replay
from bt_envs.house.speech import hear, say
from bt_envs.house.suite import SUITE, load_content
from bt_envs.house.world import HouseWorld
from bt_runtime import BtError
from bt_runtime.language.project import packaged
from bt_runtime.language.sentence import Sentence

pytestmark = pytest.mark.data
ENDS = ("done", "failure")  # how an agent node ends itself: moves of the agent, not of the world


def pairs(data: Path) -> Iterator[tuple[str, str]]:
    """(act, observation) of every released ReAcTree WAH trajectory; a node's opening comes with an empty act."""
    for path in sorted((data / "reactree").glob("wah_*.tar.gz")):
        with tarfile.open(path) as packed:
            for member in packed:
                if not member.isfile() or not member.name.endswith(".txt") or "sys_prompt" in member.name:
                    continue
                lines = packed.extractfile(member).read().decode().splitlines()  # type: ignore[union-attr]
                for said, then in zip(lines, [*lines[1:], ""], strict=True):
                    if said.startswith("You are in the house"):
                        yield "", said
                    elif said.startswith("Act: "):
                        yield said.removeprefix("Act: "), then


@pytest.fixture(scope="module")
def released(data: Path) -> Counter[tuple[str, str]]:
    return Counter(pairs(data))


def test_every_action_sentence_of_the_released_trajectories_parses(
    released: Counter[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is one skill of the manifest, and, but for what memory answers, a sentence that the house reads."""
    table = yaml.safe_load((packaged("skills") / "house.yaml").read_text())["kinds"]
    kinds = {key: Sentence(kind["sentence"]) for key, kind in table.items()}
    acts: Counter[str] = Counter()
    for (act, _), n in released.items():
        if act and act not in ENDS:
            acts[act] += n
    ways = {act: [key for key, s in kinds.items() if s.parse(act)] for act in acts}
    unread = [act for act, keys in ways.items() if keys != ["recall_location"] and not numbered(act)]
    with capsys.disabled():
        print(f"\nReAcTree WAH: {sum(acts.values())} action sentences ({len(acts)} different), all parsed")
    assert sum(acts.values()) > 60_000
    assert not [act for act, keys in ways.items() if len(keys) != 1]
    assert not unread


def numbered(act: str) -> bool:
    parts = split(act)
    return parts is not None and re.fullmatch(r".+ \d+", parts[1]) is not None


def test_every_observation_sentence_of_the_released_trajectories_is_one_of_ours(
    released: Counter[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is read by our grammar, and the grammar says it again word for word (but for a last full stop)."""
    seen: Counter[str] = Counter()
    for (act, observation), n in released.items():
        if act not in ENDS:
            seen[observation] += n
    with capsys.disabled():
        print(f"\nReAcTree WAH: {sum(seen.values())} observation sentences ({len(seen)} different), all produced")
    assert sum(seen.values()) > 70_000
    assert not [o for o in seen if (heard := hear(o)) is None or say(heard).rstrip(".") != o.rstrip(".")]


def test_every_goal_of_wah_nl_and_of_watch_and_help_is_read(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The 250 train goals and every string of the published distribution become conditions."""
    catalogue = load_content().catalogue
    train = json.loads((data / "wah" / "train_plans_instructions.json").read_text())
    goals = [read_goal(task["task_goal_derived"], catalogue, {}) for task in train]
    strings = load(data / "wah" / "wah_goal_distribution.json.gz")["goal_predicate_strings"]
    for text in strings:
        parts = dict(part.rsplit(".", 1) for part in text.split(","))
        read_goal({key.replace("_character", "_1"): int(n) for key, n in parts.items()}, catalogue, {})
    named = {g["place"] for goal in goals for g in goal}
    with capsys.disabled():
        print(f"\nWAH: {len(goals)} train goals and {len(strings)} goal strings read")
    assert len(goals) == 250 and len(strings) == 1111
    assert named == {"kitchen table", "coffee table", "fridge", "dishwasher"}


def test_the_recorded_expert_episodes_replay_to_their_goal(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every act of the six logs can be done (but for three that the logs themselves repeat in vain). Three reach their
    goal within the log and two with the rest of the expert's last plan; one opens and shuts a fridge until it is
    stopped, and the oracle brings it to its goal from there."""
    world = SUITE.open(sitting=True)
    assert isinstance(world, HouseWorld)
    ends = Counter[str]()
    acts = refused = 0
    for path in sorted((data / "wah").glob("expert_log_*.json.gz")):
        outcome = replay(world, load(path), path.name)
        acts, refused = acts + outcome.acts, refused + len(outcome.refused)
        if outcome.best.met == outcome.best.total:
            ends["within the log"] += 1
        elif outcome.after_plan.met == outcome.after_plan.total:
            ends["with its last plan"] += 1
        else:
            for sentence in Expert(world, knows="all").run():
                assert world.act(sentence).ok
            met, total = world.verdict()
            assert met == total
            ends["with the oracle"] += 1
    with capsys.disabled():
        print(f"\nexpert episodes: {acts} acts, {refused} refused; goal reached {dict(ends)}")
    assert ends == {"within the log": 3, "with its last plan": 2, "with the oracle": 1}
    assert refused == 3


def test_each_fifth_task_of_wah_nl_is_held_out_from_the_rest(data: Path) -> None:
    """No task is in both parts, and none is in neither, whatever the seed."""
    held, rest, every = (
        {task.id for task in SUITE.tasks(seed, 1000, source="wah_nl", part=part, data=data)}
        for seed, part in enumerate(("held", "rest", "all"))
    )
    assert not held & rest
    assert held | rest == every
    assert len(every) / 6 < len(held) < len(every) / 4
    with pytest.raises(BtError, match="the parts are all, held, rest"):
        SUITE.tasks(0, 1, source="wah_nl", part="some", data=data)


@pytest.mark.parametrize(("source", "count"), [("wah", 76), ("wah_nl", 250)])
def test_the_oracles_solve_every_task_of_the_data(
    data: Path, source: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Watch-And-Help's set-up-table tasks as recorded, and WAH-NL's instructions over re-sampled apartments, by an
    oracle that has to search and by one that knows."""
    world = SUITE.open(data=data)
    tasks = SUITE.tasks(1, 1000, source=source, data=data)
    lengths: dict[str, list[int]] = {"seen": [], "all": []}
    for task in tasks:
        for knows, found in lengths.items():
            world.reset(task)
            script = [world.act(sentence).ok for sentence in SUITE.oracle(world, task, knows=knows)]  # type: ignore[arg-type]
            assert all(script)
            met, total = world.verdict()
            assert met == total, task.id
            found.append(len(script))
    means = {knows: round(sum(found) / len(found), 1) for knows, found in lengths.items()}
    with capsys.disabled():
        print(f"\n{source}: {len(tasks)} of {len(tasks)} solved, mean acts {means}")
    assert len(tasks) == count


def load(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))
