"""A double of a robot with Nav2, made of real rclpy: its actions, transforms, battery, costmap service and parameter.

    python nav2.py WORD…

Nav2 itself has no wheel. NavigateToPose moves the robot, Spin turns it. Words: `blocked` (the first goal is aborted
with an error of Nav2), `empty` (the battery is). It prints what it does.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import rclpy
from geometry_msgs.msg import TransformStamped
from nav2_msgs.action import NavigateToPose, Spin
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import BatteryState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

WORDS = sys.argv[1:]
BLOCKED = 105  # an error of a controller in Nav2's numbering
STEPS = 5
STEP = 0.1  # seconds


def say(*words: object) -> None:
    print(*words, flush=True)


def transform(parent: str, child: str, x: float, y: float, yaw: float) -> TransformStamped:
    made = TransformStamped(child_frame_id=child)
    made.header.frame_id = parent
    made.transform.translation.x, made.transform.translation.y = x, y
    made.transform.rotation.z, made.transform.rotation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return made


class Robot:
    def __init__(self) -> None:
        self.node = node = Node("controller_server")
        self.x = self.y = self.yaw = 0.0
        self.blocked = "blocked" in WORDS
        apart = ReentrantCallbackGroup()
        for type, name, work in ((NavigateToPose, "navigate_to_pose", self.drive), (Spin, "spin", self.spin)):
            ActionServer(node, type, name, work, cancel_callback=lambda _: CancelResponse.ACCEPT, callback_group=apart)
        node.create_service(Trigger, "/local_costmap/clear", self.clear, callback_group=apart)
        node.declare_parameter("FollowPath.max_vel_x", 0.5)
        self.moved = node.create_publisher(TFMessage, "/tf", 100)
        kept = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        fixed = node.create_publisher(TFMessage, "/tf_static", kept)
        fixed.publish(TFMessage(transforms=[transform("map", "odom", 0.5, 0.0, 0.0)]))
        self.battery = node.create_publisher(BatteryState, "/battery_state", qos_profile_sensor_data)
        node.create_subscription(String, "/light", lambda heard: say("light", heard.data), 10)
        node.create_timer(0.05, self.tell)

    def tell(self) -> None:
        """Publishes the battery, and where the robot is: `map` → `odom` is fixed, `odom` → `base_link` moves."""
        self.battery.publish(BatteryState(percentage=0.1 if "empty" in WORDS else 0.9))
        self.moved.publish(TFMessage(transforms=[transform("odom", "base_link", self.x - 0.5, self.y, self.yaw)]))

    def drive(self, handle: Any) -> NavigateToPose.Result:
        place, frame = handle.request.pose.pose.position, handle.request.pose.header.frame_id
        say("drive", frame, place.x, place.y)
        start = self.x, self.y
        for step in range(1, STEPS + 1):
            if handle.is_cancel_requested:
                handle.canceled()
                say("canceled")
                return NavigateToPose.Result()
            self.x = start[0] + (place.x - start[0]) * step / STEPS
            self.y = start[1] + (place.y - start[1]) * step / STEPS
            told = NavigateToPose.Feedback(distance_remaining=math.dist((self.x, self.y), (place.x, place.y)))
            told.current_pose.pose.position.x, told.current_pose.pose.position.y = self.x, self.y
            handle.publish_feedback(told)
            time.sleep(STEP)
            if self.blocked:
                self.blocked = False
                handle.abort()
                say("blocked")
                return NavigateToPose.Result(error_code=BLOCKED, error_msg="no progress")
        handle.succeed()
        say("arrived", place.x, place.y)
        return NavigateToPose.Result()

    def spin(self, handle: Any) -> Spin.Result:
        self.yaw += handle.request.target_yaw
        handle.succeed()
        say("turned")
        return Spin.Result()

    def clear(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        say("cleared")
        response.success = True
        return response


def main() -> None:
    rclpy.init()
    executor = MultiThreadedExecutor()
    executor.add_node(Robot().node)
    say("ready")
    executor.spin()


main()
