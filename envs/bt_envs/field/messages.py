"""Poses and paths as mappings in ROS's message layout, so that trees for the field hold the same values as with
Nav2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

FRAME = "map"
HINT = "{x: 4, y: 2, yaw: 1.57}, the name of a place, or a PoseStamped: {pose: {position: {x: 4, y: 2}}}"


class Pose(NamedTuple):
    """Metres, and radians from the x axis to the left; no heading: any will do."""

    x: float
    y: float
    yaw: float | None = None

    def far(self, other: Pose) -> float:
        return math.hypot(other.x - self.x, other.y - self.y)


def pose_of(value: Any, places: Mapping[str, Pose]) -> Pose:
    """Parses a pose: the name of a place, `{x, y, yaw}`, a Pose or a PoseStamped."""
    if isinstance(value, str):
        if value not in places:
            raise BtError(f"no place is called `{value:.60}`", f"places: {', '.join(places)}")
        return places[value]
    try:
        inner = value.get("pose", value)
        at = inner.get("position", inner)
        turned = inner.get("orientation")
        yaw = 2 * math.atan2(turned["z"], turned["w"]) if turned else at.get("yaw")
        found = Pose(float(at["x"]), float(at["y"]), None if yaw is None else float(yaw))
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise BtError(f"this is no pose: {value!r:.80}", HINT) from problem
    if not all(math.isfinite(part) for part in found if part is not None):
        raise BtError(f"this is no pose: {value!r:.80}", HINT)
    return found


def stamped(pose: Pose) -> Json:
    return {"header": {"frame_id": FRAME}, "pose": _message(pose)}


def path_message(points: Sequence[Pose]) -> Json:
    return {"header": {"frame_id": FRAME}, "poses": [stamped(point) for point in points]}


def points_of(path: Any) -> list[Pose]:
    """Returns the poses of a `nav_msgs/Path`."""
    poses = path.get("poses") if isinstance(path, Mapping) else None
    if not isinstance(poses, list | tuple):
        raise BtError(f"this is no path: {path!r:.80}", "give what compute_path_to_pose gave")
    return [pose_of(pose, {}) for pose in poses]


def _message(pose: Pose) -> Json:
    half = (pose.yaw or 0.0) / 2
    return {
        "position": {"x": round(pose.x, 3), "y": round(pose.y, 3), "z": 0.0},
        "orientation": {"x": 0.0, "y": 0.0, "z": round(math.sin(half), 6), "w": round(math.cos(half), 6)},
    }
