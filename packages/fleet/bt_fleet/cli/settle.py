"""`btr fleet settle`: a person decides a task that is in doubt."""

from __future__ import annotations

import argparse

from bt_fleet.cli.server_address import add_server, opened


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="ID")
    parser.add_argument("how", choices=("again", "success", "failure"), help="do it again, or what became of it")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        held = fleet.settle(args.task, args.how)
    print(f"{args.task}: {held.verdict or held.state}")
    return 0
