"""`btr fleet release`: lets halted robots go on with what they were at."""

from __future__ import annotations

import argparse

from bt_fleet.cli.halt import add_who
from bt_fleet.cli.server_address import add_server, opened


def configure(parser: argparse.ArgumentParser) -> None:
    add_who(parser)
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        print(f"released: {' '.join(fleet.release(args.robot, args.reason)) or 'nobody answered'}")
    return 0
