"""Doubles of Nav2's services and conditions, which answer at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from py_trees.common import Status

from bt_envs.field import ground
from bt_envs.field.ground import PLACES
from bt_envs.field.messages import path_message, points_of, pose_of, stamped
from bt_envs.field.servers import CODES, PATIENCE, Clock
from bt_envs.field.simulator import Simulator
from bt_runtime.skills.skill import Skill

STUCK = 1.0  # seconds without getting on, while it is to move
SELECTORS = ("planner", "controller", "smoother", "goal_checker", "progress_checker")


class ServiceCalls:
    """Answers the service calls of one node and remembers its last answer."""

    def __init__(self, field: Simulator, clock: Clock) -> None:
        self.field, self.clock = field, clock
        self.last: Any = None

    # The map -----------------------------------------------------------------------------------

    def clear_entire_costmap(self, service_name: str = "", **_: Any) -> bool:
        """Clears the only map, which serves as local and global costmap."""
        self.field.clear()
        return True

    clear_costmap_around_robot = clear_costmap_except_region = clear_entire_costmap

    def is_path_valid(self, path: Any = None, **_: Any) -> bool:
        cost = ground.costmap(tuple(self.field.state.marks))
        cells = [ground.cell_of(p.x, p.y) for p in points_of(path)] if path else []
        return bool(cells) and all(cell is not None and cost[cell] < ground.LETHAL for cell in cells)

    # The goal ----------------------------------------------------------------------------------

    def goal_updater(self, input_goal: Any = None, **_: Any) -> Any:
        """Returns the newest goal: the followed target's position, otherwise the task's goal, otherwise the input
        goal."""
        target, wanted = self.field.target(), self.field.state.task.get("goals")
        if target is not None:
            return {"output_goal": stamped(target)}
        return {"output_goal": stamped(PLACES[wanted[0]]) if wanted and not input_goal else input_goal}

    def goal_updated(self, goal: Any = None, **_: Any) -> bool:
        before, self.last = self.last, goal
        return before is not None and before != goal

    def global_updated_goal(self, **_: Any) -> bool:
        """True the first time; later goals are known only to the blackboard."""
        return self._each(0.0, math.inf)

    def goal_reached(self, goal: Any, **_: Any) -> bool:
        return self.field.pose.far(pose_of(goal, PLACES)) < 0.25

    def are_poses_near(self, ref_pose: Any, target_pose: Any, tolerance: float = 0.5, **_: Any) -> bool:
        return pose_of(ref_pose, PLACES).far(pose_of(target_pose, PLACES)) <= float(tolerance)

    def remove_passed_goals(self, input_goals: Any = (), radius: float = 0.7, **_: Any) -> Any:
        left = [*input_goals]
        while len(left) > 1 and self.field.pose.far(pose_of(left[0], PLACES)) < float(radius):
            left.pop(0)
        return {"output_goals": left}

    # Paths -------------------------------------------------------------------------------------

    def truncate_path(self, input_path: Any, distance: float = 1.0, **_: Any) -> Any:
        points, left = points_of(input_path), float(distance)
        while len(points) > 1 and left > 0:
            left -= points[-2].far(points[-1])
            points.pop()
        return {"output_path": path_message(points)}

    def truncate_path_local(self, input_path: Any, distance_forward: float = 8.0, **_: Any) -> Any:
        """Returns the part of the path from the robot onwards, up to this distance."""
        points, left = points_of(input_path), float(distance_forward)
        near = min(range(len(points)), key=lambda i: self.field.pose.far(points[i]), default=0)
        kept = points[near : near + 1]
        for point in points[near + 1 :]:
            left -= kept[-1].far(point)
            if left < 0:
                break
            kept.append(point)
        return {"output_path": path_message(kept)}

    def smooth_path(self, unsmoothed_path: Any = None, **_: Any) -> Any:
        return {"smoothed_path": unsmoothed_path, "was_completed": True, "error_code_id": 0, "error_msg": ""}

    def concatenate_paths(self, input_path1: Any, input_path2: Any, **_: Any) -> Any:
        return {"output_path": path_message([*points_of(input_path1), *points_of(input_path2)])}

    def get_pose_from_path(self, path: Any, index: int = -1, **_: Any) -> Any:
        return {"pose": path["poses"][int(index)]}

    def path_longer_on_approach(self, **_: Any) -> bool:
        return False

    def is_within_path_tracking_bounds(
        self, max_error_left: float = 0.5, max_error_right: float = 0.5, **_: Any
    ) -> bool:
        off = min((self.field.pose.far(point) for point in self.field.path), default=0.0)
        return off <= max(float(max_error_left), float(max_error_right)) + ground.CELL

    # The robot ---------------------------------------------------------------------------------

    def get_current_pose(self, **_: Any) -> Any:
        return {"current_pose": stamped(self.field.pose)}

    def is_stuck(self, **_: Any) -> bool:
        return self.field.wanted and STUCK < self.field.still_for() < 2 * PATIENCE

    def is_stopped(self, **_: Any) -> bool:
        return not self.field.speed and not self.field.turning

    def is_battery_low(self, min_battery: float = 0.2, **_: Any) -> bool:
        return self.field.state.battery < float(min_battery)

    def is_battery_charging(self, **_: Any) -> bool:
        return self.field.state.docked

    def distance_traveled(self, distance: float = 1.0, **_: Any) -> bool:
        """True the first time, and then each time the robot has driven this distance."""
        return self._each(self.field.state.gone, float(distance))

    distance_controller = distance_traveled

    def time_expired(self, seconds: float = 1.0, **_: Any) -> bool:
        return self._each(self.field.now, float(seconds))

    path_expiring_timer = time_expired

    def speed_controller(self, min_rate: float = 0.1, max_rate: float = 1.0, max_speed: float = 0.5, **_: Any) -> bool:
        """Ticks its child at a rate that rises with the robot's speed."""
        part = min(1.0, abs(self.field.speed) / float(max_speed))
        return self._each(self.field.now, 1 / (float(min_rate) + part * (float(max_rate) - float(min_rate))))

    def _each(self, now: float, step: float) -> bool:
        if self.last is not None and now - self.last < step:
            return False
        self.last = now
        return True

    # Errors ------------------------------------------------------------------------------------

    def would_a_planner_recovery_help(self, error_code: int = 0, **_: Any) -> bool:
        return error_code in (200, CODES["START_OCCUPIED"], CODES["GOAL_OCCUPIED"], 207, CODES["NO_VALID_PATH"])

    would_a_route_recovery_help = would_a_smoother_recovery_help = would_a_planner_recovery_help

    def would_a_controller_recovery_help(self, error_code: int = 0, **_: Any) -> bool:
        return error_code in (100, 104, CODES["FAILED_TO_MAKE_PROGRESS"], 106)

    def are_error_codes_present(self, error_code: int = 0, error_codes_to_check: Any = (), **_: Any) -> bool:
        return error_code in error_codes_to_check

    def cancel_control(self, **_: Any) -> bool:
        if self.field.driver is not None:
            self.field.release(self.field.driver)
        return True

    cancel_spin = cancel_back_up = cancel_drive_on_heading = cancel_wait = cancel_control


class Service(Skill):
    """A service called as an action: it ends at its first poll."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self.ask = ask

    def start(self, **params: Any) -> None:
        answer = self.ask(**params)
        self.result = answer if isinstance(answer, Mapping) else None
        self.ended = Status.FAILURE if answer is False else Status.SUCCESS

    def poll(self) -> Status:
        return self.ended


AT_ONCE = ("is_", "would_", "are_", "goal_", "global_", "get_", "truncate_", "concatenate_", "remove_passed",
           "distance_", "speed_", "time_", "path_")  # fmt: skip


def asked(name: str, field: Simulator, clock: Clock) -> Any:
    """Returns the function behind a service or selector node of this name, or None when the name is unknown."""
    kind, _, selector = name.rpartition("_")
    if selector == "selector" and kind in SELECTORS:
        return lambda **params: {f"selected_{kind}": params.get(f"default_{kind}", "")}
    found = None if name.startswith("_") else getattr(ServiceCalls(field, clock), name, None)
    if not callable(found):
        return None

    def ask(**params: Any) -> Any:
        field.until(clock.now())
        return found(**params)

    return ask if name.startswith(AT_ONCE) else Service(ask)
