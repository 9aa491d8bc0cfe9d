"""`btr fleet drain`: a robot finishes what it has begun, and gets no more tasks."""

from __future__ import annotations

import argparse

from bt_fleet.cli.server_address import add_server, opened
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", metavar="ROBOT")
    parser.add_argument("--off", action="store_true", help="it takes tasks again")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        joined = fleet.robots()
        if args.robot not in joined:
            raise BtError(
                f"no robot `{args.robot}` has joined",
                did_you_mean(args.robot, joined, "btr fleet ls --robots lists them"),
            )
        fleet.drain(args.robot, not args.off)
    print(f"{args.robot} {'takes tasks again' if args.off else 'gets no more tasks'}")
    return 0
