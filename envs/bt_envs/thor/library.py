"""The unmodified AI2-THOR library as a stage: with our player, a custom Unity build, or a build that the library
downloads.

The library hangs when a player dies early and spins when it dies late. This module therefore runs in a separate
process (see `adapter`). That process is killed when `Gone` is raised or the watchdog reports."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bt_envs.alfred.room import Room
from bt_envs.thor.player import EMPTY, launcher
from bt_envs.thor.scene import SIGHT
from bt_envs.thor.stage import SIDE, Frame, Gone, Outcome
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.types import Json

FETCH = "fetch"
POLL = 0.02


@dataclass(frozen=True, slots=True)
class Build:
    """The player that the library starts, and its timeouts."""

    path: str = ""  # a Unity executable; "": our own player; "fetch": the library's download
    frames: bool = False
    start_timeout: float = 60.0
    step_timeout: float = 30.0
    platform: str = ""  # "CloudRendering" renders without a display

    @property
    def symbolic(self) -> bool:
        return not self.path


class LibraryStage:
    def __init__(self, build: Build, folder: Path, died: Callable[[str], None]) -> None:
        """Opens the library. `died` is called from another thread when the player dies; it should end this process."""
        with Extra("thor", "the AI2-THOR library", "; or play without it: through=scene"):
            from ai2thor.controller import Controller
        self.build = build
        self.physical = not build.symbolic
        self.log = _prepare(build, folder)
        arguments = _arguments(build, folder)
        self._closing = threading.Event()
        self._died = died
        # The constructor only returns once the player has spoken, so the watch must know the object before.
        self.controller = Controller.__new__(Controller)
        threading.Thread(target=self._watch, daemon=True).start()
        try:
            self.controller.__init__(**arguments)
        except Exception as fault:
            raise self._explained(fault) from fault

    def _watch(self) -> None:
        """Watchdog: reports the end of the player's process, which the library does not report."""
        process: Any = None
        while process is None and not self._closing.is_set():
            time.sleep(POLL)
            process = getattr(getattr(self.controller, "server", None), "unity_proc", None)
        while not self._closing.is_set() and process.poll() is None:
            time.sleep(POLL)
        if not self._closing.is_set():
            self._died(self._ended(process))

    def _ended(self, process: Any) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        return f"the player ended with exit code {process.poll()}{self.last_words()}"

    def _explained(self, fault: Exception) -> BtError:
        if self.build.path == FETCH:
            return BtError(
                f"the AI2-THOR library could not fetch a build: {fault}",
                "is there a network? Without one, name a build that you have (build=PATH), or leave `build` out",
            )
        return BtError(f"the player did not start: {type(fault).__name__}: {fault}{self.last_words()}", _TRY)

    def last_words(self) -> str:
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return ""
        return f"; its last words: {lines[-1].strip()}" if lines else ""

    @property
    def player_pid(self) -> int | None:
        pid: int | None = getattr(self.controller, "unity_pid", None)
        return pid

    def load(self, setup: Mapping[str, Json]) -> Outcome:
        if self.build.symbolic:
            house = {"room": json.dumps(setup["room"])}  # one string: the library copies what it is given, deeply
            outcome = self._ask(lambda: self.controller.reset(scene=house))
            return outcome._replace(answer=outcome.answer["reachablePositions"]) if outcome.ok else outcome
        scene = setup.get("scene")
        if not scene:
            raise BtError("this task is for a symbolic room, not for a Unity build", "leave the option `build` out")
        shown = self._ask(lambda: self.controller.reset(scene["floor_plan"]))
        if not shown.ok:
            raise BtError(
                f"the build shows no {scene['floor_plan']}: {shown.error.splitlines()[0]}", "use an iTHOR build"
            )
        for wanted in object_states(scene):
            self.step("SetObjectStates", SetObjectStates=wanted)
        self.step("SetObjectPoses", objectPoses=scene["object_poses"], placeStationary=False)
        start = {key: scene["init_action"][key] for key in ("x", "y", "z", "rotation", "horizon")}
        return self.step("TeleportFull", standing=True, **start)

    def step(self, action: str, **arguments: Any) -> Outcome:
        return self._ask(lambda: self.controller.step(action=action, **arguments))

    def _ask(self, ask: Callable[[], Any]) -> Outcome:
        try:
            metadata = ask().metadata
        except ValueError as refused:  # the library's way to say that the arguments of an action are unfit
            event = self.controller.last_event
            return Outcome(event.metadata, False, str(refused).strip(), None)
        except BrokenPipeError as fault:
            raise Gone(self._ended(self.controller.server.unity_proc)) from fault
        except Exception as fault:
            raise Gone(f"the library gave up: {fault}{self.last_words()}") from fault
        error = "" if metadata["lastActionSuccess"] else metadata["errorMessage"] or "the simulator refused"
        return Outcome(metadata, not error, error, metadata["actionReturn"])

    def frame(self) -> Frame | None:
        pixels = getattr(self.controller.last_event, "frame", None)
        if pixels is None:
            return None
        return Frame(pixels.shape[1], pixels.shape[0], pixels.tobytes())

    def close(self) -> None:
        self._closing.set()
        self.controller.stop()


def object_states(scene: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Converts ALFRED's `object_toggles` and `dirty_and_empty` to the form of the library's version 5."""
    states = [
        {"objectType": o["objectType"], "stateChange": "toggleable", "isToggled": bool(o["isOn"])}
        for o in scene.get("object_toggles") or ()
    ]
    if scene.get("dirty_and_empty"):
        for kind in sorted({pose["objectName"].split("_")[0] for pose in scene["object_poses"]}):
            states.append({"objectType": kind, "stateChange": "dirtyable", "isDirty": True})
            states.append({"objectType": kind, "stateChange": "canFillWithLiquid", "isFilledWithLiquid": False})
    return states


_TRY = "try the executable by hand; a Unity build needs a display (DISPLAY) or platform=CloudRendering"


def _prepare(build: Build, folder: Path) -> Path:
    """Prepares this process for the library; returns the path of the player's log."""
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)  # its mere presence makes the library demand vulkaninfo
    if build.symbolic:
        os.environ["HOME"] = str(folder)  # the library writes a log and locks; leave the user's home alone
    elif build.path != FETCH:
        path = Path(build.path).expanduser()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise BtError(f"`{path}` is no executable file", "name the AI2-THOR executable itself, not its folder")
    return Path("~/.ai2thor/log/unity.log").expanduser()


def _arguments(build: Build, folder: Path) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "width": SIDE,
        "height": SIDE,
        "headless": not build.frames,
        "server_timeout": build.step_timeout,
        "server_start_timeout": build.start_timeout,
        "visibilityDistance": SIGHT,
        "gridSize": 0.25,
        "snapToGrid": False,
    }
    if build.symbolic:
        empty: dict[str, Room] = {EMPTY.name: EMPTY}
        path = launcher(folder, empty)
        arguments.update(local_executable_path=shlex.quote(str(path)), scene={"room": json.dumps(EMPTY.to_json())})
    elif build.path != FETCH:
        arguments["local_executable_path"] = shlex.quote(str(Path(build.path).expanduser()))
    if build.platform:
        import ai2thor.platform

        found = getattr(ai2thor.platform, build.platform, None)
        if found is None:
            raise BtError(f"the library knows no platform `{build.platform}`", "platform=CloudRendering")
        arguments["platform"] = found
    if "DISPLAY" not in os.environ and not build.platform:
        if not build.symbolic and build.frames:
            raise BtError("a Unity build that draws needs a display", "set DISPLAY, or platform=CloudRendering")
        arguments["x_display"] = ":0"  # never opened; the library insists on some text
    return arguments
