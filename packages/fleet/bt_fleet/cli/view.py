"""`btr fleet view`: one page with all robots and tasks, halts, and the questions of their runs."""

from __future__ import annotations

import argparse
import signal
import threading
from pathlib import Path

from bt_fleet.cli.server_address import add_server, opened
from bt_fleet.page.page import FleetRows, serve
from bt_runtime.language.project import address


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default=address.LOOPBACK, help="where the page listens")
    parser.add_argument("--port", type=int, default=0, help="of the page; default: a free one")
    parser.add_argument("--runs", type=Path, action="append", metavar="DIR",
                        help="where journals of robots of this machine may be opened; default: .fleet")  # fmt: skip
    parser.add_argument("--anyone", action="store_true", help="other machines may reach the page")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    with opened(args) as fleet:
        rows = FleetRows(fleet, runs=args.runs or [Path(".fleet")]).start()
        server = serve(rows, args.host, args.port, args.anyone)
        print(server.url, flush=True)
        over.wait()
        rows.close()
        server.close()
    return 0
