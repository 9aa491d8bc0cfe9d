"""The tree as a managed node. The executor is ours: `ManagedTree` never spins, and nothing in it waits."""

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

from bt_robots.ros.managed import ManagedTree


def main() -> None:
    rclpy.init()
    node = ManagedTree("robot_tree")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        node.halt("the node was interrupted")  # what runs is cancelled, as long as ROS still speaks
        while rclpy.ok() and node.running is not None:
            executor.spin_once(timeout_sec=0.1)


if __name__ == "__main__":
    main()
