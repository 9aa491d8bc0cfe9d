"""The world as agents meet it, in the real library and beside it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from bt_envs.thor.frame import png
from bt_envs.thor.suite import SUITE
from bt_envs.thor.world import Thor
from bt_runtime import BtError
from bt_runtime.types import Observation, Task, Verdict

Library = Callable[..., Thor]
WAY = ("go to Fridge (1)", "open Fridge (1)", "pick up Egg (1)", "close Fridge (1)", "go to Egg (9)", "jump")


@pytest.mark.thor
@pytest.mark.parametrize("view", ["partial", "full"])
def test_the_library_and_the_bare_scene_say_the_same_on_the_oracles_way(library: Library, view: str) -> None:
    """So what is learnt beside the library holds in it."""
    real, bare = library(view=view), Thor(view=view, through="scene")  # type: ignore[arg-type]
    for task in SUITE.tasks(11, 14, view=view):
        assert real.reset(task) == bare.reset(task)
        for sentence in SUITE.oracle(bare, task):
            assert real.act(sentence) == bare.act(sentence)
            assert real.skills() == bare.skills()
        assert real.verdict() == bare.verdict()


@pytest.mark.thor
def test_the_oracle_solves_shipped_tasks_through_the_library(library: Library) -> None:
    world = library()
    for task in SUITE.tasks(21, 21):
        world.reset(task)
        assert all(world.act(sentence).ok for sentence in SUITE.oracle(world, task))
        met, total = world.verdict()
        assert met == total


@pytest.mark.thor
def test_frames_come_from_above_when_asked_for_and_not_otherwise(library: Library, egg_task: Task) -> None:
    drawing = library(frames=True)
    drawing.reset(egg_task)
    before = drawing.frame()
    drawing.act("go to Fridge (1)")
    after = drawing.frame()
    assert before is not None
    assert after is not None
    assert (after.width, after.height, len(after.rgb)) == (300, 300, 300 * 300 * 3)
    assert before.rgb != after.rgb, "the robot has moved"
    bare = Thor(through="scene")
    bare.reset(egg_task)
    bare.act("go to Fridge (1)")
    assert bare.frame() == after
    assert png(*after).startswith(b"\x89PNG")
    plain = library()
    plain.reset(egg_task)
    assert plain.frame() is None


@pytest.mark.thor
def test_two_worlds_side_by_side_do_not_know_each_other(library: Library, egg_task: Task) -> None:
    one, other = library(), library()
    one.reset(egg_task)
    other.reset(egg_task)
    for sentence in WAY:
        one.act(sentence)
    assert one.holds("holding Egg (1)")
    assert other.holds("hand free")


@pytest.mark.thor
def test_the_verdict_asked_for_while_an_action_goes_on_is_a_verdict(library: Library, egg_task: Task) -> None:
    """Two threads ask one process; each gets its own answer."""
    world = library()
    world.reset(egg_task)
    with ThreadPoolExecutor(4) as threads:
        acted = [threads.submit(world.act, "go to Fridge (1)") for _ in range(20)]
        judged = [threads.submit(world.verdict) for _ in range(20)]
    assert all(isinstance(each.result(), Observation) for each in acted)
    assert all(isinstance(each.result(), Verdict) for each in judged)


@pytest.mark.parametrize("through", ["scene", pytest.param("library", marks=pytest.mark.thor)])
def test_a_snapshot_brings_back_what_was_done_until_then(through: str, library: Library, egg_task: Task) -> None:
    world = library(through=through)
    world.reset(egg_task)
    for sentence in WAY[:3]:
        world.act(sentence)
    saved, skills = world.snapshot(), list(world.skills())
    world.act("close Fridge (1)")
    world.act("go to DiningTable (1)")
    world.restore(saved)
    assert list(world.skills()) == skills
    assert world.holds("holding Egg (1)")
    assert world.holds("Fridge (1) is open")
    assert world.snapshot() == saved


@pytest.mark.parametrize("through", ["scene", pytest.param("library", marks=pytest.mark.thor)])
def test_a_pickled_world_goes_on_where_the_original_was(through: str, library: Library, egg_task: Task) -> None:
    world = library(through=through)
    world.reset(egg_task)
    for sentence in WAY[:3]:
        world.act(sentence)
    copy = pickle.loads(pickle.dumps(world))
    try:
        assert copy.act("close Fridge (1)") == world.act("close Fridge (1)")
        assert copy.look() == world.look()
    finally:
        copy.close()


def test_without_a_task_everything_answers(egg_task: Task) -> None:
    world = Thor(through="scene")
    assert not world.act("go to Fridge (1)").ok
    assert not world.look().ok
    assert world.skills() == []
    assert world.holds("hand free") is None
    assert world.verdict() == (0, 0)
    assert world.frame() is None
    world.restore(world.snapshot())
    world.close()


NO_TASKS: list[dict[str, object]] = [
    {},
    {"room": "nowhere", "goal": {}},
    {"room": 3, "goal": {}},
    {"room": {"things": 1}, "goal": {}},
    {"room": "galley_kitchen"},
    {"room": "galley_kitchen", "goal": {"type": "dance", "object": "Egg"}},
    {"room": "galley_kitchen", "goal": {"type": "pick_and_place_simple", "object": "Egg"}, "where": {"x": "y"}},
    {"room": "galley_kitchen", "goal": {"type": "pick_and_place_simple", "colour": "red"}},
]


@pytest.mark.parametrize("data", NO_TASKS)
def test_a_task_that_is_none_says_so(data: dict[str, object], egg_task: Task) -> None:
    with pytest.raises(BtError):
        Thor(through="scene").reset(egg_task._replace(data=data))


def test_options_are_checked_by_name_and_value() -> None:
    for bad in ({"colour": "red"}, {"view": "sideways"}, {"through": "wormhole"}, {"step_timeout": "soon"}):
        with pytest.raises(BtError):
            SUITE.open(**bad)


@pytest.mark.parametrize("said, meant", [(True, True), ("yes", True), (["true"], True), ("no", False), ([], False)])
def test_frames_are_asked_for_as_the_command_line_may_say_it(said: object, meant: bool) -> None:
    world = SUITE.open(frames=said)
    assert isinstance(world, Thor)
    assert world.build.frames is meant


@pytest.mark.parametrize("junk", [b"not json", b"[]", b"{}", b'{"setup": {"room": {}}, "deeds": []}', b"\xff"])
def test_a_snapshot_that_is_none_is_refused(junk: bytes) -> None:
    with pytest.raises(BtError, match="no snapshot"):
        Thor(through="scene").restore(junk)


def test_many_episodes_side_by_side_are_each_as_if_alone() -> None:
    tasks = SUITE.tasks(13, 100)
    worlds = [Thor(through="scene") for _ in tasks]
    for world, task in zip(worlds, tasks, strict=True):
        world.reset(task)
    ways = [SUITE.oracle(world, task) for world, task in zip(worlds, tasks, strict=True)]
    running = list(zip(worlds, ways, strict=True))
    while running:
        running = [(w, way) for w, way in running if (said := next(way, None)) is not None and w.act(said).ok]
    assert all(met == total for met, total in (world.verdict() for world in worlds))


def test_neither_the_suite_nor_a_bare_world_loads_the_library() -> None:
    code = (
        "import sys\n"
        "from bt_envs.thor.suite import SUITE\n"
        "world = SUITE.open(through='scene'); world.reset(SUITE.tasks(0, 1)[0]); world.skills()\n"
        "heavy = {'ai2thor', 'msgpack', 'numpy', 'cv2'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
