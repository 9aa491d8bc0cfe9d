"""A process of real ROS 2 nodes for the tests beside: an action server, a service, topics, parameters.

    python servers.py WORD…

Words: `slow` (accepts a goal after half a second), `reject`, `abort`, `stubborn` (refuses to cancel), `sensor` (sends
with best effort), `map` (a latched message), `echo` (says on /said what it hears on /say). It prints what it does.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import BatteryState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from test_msgs.action import Fibonacci

WORDS = sys.argv[1:]
STEP = 0.1  # seconds for one number


def say(*words: object) -> None:
    print(*words, flush=True)


def main() -> None:
    rclpy.init()
    node = Node("counting")
    apart = ReentrantCallbackGroup()

    def goal(request: Any) -> GoalResponse:
        if "slow" in WORDS:
            time.sleep(0.5)
        return GoalResponse.REJECT if "reject" in WORDS else GoalResponse.ACCEPT

    def count(handle: Any) -> Any:
        say("begun", handle.request.order)
        told = Fibonacci.Feedback(sequence=[0, 1])
        for _ in range(handle.request.order):
            if handle.is_cancel_requested:
                handle.canceled()
                say("canceled")
                return Fibonacci.Result(sequence=told.sequence)
            told.sequence.append(told.sequence[-1] + told.sequence[-2])
            handle.publish_feedback(told)
            time.sleep(STEP)
        handle.abort() if "abort" in WORDS else handle.succeed()
        say("ended")
        return Fibonacci.Result(sequence=told.sequence)

    def cancel(handle: Any) -> CancelResponse:
        say("asked to cancel")
        return CancelResponse.REJECT if "stubborn" in WORDS else CancelResponse.ACCEPT

    ActionServer(node, Fibonacci, "/count", count, goal_callback=goal, cancel_callback=cancel, callback_group=apart)

    def trigger(request: Any, response: Any) -> Any:
        response.success, response.message = "no" not in WORDS, "not today" if "no" in WORDS else "done"
        return response

    node.create_service(Trigger, "/clear", trigger, callback_group=apart)
    node.declare_parameter("speed", 0.5)
    node.add_on_set_parameters_callback(
        lambda given: SetParametersResult(successful=all(p.value <= 1.0 for p in given), reason="too fast")
    )
    if "sensor" in WORDS:
        battery = node.create_publisher(BatteryState, "/battery", qos_profile_sensor_data)
        node.create_timer(0.05, lambda: battery.publish(BatteryState(percentage=0.75)))
    if "map" in WORDS:
        kept = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        node.create_publisher(String, "/map_name", kept).publish(String(data="hall"))
    if "echo" in WORDS:
        again = node.create_publisher(String, "/said", 10)
        node.create_subscription(String, "/say", lambda heard: again.publish(String(data=heard.data.upper())), 10)
    executor = MultiThreadedExecutor()
    executor.add_node(node)
    say("ready")
    executor.spin()


main()
