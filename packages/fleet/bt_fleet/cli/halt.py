"""`btr fleet halt`: halts one robot or all, and keeps them so until `btr fleet release`."""

from __future__ import annotations

import argparse
import sys

from bt_fleet.cli.server_address import add_server, opened


def configure(parser: argparse.ArgumentParser) -> None:
    add_who(parser)
    add_server(parser)


def add_who(parser: argparse.ArgumentParser) -> None:
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--all", action="store_true", help="every robot; one that cannot be reached: when it is back")
    who.add_argument("--robot", metavar="NAME", help="only this one")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; kept with your key's name")


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        answered = fleet.halt(args.reason, args.robot)
        late = sorted({args.robot} - {*answered} if args.robot else {*fleet.robots()} - {*answered})
    print(f"halted: {' '.join(answered) or 'nobody answered'}")
    if late:
        print(f"no answer yet: {' '.join(late)}. They halt when they are back", file=sys.stderr)
    return 0 if answered else 1
