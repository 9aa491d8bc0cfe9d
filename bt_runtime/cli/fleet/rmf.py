"""`btr fleet rmf`: answers Open-RMF's task API over HTTP."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from bt_runtime.cli.fleet.server_address import add_server, opened
from bt_runtime.fleet.rmf.api import Api, serve
from bt_runtime.project import address


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", default="btr", help="what Open-RMF calls this fleet; default: btr")
    parser.add_argument("--host", default=address.LOOPBACK, help="where it listens")
    parser.add_argument("--http", type=int, default=8000, metavar="PORT", help="0: a free one; default: 8000")
    parser.add_argument("--anyone", action="store_true", help="other machines may reach it")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet, serve(Api(fleet, args.name), args.host, args.http, args.anyone) as server:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
        host, port = server.server_address[:2]
        print(f"tasks are taken at http://{host!s}:{port}/tasks/dispatch_task", file=sys.stderr, flush=True)
        server.serve_forever(0.2)
    return 0
