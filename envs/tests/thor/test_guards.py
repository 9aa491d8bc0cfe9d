"""A player that dies, hangs or cannot start is an answer with a way out, in time; nothing is left running."""

from __future__ import annotations

import gc
import os
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bt_envs.thor.world import Thor
from bt_runtime import BtError
from bt_runtime.types import Task

pytestmark = [pytest.mark.thor, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]
Library = Callable[..., Thor]


def executable(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def unity_task(task: Task) -> Task:
    scene = {"floor_plan": "FloorPlan1", "object_poses": [], "object_toggles": [], "init_action": {}}
    return task._replace(data={**task.data, "scene": scene})


def gone(pid: int) -> bool:
    """Is the process no more, or no more than an entry that its parent has yet to read?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def soon_gone(pids: list[int], patience: float = 20.0) -> bool:
    """A killed process takes a moment to end, longer on a busy machine."""
    end = time.monotonic() + patience
    while not all(map(gone, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return all(map(gone, pids))


def processes(world: Thor) -> list[int]:
    assert world._link is not None
    assert world._link.player_pid is not None
    return [world._link.process.pid, world._link.player_pid]


def test_a_player_that_dies_before_it_opens_its_pipe_is_reported_with_its_exit_code(
    library: Library, tmp_path: Path, egg_task: Task
) -> None:
    """The library alone would wait for ever."""
    player = executable(tmp_path / "player", "echo no licence for this machine >&2; exit 7")
    world = library(build=str(player), start_timeout=60)
    with pytest.raises(BtError, match=r"did not start.*exit code 7"):
        world.reset(unity_task(egg_task))


def test_a_player_that_never_speaks_is_given_up_at_the_start_deadline(
    library: Library, tmp_path: Path, egg_task: Task
) -> None:
    note = tmp_path / "pid"
    player = executable(tmp_path / "player", f"echo $$ > {note}; exec sleep 600")
    world = library(build=str(player), start_timeout=3)
    with pytest.raises(BtError, match="did not answer within"):
        world.reset(unity_task(egg_task))
    assert soon_gone([int(note.read_text())])


def test_a_player_that_dies_in_the_middle_is_an_observation_and_a_reset_starts_another(
    library: Library, egg_task: Task
) -> None:
    """The library alone would spin on one core until its own time limit."""
    world = library()
    world.reset(egg_task)
    first = processes(world)
    os.kill(first[1], signal.SIGKILL)
    seen = world.act("go to Fridge (1)")
    assert not seen.ok
    assert "gone" in seen.text
    assert "exit code -9" in seen.why
    assert not world.act("open Fridge (1)").ok
    assert world.skills() == []
    assert world.holds("hand is empty") is None
    assert world.verdict() == (0, 0)
    assert world.reset(egg_task).ok
    assert world.act("go to Fridge (1)").ok
    assert soon_gone(first)


DYING = """
import os
from bt_envs.thor import player

class Dying(player.Player):
    def answer(self, action):
        if action.get("action") == "OpenObject":
            os._exit(9)
        return super().answer(action)

player.Player = Dying
raise SystemExit(player.main())
"""


def test_a_player_that_dies_while_it_is_being_asked_does_not_cost_the_time_limit(
    library: Library, build: Path, posed_task: Task
) -> None:
    """The library would read on from a pipe at whose other end is nobody, at full speed, for five minutes."""
    script = build.parent / "dying.py"
    script.write_text(DYING)
    build.write_text(build.read_text().replace("-m bt_envs.thor.player", f"'{script}'"))
    world = library(build=build, step_timeout=300)
    assert world.reset(posed_task).ok
    assert world.act("go to Fridge (1)").ok
    assert "exit code 9" in world.act("open Fridge (1)").why


def test_a_player_that_hangs_is_given_up_at_the_step_deadline(library: Library, egg_task: Task) -> None:
    world = library(step_timeout=5)  # the steps of the reset are under the same limit, on a busy machine too
    world.reset(egg_task)
    pids = processes(world)
    os.kill(pids[1], signal.SIGSTOP)
    seen = world.act("go to Fridge (1)")
    assert not seen.ok
    assert "timed out" in seen.why or "did not answer" in seen.why or "gave up" in seen.why
    assert soon_gone(pids)


def test_an_adapter_that_is_killed_is_an_observation_and_its_player_ends_too(library: Library, egg_task: Task) -> None:
    world = library()
    world.reset(egg_task)
    pids = processes(world)
    os.kill(pids[0], signal.SIGKILL)
    assert "gone" in world.act("go to Fridge (1)").text
    assert soon_gone(pids)


def test_closing_leaves_no_process_and_no_file(library: Library, egg_task: Task) -> None:
    world = library()
    world.reset(egg_task)
    pids = processes(world)
    assert world._link is not None
    folder = world._link.folder
    assert folder.is_dir()
    world.close()
    world.close()
    assert all(map(gone, pids))
    assert not folder.exists()


def test_a_world_that_is_forgotten_takes_its_processes_along(library: Library, egg_task: Task) -> None:
    pytest.importorskip("ai2thor")
    world = Thor()
    world.reset(egg_task)
    pids = processes(world)
    del world
    gc.collect()
    assert all(map(gone, pids))


def test_it_plays_with_cuda_devices_set_without_display_and_from_a_path_with_spaces(
    library: Library, egg_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the three alone stops the bare library."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.delenv("DISPLAY", raising=False)
    world = library()
    assert world.reset(egg_task).ok
    assert world._link is not None
    assert " " in str(world._link.folder)


def test_a_build_of_ones_own_may_lie_in_a_folder_with_spaces(library: Library, tmp_path: Path, egg_task: Task) -> None:
    note = tmp_path / "was started"
    folder = tmp_path / "my Unity builds"
    folder.mkdir()
    player = executable(folder / "thor player", f"echo yes > '{note}'; exit 3")
    world = library(build=str(player))
    with pytest.raises(BtError):
        world.reset(unity_task(egg_task))
    assert note.read_text() == "yes\n"


def test_a_build_that_is_no_executable_says_so(library: Library, tmp_path: Path, egg_task: Task) -> None:
    with pytest.raises(BtError, match="no executable"):
        library(build=str(tmp_path)).reset(unity_task(egg_task))


def test_a_platform_that_the_library_does_not_know_says_so(library: Library, egg_task: Task) -> None:
    with pytest.raises(BtError, match="no platform `Zork`"):
        library(build="fetch", platform="Zork").reset(unity_task(egg_task))


def test_a_drawing_build_without_a_display_says_so(
    library: Library, tmp_path: Path, egg_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    player = executable(tmp_path / "player", "exit 1")
    with pytest.raises(BtError, match="display"):
        library(build=str(player), frames=True).reset(unity_task(egg_task))


def test_a_missing_library_names_its_extra(egg_task: Task, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The adapter finds no ai2thor: a module of that name that cannot be imported stands in the way."""
    (tmp_path / "ai2thor.py").write_text("raise ImportError('not here')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BtError, match=r"needs the `thor` extra"):
        Thor().reset(egg_task)


def test_a_program_that_is_killed_leaves_no_simulator_behind(library: Library) -> None:
    """The adapter notices that its parent is gone, and takes the player along."""
    code = (
        "import os, signal\n"
        "from bt_envs.thor.suite import SUITE\n"
        "world = SUITE.open(); world.reset(SUITE.tasks(0, 1)[0])\n"
        "print(world._link.process.pid, world._link.player_pid, world._link.folder, sep='\\n', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    *numbers, folder = done.stdout.splitlines()
    pids = [int(number) for number in numbers]
    assert len(pids) == 2
    watched = [select.poll() for _ in pids]
    for pid, watch in zip(pids, watched, strict=True):
        if not gone(pid):
            watch.register(os.pidfd_open(pid), select.POLLIN)
            assert watch.poll(10_000), "still running after ten seconds"
    assert not Path(folder).exists()
