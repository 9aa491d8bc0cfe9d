"""`btr check`: explores every state of a tree with bounded entries; prints the shortest broken promise as a test."""

from __future__ import annotations

import argparse
import sys
import time

from bt_runtime.cli import Exit
from bt_runtime.cli.authoring import promised
from bt_runtime.faults.diagnostic import BtError

EVERY = 5.0  # seconds between two lines of progress


def configure(parser: argparse.ArgumentParser) -> None:
    promised.configure(parser)
    parser.add_argument(
        "--states", type=int, default=5_000, metavar="N", help="look at so many at most (default: 5000)"
    )
    parser.add_argument(
        "--seconds", type=float, default=600, metavar="S", help="look for so many seconds at most (default: 600)"
    )


class _Progress:
    """A line on standard error every few seconds; on a terminal it is redrawn."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.next = time.monotonic() + EVERY
        self.shown = False

    def told(self, states: int, left: int) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + (1.0 if self.live else EVERY)
            self.shown = self.live
            text = f"{states:,} states were seen, {left:,} of them are yet to be continued"
            print(f"\r\x1b[K{text}" if self.live else text, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)


def run(args: argparse.Namespace) -> int:
    from bt_runtime.testing.explore import explore

    if args.states < 1:
        raise BtError("--states takes a number from 1", "such as --states 20000")
    if not args.seconds > 0:
        raise BtError("--seconds takes a number above 0", "such as --seconds 60")
    if not args.never and not args.always:
        raise BtError("nothing is promised of the tree", "say what is to be checked: --never EXPR, --always EXPR")
    progress = _Progress()
    try:
        explored = explore(
            **promised.options(args, "check"), states=args.states, seconds=args.seconds, told=progress.told
        )
    finally:
        progress.end()
    if explored.finding is not None:
        return promised.show(explored.finding, args)
    if explored.whole:
        print(f"all {explored.states:,} states were seen, and every promise is kept", file=sys.stderr)
        return Exit.SUCCESS
    when, more = (f" in {args.seconds:g} s", "--seconds") if explored.late else ("", "--states")
    print(
        f"{explored.states:,} states were seen{when}, no promise was broken in them, and there are more",
        file=sys.stderr,
    )
    print(
        f"  help: list fewer --values, fix entries with --set, or allow more {more}",
        file=sys.stderr,
    )
    return Exit.BUDGET
