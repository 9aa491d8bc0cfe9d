"""ALFRED's own data: its plans are followed in rooms built from it, and recorded trajectories are in our words."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_envs.alfred import kinds, trials
from bt_envs.thor.oracle import solve
from bt_envs.thor.partial import _SENTENCE
from bt_envs.thor.suite import SUITE
from bt_envs.thor.tasks import of_trial
from bt_envs.thor.world import Thor
from bt_runtime import BtError

pytestmark = pytest.mark.data


def follow(world: Thor, data: Path, split: str) -> tuple[Counter[str], list[str]]:
    """Tasks by whether the goal was reached, and why not."""
    count: Counter[str] = Counter()
    reasons: list[str] = []
    for row in trials.rows(data, split):
        task = of_trial(row, data)
        world.reset(task)
        refused = [seen.why for s in solve(world, task) if not (seen := world.act(s)).ok]
        met, total = world.verdict()
        count[f"{task.kind} {'reached' if met == total else 'missed'}"] += 1
        if met < total:
            why = refused[0] if refused else "another thing of the kind was nearer than the one in the plan"
            reasons.append(f"{task.id} ({task.kind}, {met} of {total}): {why}")
    return count, reasons


def show(count: Counter[str], reasons: list[str], view: str) -> int:
    reached = sum(n for name, n in count.items() if name.endswith("reached"))
    print(f"\nALFRED valid_seen, {view}: the plan reaches the goal in {reached} of {count.total()} tasks")
    for name, number in sorted(count.items()):
        print(f"  {number:4} {name}")
    for reason in reasons:
        print(f"  missed: {reason}")
    return reached


def test_alfreds_plans_reach_their_goals_where_things_have_numbers(data: Path) -> None:
    """All: what lies where no way leads past, such as a cloth on the bare floor, is told at the door."""
    count, reasons = follow(Thor("partial", "scene"), data, "eval")
    reached = show(count, reasons, "partially observed")
    assert count.total() == 251
    assert reached == 251 and not reasons


def test_alfreds_plans_reach_their_goals_where_only_kinds_can_be_named(data: Path) -> None:
    """Of two things of a kind the nearest is taken, so the type that needs two is left out, as LoTa-Bench does."""
    count, reasons = follow(Thor("full", "scene"), data, "eval")
    show(count, [r for r in reasons if "pick_two" not in r], "fully observed")
    rest = {name: n for name, n in count.items() if not name.startswith("pick_two")}
    reached = sum(n for name, n in rest.items() if name.endswith("reached"))
    assert reached >= 0.95 * sum(rest.values())


def test_each_sentence_of_a_person_is_a_task_and_no_task_comes_again_before_all_have_come(data: Path) -> None:
    rows = list(trials.rows(data, "eval"))
    said = SUITE.tasks(0, 10_000, "eval", source="alfred", data=data)
    sentences = sum(len(trials.sentences(row)) for row in rows)
    assert len(said) == len({task.id for task in said}) == sentences > 2 * len(rows)
    assert len({str(task.data["scene"]) for task in said[: len(rows)]}) == len(rows)
    assert any(task.id not in {row["task_id"] for row in rows} for task in said[:20])  # not the first sentence only


@pytest.mark.thor
def test_the_library_follows_alfreds_plans_as_the_bare_scene_does(data: Path) -> None:
    pytest.importorskip("ai2thor")
    real, bare = Thor("partial"), Thor("partial", "scene")
    try:
        for task in SUITE.tasks(3, 12, "eval", source="alfred", data=data):
            assert real.reset(task) == bare.reset(task)
            assert all(real.act(sentence) == bare.act(sentence) for sentence in solve(bare, task))
            assert real.verdict() == bare.verdict()
    finally:
        real.close()


def test_every_kind_of_thing_in_the_data_is_known(data: Path) -> None:
    spoken = {
        row["pddl_params"][key] for row in trials.rows(data, "eval") for key in ("object_target", "parent_target")
    }
    posed = {
        pose["objectName"].split("_")[0] for row in trials.rows(data, "eval") for pose in row["scene"]["object_poses"]
    }
    assert (spoken | posed) - {""} <= kinds.ALL


def test_tasks_of_the_data_can_be_asked_for(data: Path) -> None:
    tasks = SUITE.tasks(1, 4, "eval", ["look_at_obj_in_light"], source="alfred", data=data)
    assert [task.kind for task in tasks] == ["look_at_obj_in_light"] * 4
    assert tasks == SUITE.tasks(1, 4, "eval", ["look_at_obj_in_light"], source="alfred", data=data)


def test_data_that_is_not_there_says_how_to_name_it(tmp_path: Path) -> None:
    with pytest.raises(BtError) as caught:
        SUITE.tasks(1, 1, source="alfred", data=tmp_path)
    assert "BTR_DATA" in caught.value.hint


# Recorded trajectories ---------------------------------------------------------------------------

# Done by the agent itself, not in the world.
AGENTS_OWN = re.compile(r"recall location of .+|done|failure")
GROUP = r"[A-Z]\w+ ?\(\d+(?:, \d+)*\)"
VIEW = rf"(?:You see {GROUP}(?:, {GROUP})*\.|There are no visible objects\.)"
ONE = r"[A-Z]\w+ ?\(\d+\)"
HELD = rf"(?: I am holding {ONE} now\.)?"
SHAPES = [
    r"You are in the house, and you arrive at the [a-z ]+, Looking quickly around the room, you see "
    rf"{GROUP}(?:, {GROUP})*\.",
    rf"You arrive at {ONE}\. {VIEW}(?: {ONE} is (?:open|closed)\.)?(?: {ONE} is already turned on\.)?",
    rf"You (?:pick up|open|close|drop|turn on|turn off) {ONE}\. {VIEW}",
    rf"You put {ONE} on {ONE}\. {VIEW}",
    rf"You put down failed, drop it\. {VIEW}",
    rf"You slice {ONE}\. {VIEW} {GROUP} are sliced\.",
    rf"The {ONE} (?:is not close to you|is open failed|is already closed|slice failed|already turn (?:on|off))\.",
    rf"You are currently holding {ONE}\.",
    r"Object failed to open/close successfully\.",
]
SHAPE = re.compile(rf"(?:{'|'.join(SHAPES)}){HELD}")


def trajectories(data: Path) -> Iterator[list[str]]:
    archive = data / "reactree" / "alfred_human_and_em_trajectories.tar.gz"
    if not archive.is_file():
        pytest.skip(f"no recorded trajectories at {archive}")
    with tarfile.open(archive) as files:
        for member in files:
            text = files.extractfile(member) if member.isfile() and "sys_prompt" not in member.name else None
            if text is not None:
                yield text.read().decode().splitlines()


def plain(line: str) -> str:
    """The recordings double a space or a full stop here and there."""
    return " ".join(line.split()).replace("objects..", "objects.")


def test_recorded_sentences_are_skills_and_recorded_observations_are_in_our_words(data: Path) -> None:
    acts: Counter[bool] = Counter()
    seen: Counter[bool] = Counter()
    strange: Counter[str] = Counter()
    for lines in trajectories(data):
        for line, after in zip(lines, [*lines[1:], ""], strict=True):
            if not line.startswith("Act:"):
                continue
            sentence = plain(line.removeprefix("Act:"))
            if AGENTS_OWN.fullmatch(sentence):
                continue
            acts[bool(_SENTENCE.fullmatch(sentence))] += 1
            if after.strip():
                known = bool(SHAPE.fullmatch(plain(after)))
                seen[known] += 1
                strange[re.sub(r"\(.*?\)", "(n)", plain(after))[:60]] += not known
    print(f"\nrecorded ALFRED trajectories: {acts[True]} of {acts.total()} action sentences are skills of ours")
    print(f"  {seen[True]} of {seen.total()} observations are in our words; the others:")
    for text, number in strange.most_common(6):
        print(f"  {number:4} {text}") if number else None
    assert acts[False] == 0
    assert seen[True] >= 0.99 * seen.total()


# Refusals that the recordings never needed.
OURS = (
    rf"You (?:have not seen|are not holding|cannot move to) {ONE}\.|The {ONE} (?:turn (?:on|off)|pick up|drop) failed\."
)


def test_what_our_world_says_is_in_the_shapes_of_the_recordings() -> None:
    """On the oracle's way through tasks of every type, with a refusal provoked after every step."""
    ours = re.compile(rf"(?:{OURS}){HELD}")
    world = Thor("partial", "scene")
    for task in SUITE.tasks(17, 42):
        assert SHAPE.fullmatch(world.reset(task).text)
        for sentence in SUITE.oracle(world, task):
            told = world.act(sentence).text
            assert SHAPE.fullmatch(told), told
            for provoked in ("slice Fridge (1)", "close Fridge (1)", "pick up Mug (1)", "turn on Drawer (1)"):
                if provoked not in world.skills():
                    told = world.act(provoked).text
                    assert SHAPE.fullmatch(told) or ours.fullmatch(told), told
