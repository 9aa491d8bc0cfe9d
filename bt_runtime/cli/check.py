"""`btr check`: every state of a tree whose entries are bounded; the shortest way to a broken promise, as a test."""

from __future__ import annotations

import argparse
import sys

from bt_runtime.cli import Exit, promised
from bt_runtime.faults.diagnostic import BtError


def configure(parser: argparse.ArgumentParser) -> None:
    promised.configure(parser)
    parser.add_argument(
        "--states", type=int, default=5_000, metavar="N", help="look at so many at most (default: 5000)"
    )


def run(args: argparse.Namespace) -> int:
    from bt_runtime.testing.explore import explore

    if args.states < 1:
        raise BtError("--states takes a number from 1", "such as --states 20000")
    if not args.never and not args.always:
        raise BtError("nothing is promised of the tree", "say what is to be checked: --never EXPR, --always EXPR")
    explored = explore(**promised.options(args, "check"), states=args.states)
    if explored.finding is not None:
        return promised.show(explored.finding, args)
    if explored.whole:
        print(f"all {explored.states:,} states were seen, and every promise is kept", file=sys.stderr)
        return Exit.SUCCESS
    print(f"{explored.states:,} states were seen, no promise was broken in them, and there are more", file=sys.stderr)
    print(
        "  help: list fewer --values, fix entries with --set, or allow more --states",
        file=sys.stderr,
    )
    return Exit.BUDGET
