"""A tree as a managed node of ROS 2: configure = load and check, activate = tick, deactivate = halt. Needs rclpy.

node = ManagedTree("robot")      # parameters: project, tree, inputs, hz, again
executor.add_node(node)          # whose executor it is, spins it
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from bt_robots.ros.rclpy import NodeClock, Rclpy, Ticker, rosout
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.run import Run, Tree, load
from bt_runtime.skills.resources import STOPPING

LOOK = 0.02  # seconds between two looks at whether what was halted has stopped
DONE, FAILED = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ManagedTree(LifecycleNode):
    """A managed node with one run at a time. No transition waits: halted skills stop while the executor spins."""

    def __init__(self, node_name: str = "bt_runtime", **kwargs: Any) -> None:
        super().__init__(node_name, **kwargs)
        self.declare_parameter("project", "")  # the folder of btr.yaml; empty: where the process stands
        self.declare_parameter("tree", "")  # its name there, or a file
        self.declare_parameter("inputs", "{}")  # inputs of the tree, as JSON
        self.declare_parameter("hz", 10.0)
        self.declare_parameter("again", False)  # does it begin anew when its root has ended
        self.tree: Tree | None = None
        self.running: Run | None = None
        self.ros: Rclpy | None = None
        self.ticker: Ticker | None = None
        self.settling: Any = None  # the timer that looks whether all has stopped
        self.status: Any = None  # how the root ended last

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        name, home = str(self.get_parameter("tree").value), str(self.get_parameter("project").value)
        try:
            self.tree = load(name, project=Path(home) if home else None)
        except BtError as error:  # every fault, with its line
            self.get_logger().error(str(error))
            return FAILED
        return DONE

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        if self.tree is None or self.running is not None:
            self.get_logger().error("no tree is configured" if self.tree is None else "the last run still stops")
            return FAILED
        try:
            self.begin(self.tree)
        except (BtError, ValueError) as error:
            self.get_logger().error(str(error))
            self.end()
            return FAILED
        return super().on_activate(state)

    def begin(self, tree: Tree) -> None:
        self.ros = Rclpy(self)
        given = json.loads(str(self.get_parameter("inputs").value))
        self.running = Run(tree, inputs=given, services={"ros": self.ros, "node": self}, clock=NodeClock(self))  # type: ignore[arg-type]
        rosout(self.running, self)
        self.ticker = Ticker(self.running, self, float(self.get_parameter("hz").value), self.ended)

    def ended(self, status: Any) -> None:
        self.status = status
        self.get_logger().info(f"the tree has ended: {status.name}")
        if self.get_parameter("again").value and self.running is not None:
            self.ticker = Ticker(self.running, self, float(self.get_parameter("hz").value), self.ended)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.halt("the node was deactivated")
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.tree = None
        return DONE

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.halt("the node is shut down")
        return DONE

    def halt(self, reason: str) -> None:
        """Cancels what runs, and looks from now on whether it has stopped."""
        if self.ticker is not None:
            self.ticker.stop()
        if self.running is None or self.settling is not None:
            return
        self.running.halt(reason, for_good=True)
        self.by = time.monotonic() + STOPPING
        self.settling = self.create_timer(LOOK, self.settle)
        self.settle()

    def settle(self) -> None:
        """Closes the run when all has stopped, or has had its time."""
        run = self.running
        if run is None or self.settling is None:
            return
        left = run.parts.context.resources.left()
        if left and time.monotonic() < self.by:
            return
        for hold in left:
            self.get_logger().warning(f"this has not stopped within {STOPPING:g} s: {hold.sentence}")
        self.settling.cancel()
        self.destroy_timer(self.settling)
        self.settling = None
        self.end()

    def end(self) -> None:
        run, self.running = self.running, None
        ros, self.ros = self.ros, None
        if run is not None:
            run.close("the node was deactivated", 0.0)
        if ros is not None:
            ros.close()
