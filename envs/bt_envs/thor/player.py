"""An executable that the AI2-THOR library starts instead of Unity: it plays symbolic rooms over two pipes.

Standard library and msgpack only. Rooms come by name from a JSON file, or whole in a `CreateHouse` action.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from bt_envs.alfred.room import Room, from_json
from bt_envs.thor.actions import act, reachable
from bt_envs.thor.frame import draw
from bt_envs.thor.scene import Refusal, Scene
from bt_runtime.language.project import child

METADATA, RGB, END = 1, 4, 255
HEADER = struct.Struct("!BI")
CAMERA = {"cameraNearPlane": 0.1, "cameraFarPlane": 20.0}  # the library asks the first scene for them
EMPTY = Room("Empty", "room", (), ((0.0, 0.0),))


class Player:
    """Answers one action at a time; knows nothing of pipes."""

    def __init__(self, rooms: Mapping[str, Room], width: int = 300, height: int = 300) -> None:
        self.rooms = rooms
        self.width, self.height = width, height
        self.draws = False
        self.scene = Scene(next(iter(rooms.values()), EMPTY))

    def answer(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the metadata message for this action."""
        error, code, answer = "", "", None
        try:
            answer = self._do(action)
        except Refusal as refusal:
            error, code = str(refusal), refusal.code
        agent = self.scene.metadata()
        agent.update(
            screenWidth=self.width,
            screenHeight=self.height,
            thirdPartyCameras=[],
            lastAction=str(action.get("action", "")),
            lastActionSuccess=not error,
            errorMessage=error,
            errorCode=code,
            actionReturn=answer,
        )
        return {
            "agents": [agent],
            "thirdPartyCameras": [],
            "sequenceId": action.get("sequenceId", 0),
            "activeAgentId": 0,
        }

    def image(self, action: Mapping[str, Any]) -> bytes | None:
        """Returns the view from above, if this action asks for frames."""
        if not action.get("renderImage", self.draws):
            return None
        return draw(self.scene, self.width, self.height)

    def _do(self, action: Mapping[str, Any]) -> Any:
        name = action.get("action")
        if name == "Reset":
            return self._reset(str(action.get("sceneName", "")))
        if name == "CreateHouse":
            try:
                house = action["house"]  # a room, or `{"room": "…"}` with its JSON text
                self.scene = Scene(from_json(json.loads(house["room"]) if "room" in house else house))
            except (KeyError, TypeError, ValueError) as fault:
                raise Refusal(f"this is no room: {fault!r}", "InvalidArgument") from fault
            return {"reachablePositions": reachable(self.scene), **CAMERA}
        if name == "GetScenesInBuild":
            return list(self.rooms)
        if name == "ChangeResolution":
            self.width, self.height = int(action["x"]), int(action["y"])
            return None
        if name == "Initialize":
            self.draws = bool(action.get("renderImage", True))
        return act(self.scene, action)

    def _reset(self, name: str) -> None:
        if name == "Procedural":
            self.scene = Scene(EMPTY)
            return
        if name not in self.rooms:
            raise Refusal(f"no room is called {name!r}; rooms here: {', '.join(self.rooms)}", "InvalidArgument")
        self.scene = Scene(self.rooms[name])


def read_message(pipe: BinaryIO) -> dict[str, Any] | None:
    """Reads the next action; None when the library has closed its end."""
    body = b""
    while True:
        head = pipe.read(HEADER.size)
        if len(head) < HEADER.size:
            return None
        kind, size = HEADER.unpack(head)
        if kind == END:
            return dict(json.loads(body))
        body = pipe.read(size)


def serve(player: Player, to_library: BinaryIO, from_library_path: str) -> None:
    """Sends the first message (sequence 0), then answers until the library closes the pipe."""
    import msgpack

    action: dict[str, Any] | None = {"action": "Initialize", "sequenceId": 0, "renderImage": False}
    from_library: BinaryIO | None = None
    while action is not None:
        metadata = msgpack.packb(player.answer(action))
        fields = [(METADATA, metadata)]
        image = player.image(action)
        if image is not None:
            fields.append((RGB, image))
        message = b"".join(HEADER.pack(kind, len(body)) + body for kind, body in [*fields, (END, b"")])
        to_library.write(message)
        to_library.flush()
        if from_library is None:  # the library opens its writing end only after our first message
            from_library = Path(from_library_path).open("rb")  # noqa: SIM115
        action = read_message(from_library)


def launcher(folder: Path, rooms: Mapping[str, Room]) -> Path:
    """Writes an executable for `Controller(local_executable_path=…)`; quote the path if it has spaces."""
    folder.mkdir(parents=True, exist_ok=True)
    book = folder / "rooms.json"
    book.write_text(json.dumps({name: room.to_json() for name, room in rooms.items()}), encoding="utf-8")
    path = folder / "player"
    words = child.python("bt_envs.thor.player", "--rooms", str(book))
    home = os.pathsep.join(child.search_path())
    path.write_text(
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(home)}\nPYTHONSAFEPATH=1\nexport PYTHONPATH PYTHONSAFEPATH\n"
        f'exec {shlex.join(words)} "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", type=Path, required=True)
    options, rest = parser.parse_known_args(argv)  # the library adds Unity's own options
    sizes = dict(zip(rest[::2], rest[1::2], strict=False))
    rooms = {name: from_json(room) for name, room in json.loads(options.rooms.read_text(encoding="utf-8")).items()}
    player = Player(rooms, int(sizes.get("-screen-width", 300)), int(sizes.get("-screen-height", 300)))
    try:
        with Path(os.environ["AI2THOR_FIFO_SERVER_PIPE_PATH"]).open("wb") as out:
            serve(player, out, os.environ["AI2THOR_FIFO_CLIENT_PIPE_PATH"])
    except BrokenPipeError:
        return 0
    except KeyError as missing:
        print(f"{missing} is not set: the AI2-THOR library starts this program", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
