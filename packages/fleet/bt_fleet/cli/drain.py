"""`btr fleet drain`: a robot finishes what it has begun, and gets no more tasks."""

from __future__ import annotations

import argparse

from bt_fleet.cli.server_address import add_server, opened


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", metavar="ROBOT")
    parser.add_argument("--off", action="store_true", help="it takes tasks again")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        fleet.drain(args.robot, not args.off)
    print(f"{args.robot} {'takes tasks again' if args.off else 'gets no more tasks'}")
    return 0
