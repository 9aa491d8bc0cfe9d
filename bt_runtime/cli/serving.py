"""Where a page is served: the options of `btr view`, and of `btr run --view`. It imports nothing of the page."""

from __future__ import annotations

import argparse

PORT = 8765
LOOPBACK = "127.0.0.1"


def add_serving(parser: argparse.ArgumentParser) -> None:
    """Where the page is served; the same for `btr run --view`."""
    parser.add_argument("--port", type=int, metavar="N", help=f"of the page; default: {PORT}, or the next that is free")
    parser.add_argument("--host", default=LOOPBACK, metavar="ADDRESS", help=f"of the page; default: {LOOPBACK}")
    parser.add_argument("--anyone", action="store_true", help="allow a host that other machines can reach")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
