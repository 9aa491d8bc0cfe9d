from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bt_runtime import BtError
from bt_runtime.plugins import open_suite
from bt_runtime.skills.worlds.registry import open_world, suite_names
from bt_runtime.types import Verdict
from tests.plugged import plug


def test_our_worlds_are_known_by_name() -> None:
    """Every world of ours is listed, and opens by its name."""
    assert {"textcraft", "house", "hotpotqa", "webshop"} <= set(suite_names())
    for name in ("textcraft", "house", "hotpotqa", "field"):
        assert open_suite(name).name == name
        open_world(name).close()


def test_a_world_that_is_not_there_is_an_error_with_a_way_out() -> None:
    """A misspelt name names the right one."""
    with pytest.raises(BtError) as caught:
        open_world("huose")
    assert "house" in caught.value.hint


def test_a_world_of_someone_else_is_on_the_same_footing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An entry point is found by name and listed; it cannot take the place of one of ours."""
    named = dict.fromkeys(("greenhouse", "house"), "bt_envs.textcraft.suite:SUITE")
    plug(monkeypatch, tmp_path, "greenhouse-1.0", {"suites": named})
    assert "greenhouse" in suite_names()
    assert (open_suite("greenhouse").name, open_suite("house").name) == ("textcraft", "house")


@pytest.mark.parametrize("name", ["textcraft", "house", "hotpotqa", "field"])
def test_an_unknown_option_or_kind_is_an_error(name: str) -> None:
    """Options and kinds of task are never silently ignored."""
    suite = open_suite(name)
    with pytest.raises(BtError, match="no option `colour`"):
        suite.open(colour="red")
    with pytest.raises(BtError, match="no option `colour`"):
        suite.tasks(0, 1, colour="red")
    with pytest.raises(BtError, match="no kind of task"):
        suite.tasks(0, 1, kinds=["dance"])


@pytest.mark.parametrize("name", ["textcraft", "house", "hotpotqa", "field"])
@pytest.mark.parametrize(
    "data",
    [
        {"house": 5, "recipes": 5},
        {"house": "flat", "things": [["apple"]], "recipes": [5]},
        {"house": "flat", "things": [["apple", "sofa 1", "under"]], "commands": [None]},
        {"house": "flat", "goal": [{}], "commands": 1},
    ],
)
def test_a_task_or_snapshot_of_something_else_is_an_error(name: str, data: dict[str, object]) -> None:
    """Broken data is told in one line, and the world goes on with the task it had."""
    suite = open_suite(name)
    world = suite.open()
    task = suite.tasks(0, 1)[0]
    world.reset(task)
    before = world.snapshot()
    with pytest.raises(BtError):
        world.reset(task._replace(data=data))
    for junk in (b"", b"\x00\xff", b"[]", b'{"task": {}}'):
        with pytest.raises(BtError, match="no snapshot"):
            world.restore(junk)
    assert world.snapshot() == before


@pytest.mark.parametrize("name", ["textcraft", "house", "hotpotqa"])
def test_tasks_and_oracle_are_the_same_in_every_process(name: str) -> None:
    """Nothing hangs on the order of a set: two hash seeds give the same tasks, options and scripts."""
    code = (
        "import sys, hashlib\n"
        "from bt_runtime.skills.worlds.registry import open_suite\n"
        f"suite = open_suite({name!r}); world = suite.open(); told = []\n"
        "for task in suite.tasks(5, 12) + suite.tasks(5, 12, 'eval'):\n"
        "    told.append(repr(task)); told.append(world.reset(task).text)\n"
        "    for said in suite.oracle(world, task):\n"
        "        told.append(said); told.append(world.act(said).text); told.append(repr(world.skills()))\n"
        "print(hashlib.sha256('\\n'.join(told).encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("world", "made", "option"),
    [("field", "tasks", {"speed": "fast"}), ("field", "tasks", {"speed": "nan"}), ("field", "tasks", {"speed": -1}),
     ("webshop", "open", {"items": "many"}), ("webshop", "open", {"items": 0})],
)  # fmt: skip
def test_an_option_that_is_no_number_is_a_fault_that_names_it(world: str, made: str, option: dict[str, object]) -> None:
    pytest.importorskip("rapidfuzz")
    suite = open_suite(world)
    (name,) = option
    with pytest.raises(BtError, match=f"`{name}` is a"):
        suite.open(**option) if made == "open" else suite.tasks(0, 1, **option)


@pytest.mark.parametrize(("met", "total", "reached"), [(0, 0, False), (1, 2, False), (2, 2, True), (3, 2, True)])
def test_a_verdict_is_reached_when_all_parts_of_a_goal_are_met(met: int, total: int, reached: bool) -> None:
    assert Verdict(met, total).reached is reached
