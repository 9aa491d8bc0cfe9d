"""Frames of `/tf` and `/tf_static`: the latest transforms, combined along the tree of frames."""

from __future__ import annotations

import math
from collections.abc import Iterator, MutableMapping
from typing import Any, NamedTuple

from bt_robots.ros.transport import LATCHED, Transport
from bt_runtime.tree.clock import RunClock

TYPE = "tf2_msgs/msg/TFMessage"
MOST_FRAMES = 10_000
_KEPT = "ros frames"  # the service under which a run keeps them


class Pose(NamedTuple):
    x: float
    y: float
    z: float
    turn: tuple[float, float, float, float]  # x, y, z, w

    def then(self, other: Pose) -> Pose:
        """Composes two transforms: `other`, given in this frame, in the frame of this one's parent."""
        x, y, z = _turned(self.turn, (other.x, other.y, other.z))
        return Pose(self.x + x, self.y + y, self.z + z, _times(self.turn, other.turn))

    def back(self) -> Pose:
        turn = (-self.turn[0], -self.turn[1], -self.turn[2], self.turn[3])
        x, y, z = _turned(turn, (-self.x, -self.y, -self.z))
        return Pose(x, y, z, turn)


STILL = Pose(0.0, 0.0, 0.0, (0.0, 0.0, 0.0, 1.0))


def _times(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float, float]:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz,
    )  # fmt: skip


def _turned(turn: tuple[float, ...], point: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z, w = turn
    made = _times(_times(turn, (*point, 0.0)), (-x, -y, -z, w))
    return made[:3]


class Frames:
    def __init__(self, clock: RunClock) -> None:
        self.clock = clock
        self.above: dict[str, tuple[str, Pose, float]] = {}  # frame → its parent, where it is there, since when

    def moved(self, message: dict[str, Any]) -> None:
        self._keep(message, self.clock.now())

    def fixed(self, message: dict[str, Any]) -> None:
        self._keep(message, math.inf)

    def _keep(self, message: dict[str, Any], now: float) -> None:
        for each in message["transforms"]:
            at, turn = each["transform"]["translation"], each["transform"]["rotation"]
            pose = Pose(at["x"], at["y"], at["z"], (turn["x"], turn["y"], turn["z"], turn["w"]))
            child, parent = each["child_frame_id"].lstrip("/"), each["header"]["frame_id"].lstrip("/")
            if len(self.above) < MOST_FRAMES or child in self.above:
                self.above[child] = (parent, pose, now)

    def _way(self, frame: str) -> Iterator[tuple[str, Pose, float]]:
        """Returns the path to the root: each frame, the first frame's pose in it, and the age of the oldest transform
        used."""
        pose, since, seen = STILL, math.inf, set[str]()
        while frame not in seen:
            seen.add(frame)
            yield frame, pose, since
            if frame not in self.above:
                return
            frame, here, at = self.above[frame]
            pose, since = here.then(pose), min(since, at)

    def look(self, frame: str, child: str) -> dict[str, Any] | None:
        """Returns the pose of one frame in another; None when no path connects them."""
        up = {name: (pose, since) for name, pose, since in self._way(frame.lstrip("/"))}
        for name, pose, since in self._way(child.lstrip("/")):
            if name in up and (name in self.above or any(above[0] == name for above in [*self.above.values()])):
                there, before = up[name]
                return self._told(there.back().then(pose), min(since, before))
        return None

    def _told(self, pose: Pose, since: float) -> dict[str, Any]:
        x, y, z, w = pose.turn
        orientation = {"x": x, "y": y, "z": z, "w": w}
        return {
            "x": pose.x, "y": pose.y, "z": pose.z,
            "yaw": math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
            "pose": {"position": {"x": pose.x, "y": pose.y, "z": pose.z}, "orientation": orientation},
            "age": max(self.clock.now() - since, 0.0) if since != math.inf else 0.0,
        }  # fmt: skip


def frames_of(ros: Transport, given: MutableMapping[str, Any], clock: RunClock) -> Frames:
    """Returns the frames of a run; it subscribes once for all skills."""
    if _KEPT not in given:
        given[_KEPT] = frames = Frames(clock)
        ros.subscribe("/tf", TYPE, frames.moved)
        ros.subscribe("/tf_static", TYPE, frames.fixed, LATCHED)
    return given[_KEPT]  # type: ignore[no-any-return]
