"""`btr run --groot2 --metrics`: a run that other programs look at. They listen at the host of the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bt_runtime.run.run import Run

GROOT2 = 1667  # what Groot2 and btview ask for when they are told nothing


def add_monitors(parser: argparse.ArgumentParser) -> None:
    text = f"show it to Groot2 and btview at this port and the next [{GROOT2}]"
    parser.add_argument("--groot2", type=int, nargs="?", const=GROOT2, metavar="PORT", help=text)
    parser.add_argument("--breakpoints", action="store_true", help="let Groot2 hold the run between two ticks")
    parser.add_argument("--metrics", type=int, metavar="PORT", help="counters for Prometheus at this port")


@contextmanager
def monitored(run: Run, args: argparse.Namespace) -> Iterator[None]:
    """While this context lasts; closed before the result is shown."""
    with ExitStack() as stack:
        if args.metrics is not None:
            from bt_runtime.interop.metrics import Metrics

            metrics = stack.enter_context(Metrics(run, args.metrics, host=args.host, anyone=args.anyone))
            print(f"metrics: {metrics.url}", file=sys.stderr, flush=True)
        if args.groot2 is not None:
            from bt_runtime.interop.groot2.publisher import Groot2

            shown = Groot2(run, args.groot2, host=args.host, anyone=args.anyone, breakpoints=args.breakpoints)
            stack.enter_context(shown)
            print(f"groot2: {shown.url}", file=sys.stderr, flush=True)
        yield
