"""`btr fleet cancel`: ends a task."""

from __future__ import annotations

import argparse

from bt_fleet.cli.server_address import add_server, opened


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="ID")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for its record")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        held = fleet.cancel(args.task, args.reason)
    where = f"{held.robot} is told to stop it" if held.robot else "nobody had begun it"
    print(f"{args.task}: {where}")
    return 0
