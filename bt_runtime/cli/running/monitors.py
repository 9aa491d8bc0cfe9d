"""`btr run --groot2 --metrics`: lets other programs monitor a run. Their ports listen on the page's host."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.language.settings import Settings
from bt_runtime.run.run import Run

if TYPE_CHECKING:
    from bt_runtime.journal.record import Recorder

GROOT2 = 1667  # what Groot2 and btview ask for when they are told nothing


def add_monitors(parser: argparse.ArgumentParser) -> None:
    text = f"show it to Groot2 and btview at this port and the next [{GROOT2}]"
    parser.add_argument("--groot2", type=int, nargs="?", const=GROOT2, metavar="PORT", help=text)
    parser.add_argument("--breakpoints", action="store_true", help="let Groot2 hold the run between two ticks")
    parser.add_argument("--mcap", type=Path, metavar="FILE", help="write an MCAP file, for Foxglove, while it runs")
    text = "send spans to this OpenTelemetry collector, http://HOST:4318; env: to OTEL_EXPORTER_OTLP_ENDPOINT"
    parser.add_argument("--otlp", metavar="ENDPOINT", help=text)
    parser.add_argument("--metrics", type=int, metavar="PORT", help="counters for Prometheus at this port")
    text = "the robot's name in these counters [BTR_ROBOT; default: the machine's name]"
    parser.add_argument("--robot", metavar="NAME", help=text)


def noted(args: argparse.Namespace, journal: Path | None) -> Path | Recorder | None:
    """Returns the journal's path, or a recorder without a file when an export alone needs the events."""
    if journal is None and (args.mcap is not None or args.otlp is not None):
        from bt_runtime.journal.record import Recorder

        return Recorder(None)
    return journal


def follow(run: Run, args: argparse.Namespace) -> None:
    """Starts the requested exports (MCAP, OpenTelemetry), which end when the run is closed."""
    if args.mcap is not None:
        from bt_runtime.interop.mcap import Mcap

        run.follow(Mcap(args.mcap))
    if args.otlp is not None:
        from bt_runtime.interop.otlp import Otlp

        run.follow(Otlp(args.otlp))


@contextmanager
def monitored(run: Run, args: argparse.Namespace, settings: Settings) -> Iterator[None]:
    """Connects the monitors within `with`; they are closed before the result is shown."""
    with ExitStack() as stack:
        if args.metrics is not None:
            from bt_runtime.interop.metrics import Metrics

            robot = str(settings["robot"] or "") or None
            made = Metrics(run, args.metrics, host=args.host, anyone=args.anyone, robot=robot)
            metrics = stack.enter_context(made)
            print(f"metrics: {metrics.url}", file=sys.stderr, flush=True)
        if args.groot2 is not None:
            from bt_runtime.interop.groot2.publisher import Groot2

            shown = Groot2(run, args.groot2, host=args.host, anyone=args.anyone, breakpoints=args.breakpoints)
            stack.enter_context(shown)
            print(f"groot2: {shown.url}", file=sys.stderr, flush=True)
        yield
