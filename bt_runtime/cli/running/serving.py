"""The options for serving a page, in `btr view` and `btr run --view`. Imports no code of the page."""

from __future__ import annotations

import argparse

from bt_runtime.language.project.address import LOOPBACK

PORT = 8765


def add_serving(parser: argparse.ArgumentParser) -> None:
    """Adds the options for serving a page, shared with `btr run --view`."""
    parser.add_argument("--port", type=int, metavar="N", help=f"of the page; default: {PORT}, or the next that is free")
    parser.add_argument("--host", default=LOOPBACK, metavar="ADDRESS", help=f"of the page; default: {LOOPBACK}")
    parser.add_argument("--anyone", action="store_true", help="allow a host that other machines can reach")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
