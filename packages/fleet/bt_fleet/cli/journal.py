"""`btr fleet journal`: fetches what has reached the store of a run's journal."""

from __future__ import annotations

import argparse
from pathlib import Path

from bt_fleet.cli.server_address import add_server, opened
from bt_runtime.language.faults.diagnostic import BtError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="ID")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="default: ID.btr")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    path = args.output or Path(f"{args.task}.btr")
    if path.exists():
        raise BtError(f"there is {path} already", "remove it, or name another: -o FILE")
    with opened(args) as fleet:
        print(fleet.journal(args.task, path))
    return 0
