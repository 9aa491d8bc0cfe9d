"""`btr fleet logs`: a line for every change of a task, while it happens."""

from __future__ import annotations

import argparse
import threading
import time

from bt_fleet.cli.server_address import add_server, opened
from bt_fleet.face import each_change
from bt_fleet.store.record import Record


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", metavar="ID", help="only this one")
    parser.add_argument("--follow", "-f", action="store_true", help="go on until interrupted")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        if not args.follow:
            told = [each for held in fleet.ls() if args.task in (None, held.task.id) for each in lines(held, 0)]
            print("\n".join(sorted(told)))
            return 0
        shown: dict[str, int] = {}

        def changed(held: Record) -> None:
            if args.task in (None, held.task.id):
                for each in lines(held, shown.get(held.task.id, 0)):
                    print(each, flush=True)
                shown[held.task.id] = len(held.history)

        end = each_change(fleet, changed)
        try:
            threading.Event().wait()
        finally:
            end()
    return 0


def lines(held: Record, first: int) -> list[str]:
    told = []
    for each in held.history[first:]:
        at, _, note = each.partition(" ")
        told.append(f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(float(at)))} {held.task.id} {note}")
    return told
