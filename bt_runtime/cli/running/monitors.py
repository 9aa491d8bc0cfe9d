"""`btr run --groot2 --metrics`: an option for each installed monitor. Their ports listen on the page's host."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import plugins
from bt_runtime.language.settings import Settings
from bt_runtime.run.run import Run

if TYPE_CHECKING:
    from bt_runtime.journal.record import Recorder
    from bt_runtime.run.monitor import Monitor


def add_monitors(parser: argparse.ArgumentParser) -> None:
    """Adds the options. A monitor is imported only where it is asked for, or its help is."""
    helped = getattr(parser, "helped", False)
    for name in plugins.names("monitors"):
        made = _monitor(name) if helped else None
        about, where = (made.about, made.where) if made is not None else ("", "WHERE")
        parser.add_argument(f"--{name}", nargs="?", const="", metavar=where, help=about)
    parser.add_argument("--breakpoints", action="store_true", help="let Groot2 hold the run between two ticks")
    text = "the robot's name in counters [BTR_ROBOT; default: the machine's name]"
    parser.add_argument("--robot", metavar="NAME", help=text)


def chosen(args: argparse.Namespace) -> Iterator[tuple[str, Monitor, str]]:
    """Yields the requested monitors with their names and places."""
    for name in plugins.names("monitors"):
        where = getattr(args, name.replace("-", "_"), None)
        if where is not None:
            made = _monitor(name)
            if not where and not made.default:
                raise BtError(f"--{name} takes a {made.where}", made.about)
            yield name, made, where or made.default


def noted(args: argparse.Namespace, journal: Path | None) -> Path | Recorder | None:
    """Returns the journal's path, or a recorder without a file when a monitor alone needs the events."""
    if journal is None and any(made.reads_journal for _, made, _ in chosen(args)):
        from bt_runtime.journal.record import Recorder

        return Recorder(None)
    return journal


@contextmanager
def monitored(run: Run, args: argparse.Namespace, settings: Settings) -> Iterator[None]:
    """Connects the monitors within `with`; they are closed before the result is shown."""
    with ExitStack() as stack:
        for name, made, where in chosen(args):
            from bt_runtime.run.monitor import Access

            access = Access(args.host, args.anyone, args.breakpoints, str(settings["robot"] or "") or None)
            shown = stack.enter_context(made.open(run, where, access))
            if (url := getattr(shown, "url", "")) != "":
                print(f"{name}: {url}", file=sys.stderr, flush=True)
        yield


def _monitor(name: str) -> Monitor:
    return of_entry(plugins.named(name, "monitors"))


def of_entry(entry: plugins.Entry) -> Monitor:
    from bt_runtime.run.monitor import Monitor

    wanted = "an object of a class derived from `Monitor`"
    monitor: Monitor = plugins.load(entry, wanted, lambda found: isinstance(found, Monitor))
    return monitor
