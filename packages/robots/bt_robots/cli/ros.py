"""`btr run --ros zenoh`: connects a run to ROS 2 without a ROS installation."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from bt_robots.ros.attach import rosout, sim_clock
from bt_runtime.cli.options import Opened, Options
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import plugins

if TYPE_CHECKING:
    from bt_robots.ros.transport import Transport
    from bt_runtime.run.run import Run

NEEDS = "they say how ROS is reached: add `--ros zenoh`"


class _Ros(Options):
    def configure(self, parser: argparse.ArgumentParser) -> None:
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

    def open(self, args: argparse.Namespace, stack: ExitStack) -> Opened | None:
        if args.ros is None:
            if args.ros_connect or args.ros_interfaces or args.ros_clock or args.ros_domain is not None:
                raise BtError("there are options of ROS, and no `--ros`", NEEDS)
            return None
        open_ = of_entry(plugins.named(args.ros, "connections"))
        made = open_(*args.ros_connect, domain=args.ros_domain, interfaces=args.ros_interfaces)
        return _Connected(stack.enter_context(made), args.ros_clock, stack)


class _Connected(Opened):
    def __init__(self, transport: Transport, by_clock: bool, stack: ExitStack) -> None:
        self.transport, self.stack = transport, stack
        self.services = {"ros": transport}
        self.clock = sim_clock(transport) if by_clock else None

    def attach(self, run: Run) -> None:
        self.stack.callback(rosout(run, self.transport))


def of_entry(entry: plugins.Entry) -> Callable[..., AbstractContextManager[Transport]]:
    opens: Callable[..., AbstractContextManager[Transport]] = plugins.load(
        entry, "the class of a connection, or a function that opens one"
    )
    return opens


OPTIONS = _Ros()
