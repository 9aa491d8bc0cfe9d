"""Starts the node, configures it, and activates it once."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import EmitEvent, RegisterEventHandler
from launch.events import matches_action
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition


def generate_launch_description() -> LaunchDescription:
    project = get_package_share_directory("robot_tree")
    parameters = {"project": project, "tree": str(Path(project, "trees", "main.yaml")), "hz": 20.0}
    node = LifecycleNode(
        package="robot_tree", executable="node", name="robot_tree", namespace="", parameters=[parameters]
    )

    def change(transition: int) -> EmitEvent:
        return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))

    configured = OnStateTransition(
        target_lifecycle_node=node,
        start_state="configuring",
        goal_state="inactive",
        entities=[change(Transition.TRANSITION_ACTIVATE)],
    )
    return LaunchDescription([node, RegisterEventHandler(configured), change(Transition.TRANSITION_CONFIGURE)])
