"""`btr fleet rmf`: answers Open-RMF's task API over HTTP."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from bt_fleet.cli.server_address import add_server, opened
from bt_fleet.standards.rmf.api import Api, serve, token
from bt_runtime.language.project import address


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", default="btr", help="what Open-RMF calls this fleet; default: btr")
    parser.add_argument("--host", default=address.LOOPBACK, help="where it listens")
    parser.add_argument("--http", type=int, default=8000, metavar="PORT", help="0: a free one; default: 8000")
    parser.add_argument("--token", type=Path, metavar="FILE", help="of the token of requests; made if missing")
    parser.add_argument("--anyone", action="store_true", help="other machines may reach it")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    with opened(args) as fleet:
        server = serve(
            Api(fleet, args.name), args.host, args.http, args.anyone, token(args.token) if args.token else ""
        )
        at = server.url.partition("/#")[0]
        print(f"tasks are taken at {at}/tasks/dispatch_task", file=sys.stderr)
        print(f"each request carries: Authorization: Bearer {server.token}", file=sys.stderr, flush=True)
        over.wait()
        server.close()
    return 0
