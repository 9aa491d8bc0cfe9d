"""Somebody else's ROS 2 over zenoh: the package `zenoh-ros2-sdk`. Says back what it hears, and adds two numbers."""

from __future__ import annotations

import sys
from typing import Any

from zenoh_ros2_sdk import ROS2Publisher, ROS2ServiceServer, ROS2Subscriber

TEXT, WHERE = "string data\n", {"router_ip": "127.0.0.1", "router_port": int(sys.argv[1]), "domain_id": 0}

back = ROS2Publisher("/echo", "std_msgs/msg/String", TEXT, **WHERE)
heard = ROS2Subscriber("/chatter", "std_msgs/msg/String", lambda m: back.publish(data=f"heard {m.data}"), TEXT, **WHERE)


def add(request: Any) -> Any:
    return adding.response_msg_class(sum=request.a + request.b)


adding = ROS2ServiceServer(
    "/add", "example_interfaces/srv/AddTwoInts", add, "int64 a\nint64 b\n", "int64 sum\n", **WHERE
)  # fmt: skip
print("ready", flush=True)
sys.stdin.read()
