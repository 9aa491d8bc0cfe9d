"""The player by itself: an unmodified Controller of the library drives it, and it ends with the library."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bt_envs.thor.player import HEADER, Player, launcher, main, read_message
from bt_envs.thor.rooms import read_rooms

pytestmark = pytest.mark.thor


SCRIPT = """
import sys, shlex
from ai2thor.controller import Controller
options = {"x_display": ":0", "scene": "galley_kitchen", "server_timeout": 20, "width": 200, "height": 100}
controller = Controller(local_executable_path=shlex.quote(sys.argv[1]), headless=sys.argv[2] == "headless", **options)
"""


def drive(tmp_path: Path, text: str, mode: str = "headless") -> str:
    """What a program prints that uses the library as anybody would; the library's own warnings stay in there."""
    pytest.importorskip("ai2thor")
    path = launcher(tmp_path / "a player", read_rooms())
    env = {**os.environ, "HOME": str(tmp_path / "home")}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT + text, str(path), mode]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_unmodified_controller_plays_rooms_by_name(tmp_path: Path) -> None:
    text = """
egg = next(o for o in controller.last_event.metadata["objects"] if o["objectType"] == "Egg")
event = controller.step(action="PickupObject", objectId=egg["objectId"], forceAction=True)
print(event.metadata["errorMessage"])
print(controller.reset("attic_bedroom").metadata["sceneName"])
print(len(controller.step("GetReachablePositions").metadata["actionReturn"]) > 100)
try:
    controller.step("Fly")
except ValueError as refused:
    print(refused)
event = controller.step("Pass")
print(event.metadata["lastActionSuccess"], event.frame, event.screen_width, event.screen_height)
controller.stop()
"""
    lines = drive(tmp_path, text).splitlines()
    assert "behind a closed door" in lines[0]
    assert lines[1:3] == ["attic_bedroom", "True"]
    assert "Fly" in lines[3]
    assert lines[4] == "True None 200 100"


def test_a_controller_that_is_not_headless_gets_frames(tmp_path: Path) -> None:
    text = 'print(controller.step("RotateRight").frame.shape); controller.stop()'
    assert drive(tmp_path, text, "frames").strip() == "(100, 200, 3)"


def test_it_ends_when_the_library_closes_its_pipe(tmp_path: Path) -> None:
    text = "controller.server.client_pipe.close(); print(controller.server.unity_proc.wait(60))"
    assert drive(tmp_path, text).strip() == "0"


def test_started_by_hand_it_says_who_starts_it(tmp_path: Path) -> None:
    path = launcher(tmp_path, {})
    done = subprocess.run([path], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True)
    assert done.returncode == 2
    assert "library starts this program" in done.stderr


def test_a_message_that_breaks_off_is_the_end() -> None:
    body = json.dumps({"action": "Pass"}).encode()
    whole = HEADER.pack(2, len(body)) + body + HEADER.pack(255, 0)
    assert read_message(io.BytesIO(whole)) == {"action": "Pass"}
    assert read_message(io.BytesIO(whole[:3])) is None
    assert read_message(io.BytesIO(b"")) is None


@pytest.mark.parametrize("house", [None, {}, {"things": 3}, {"name": "x"}, []])
def test_a_house_that_is_none_is_refused_and_the_game_goes_on(house: Any) -> None:
    player = Player(read_rooms())
    said = player.answer({"action": "CreateHouse", "house": house, "sequenceId": 4})
    assert not said["agents"][0]["lastActionSuccess"]
    assert said["sequenceId"] == 4
    assert player.answer({"action": "Pass"})["agents"][0]["lastActionSuccess"]


def test_an_unknown_room_is_refused_by_name() -> None:
    said = Player(read_rooms()).answer({"action": "Reset", "sceneName": "FloorPlan999"})
    assert "galley_kitchen" in said["agents"][0]["errorMessage"]


def test_it_needs_to_be_told_its_rooms() -> None:
    with pytest.raises(SystemExit):
        main([])
