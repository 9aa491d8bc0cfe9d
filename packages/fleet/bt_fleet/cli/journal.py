"""`btr fleet journal`: fetches what has reached the store of a run's journal, or lists what persons did."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bt_fleet.cli.server_address import add_server, opened
from bt_runtime.language.faults.diagnostic import BtError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="ID", nargs="?", help="without it: what persons did, and when")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="default: ID.btr")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    if args.task is None:
        with opened(args) as fleet:
            for at, who, what in fleet.acts():
                print(f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))} {who} {what}")
        return 0
    path = args.output or Path(f"{args.task}.btr")
    if path.exists():
        raise BtError(f"there is {path} already", "remove it, or name another: -o FILE")
    with opened(args) as fleet:
        print(fleet.journal(args.task, path))
    return 0
