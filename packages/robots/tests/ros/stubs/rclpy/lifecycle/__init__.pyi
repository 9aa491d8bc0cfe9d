from enum import IntEnum
from typing import Any

from rclpy.node import Node

class TransitionCallbackReturn(IntEnum):
    SUCCESS = 0
    FAILURE = 1
    ERROR = 2

class LifecycleState:
    label: str
    state_id: int

class LifecycleNode(Node):
    def __init__(self, node_name: str, *, enable_communication_interface: bool = True, **kwargs: Any) -> None: ...
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn: ...
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn: ...
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn: ...
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn: ...
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn: ...
