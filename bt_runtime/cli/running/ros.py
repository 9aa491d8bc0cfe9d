"""`btr run --ros zenoh`: connects a run to ROS 2 without a ROS installation."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import plugins

if TYPE_CHECKING:
    from bt_runtime.ros.transport import Transport
    from bt_runtime.run.run import Run

NEEDS = "they say how ROS is reached: add `--ros zenoh`"


def add_ros(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ros", metavar="NAME", help="speak to ROS 2 by this connection: zenoh, as rmw_zenoh does, or a plugin's"
    )
    parser.add_argument("--ros-connect", metavar="ADDRESS", action="append", default=[],
                        help="of its router, or of who is there [tcp/localhost:7447]")  # fmt: skip
    parser.add_argument("--ros-domain", type=int, metavar="N", help="which of several systems [ROS_DOMAIN_ID; 0]")
    text = "a folder with packages of .msg, .srv and .action files; they go before those that are known"
    parser.add_argument("--ros-interfaces", type=Path, metavar="FOLDER", action="append", default=[], help=text)
    parser.add_argument(
        "--ros-clock", action="store_true", help="take the time from /clock, as a simulator publishes it"
    )


def of_entry(entry: plugins.Entry) -> Callable[..., AbstractContextManager[Transport]]:
    opens: Callable[..., AbstractContextManager[Transport]] = plugins.load(
        entry, "the class of a connection, or a function that opens one"
    )
    return opens


class Ros:
    """The ROS connections that the options ask for; none without them."""

    def __init__(self, args: argparse.Namespace, stack: ExitStack) -> None:
        self.transport: Any = None
        self.stack = stack
        if args.ros is None:
            if args.ros_connect or args.ros_interfaces or args.ros_clock or args.ros_domain is not None:
                raise BtError("there are options of ROS, and no `--ros`", NEEDS)
            return
        open_ = of_entry(plugins.named(args.ros, "connections"))
        made = open_(*args.ros_connect, domain=args.ros_domain, interfaces=args.ros_interfaces)
        self.transport = stack.enter_context(made)
        self.by_clock = args.ros_clock

    @property
    def services(self) -> dict[str, Any]:
        return {} if self.transport is None else {"ros": self.transport}

    @property
    def clock(self) -> Any:
        if self.transport is None or not self.by_clock:
            return None
        from bt_runtime.ros.attach import sim_clock

        return sim_clock(self.transport)

    def attach(self, run: Run) -> None:
        if self.transport is not None:
            from bt_runtime.ros.attach import rosout

            self.stack.callback(rosout(run, self.transport))
