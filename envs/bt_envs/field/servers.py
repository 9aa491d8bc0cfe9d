"""Doubles of Nav2's servers: skills with the same names, parameters, outputs and error codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from itertools import pairwise
from typing import Any, Protocol

from py_trees.common import Status

from bt_envs.field.ground import DOCK, PLACES
from bt_envs.field.messages import Pose, path_message, points_of, pose_of
from bt_envs.field.simulator import Simulator
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.skill import Skill

CODES = {  # error codes of results in nav2_msgs
    "": 0, "INVALID_PATH": 103, "PATIENCE_EXCEEDED": 104, "FAILED_TO_MAKE_PROGRESS": 105, "START_OUTSIDE_MAP": 203,
    "GOAL_OUTSIDE_MAP": 204, "START_OCCUPIED": 205, "GOAL_OCCUPIED": 206, "NO_VALID_PATH": 208, "UNKNOWN": 100,
    "TIMEOUT": 701, "COLLISION_AHEAD": 703, "FAILED_TO_STAGE": 903, "FAILED_TO_CONTROL": 905, "PREEMPTED": 100,
}  # fmt: skip
PLANNING = 0.1  # seconds that the planner takes
AHEAD = 0.5  # metres on the path that the controller aims at
THERE, TURNED = 0.15, 0.2  # metres and radians that are near enough
PATIENCE = 2.5  # seconds without getting on
AGAIN = 1.0  # seconds between two plans of navigate_to_pose
HELP = 5  # how often it gets itself out
STAGING = 0.8  # metres before the dock
SPINNING = 1.5  # radians a second
Drive = tuple[float, float]  # metres and radians a second
Course = Generator[Drive, None, str]  # what it returns is the name of an error, or none


class Clock(Protocol):
    def now(self) -> float: ...


class Server(Skill):
    """A skill as a generator of steps: each yield is the wheels' motion in the next step."""

    frees = False  # does it get the wheels out of where they slip
    ended: Status | None = None
    course: Callable[..., Course]

    def __init__(self, field: Simulator, clock: Clock) -> None:
        self.field, self.clock = field, clock

    def start(self, **params: Any) -> None:
        self.field.until(self.clock.now())
        self.feedback, self.result, self.ended = "", None, None
        self.out: dict[str, Any] = {}
        self.wheels = self.course(**params)
        self.field.drives(self)

    def control(self) -> Drive:
        try:
            return next(self.wheels)
        except StopIteration as end:
            self.end(end.value or "")
        except BtError as wrong:
            self.end("UNKNOWN", wrong.message)
        return 0.0, 0.0

    def end(self, error: str, said: str = "") -> None:
        said = said or error.replace("_", " ").lower()
        works = not error
        told = {"error_code_id": CODES[error], "error_msg": said, "success": works, "was_completed": works}
        self.result = {**told, **self.out}
        self.feedback = said or self.feedback
        self.ended = Status.SUCCESS if works else Status.FAILURE
        self.field.release(self)

    def poll(self) -> Status:
        self.field.until(self.clock.now())
        if self.ended is None and self.field.driver is not self:
            self.end("PREEMPTED", "another one has taken the wheels")
        return self.ended or Status.RUNNING

    def cancel(self) -> None:
        self.field.release(self)

    # Parts of courses --------------------------------------------------------------------------

    def rest(self, seconds: float) -> Course:
        until = self.field.now + seconds
        while self.field.now < until:
            yield 0.0, 0.0
        return ""

    def straight(self, metres: float, speed: float, allowed: float = 60.0) -> Course:
        """Drives straight; backwards when metres and speed are negative."""
        begun, late = self.field.pose, self.field.now + allowed
        while (gone := begun.far(self.field.pose)) < abs(metres) - 0.01:
            if self.field.now > late:
                return "TIMEOUT"
            if self.field.still_for() > PATIENCE:
                return "COLLISION_AHEAD"
            self.feedback = f"{abs(metres) - gone:.1f} m to go"
            yield math.copysign(abs(speed), metres), 0.0
        return ""

    def turn(self, radians: float, speed: float = SPINNING) -> Course:
        left = abs(radians)
        while left > 0.01:
            step = min(speed, left / 0.05)
            left -= step * 0.05
            yield 0.0, math.copysign(step, radians)
        return ""

    def face(self, yaw: float | None) -> Course:
        while yaw is not None and abs(off := math.remainder(yaw - self.field.state.yaw, math.tau)) > TURNED / 2:
            yield 0.0, max(-SPINNING, min(SPINNING, 3 * off))
        return ""

    def along(self, path: list[Pose]) -> Course:
        """Follows `self.path`, whatever it becomes meanwhile."""
        field, at, left = self.field, 0, 0.0
        followed: list[Pose] = []
        self.path = path
        while True:
            if self.path is not followed:
                followed, at = self.path, 0
                left = _length(followed)
            field.path = followed[at:]
            here, end = field.pose, followed[-1]
            if here.far(end) < THERE:
                break
            if field.still_for() > PATIENCE:
                return "FAILED_TO_MAKE_PROGRESS"
            near = min(range(at, min(at + 12, len(followed))), key=lambda i: here.far(followed[i]))
            left, at = left - _length(followed[at : near + 1]), near
            aim = next((p for p in followed[at:] if here.far(p) > AHEAD), end)
            off = math.remainder(math.atan2(aim.y - here.y, aim.x - here.x) - (here.yaw or 0.0), math.tau)
            self.feedback = f"{left:.1f} m to go"
            slow = min(1.0, 0.3 + 1.5 * here.far(end))
            yield (slow * math.cos(off) ** 2 if abs(off) < 0.8 else 0.0), 2.5 * off
        return (yield from self.face(followed[-1].yaw))


class ComputePathToPose(Server):
    """Plans a path while another skill may drive the robot."""

    def start(self, goal: Any = None, start: Any = None, goals: Any = None, **unused: Any) -> None:
        self.field.until(self.clock.now())
        self.feedback, self.result, self.ended, self.out = "", None, None, {}
        self.goals, self.begin, self.ready = goals or [goal], start, self.field.now + PLANNING

    def poll(self) -> Status:
        self.field.until(self.clock.now())
        if self.field.now >= self.ready:
            try:
                self.end(self.planned())
            except BtError as wrong:
                self.end("UNKNOWN", wrong.message)
        return self.ended or Status.RUNNING

    def planned(self) -> str:
        at = pose_of(self.begin, PLACES) if self.begin else self.field.pose
        whole: list[Pose] = []
        for goal in (pose_of(goal, PLACES) for goal in self.goals):
            found = self.field.plan(at, goal)
            if isinstance(found, str):
                return found
            whole, at = [*whole, *found], goal
        message = path_message(whole)
        self.out = {"path": message, "route": message, "planning_time": PLANNING}
        self.feedback = f"{_length(whole):.1f} m"
        return ""


class FollowPath(Server):
    def course(self, path: Any, **unused: Any) -> Course:
        return (yield from self.along(points_of(path) or [self.field.pose]))

    def changed(self, path: Any = None, **unused: Any) -> None:
        if path:
            self.path = points_of(path)


class Navigator(Server):
    """Navigates to a pose: replans once a second; when blocked it clears the map, backs up, turns, and tries again."""

    def reach(self, goal: Pose) -> Course:
        error = ""
        for trial in range(HELP + 1):
            self.frees = False
            if trial:
                yield from self.recover(trial)
            error = yield from self.attempt(goal)
            if not error:
                return ""
        return error

    def attempt(self, goal: Pose) -> Course:
        found = self.field.plan(self.field.pose, goal)
        if isinstance(found, str):
            yield from self.rest(1.0)
            return found
        self.field.drives(self)
        follow, planned = self.along(found), self.field.now
        while True:
            try:
                wheels = next(follow)
            except StopIteration as end:
                return str(end.value)
            yield wheels
            if self.field.now - planned >= AGAIN and self.field.pose.far(goal) > 2 * THERE:
                planned, found = self.field.now, self.field.plan(self.field.pose, goal)
                self.path = self.path if isinstance(found, str) else found

    def recover(self, trial: int) -> Course:
        self.feedback = "held up: clears the map, goes back and turns"
        self.field.clear()
        if trial > 1:
            self.frees = True
            self.field.drives(self)
            yield from self.straight(-0.3, -0.2, 3.0)
            yield from self.turn(1.57)
        return ""


class NavigateToPose(Navigator):
    def course(self, goal: Any = None, goals: Any = None, **unused: Any) -> Course:
        if self.field.state.docked:
            raise BtError("The robot is docked: undock it first.", "undock_robot")
        for each in goals or [goal]:
            wrong = yield from self.reach(pose_of(each, PLACES))
            if wrong:
                return wrong
        return ""


class Spin(Server):
    frees = True

    def course(self, spin_dist: float = 1.57, **unused: Any) -> Course:
        return (yield from self.turn(float(spin_dist)))


class BackUp(Server):
    frees = True

    def course(
        self, backup_dist: float = 0.3, backup_speed: float = 0.15, time_allowance: float = 20.0, **unused: Any
    ) -> Course:
        return (yield from self.straight(-abs(float(backup_dist)), -abs(float(backup_speed)), float(time_allowance)))


class DriveOnHeading(Server):
    def course(
        self, dist_to_travel: float = 0.3, speed: float = 0.2, time_allowance: float = 20.0, **unused: Any
    ) -> Course:
        return (yield from self.straight(float(dist_to_travel), float(speed), float(time_allowance)))


class Wait(Server):
    def course(self, wait_duration: float = 5.0, **unused: Any) -> Course:
        return (yield from self.rest(float(wait_duration)))


class DockRobot(Navigator):
    def course(self, navigate_to_staging_pose: bool = True, **unused: Any) -> Course:
        dock, field = PLACES[DOCK], self.field
        if field.state.docked:
            return ""
        staging = Pose(dock.x - STAGING * math.cos(dock.yaw or 0), dock.y - STAGING * math.sin(dock.yaw or 0), dock.yaw)
        if navigate_to_staging_pose and (yield from self.reach(staging)):
            return "FAILED_TO_STAGE"
        yield from self.face(math.atan2(dock.y - field.pose.y, dock.x - field.pose.x))
        if field.pose.far(dock) > 2 * STAGING or (yield from self.straight(field.pose.far(dock), 0.25)):
            return "FAILED_TO_CONTROL"
        yield from self.face(dock.yaw)
        field.state.docked = True
        self.feedback = "docked, and charging"
        return ""


class UndockRobot(Server):
    def course(self, **unused: Any) -> Course:
        if not self.field.state.docked:
            return ""
        return (yield from self.straight(-STAGING, -0.4))


def _length(points: list[Pose]) -> float:
    return sum(a.far(b) for a, b in pairwise(points))


SERVERS: dict[str, type[Server]] = {
    "compute_path_to_pose": ComputePathToPose, "compute_path_through_poses": ComputePathToPose,
    "compute_route": ComputePathToPose, "follow_path": FollowPath, "navigate_to_pose": NavigateToPose,
    "navigate_through_poses": NavigateToPose, "spin": Spin, "back_up": BackUp, "drive_on_heading": DriveOnHeading,
    "wait": Wait, "dock_robot": DockRobot, "undock_robot": UndockRobot,
}  # fmt: skip
