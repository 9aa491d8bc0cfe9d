"""`btr fleet deploy`: stores a signed version of a tree, and lets some robots try it first."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bt_fleet.cli.server_address import add_server, address, opened
from bt_fleet.server import keys
from bt_fleet.versions import bundle
from bt_runtime.language.faults.diagnostic import BtError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tree", metavar="TREE", help="a file, or a name in the project")
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR", help="whose tree it is")
    parser.add_argument("--canary", default="100%", metavar="SHARE", help="the share of robots that try it: 10%%")
    parser.add_argument("--code", action="store_true", help="with the project's Python, for robots that take code")
    parser.add_argument("--back-to", metavar="DIGEST", help="sign an earlier version again, for all robots")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    creds = address(args).creds
    if creds is None or not keys.is_key(creds):
        raise BtError(
            "a version is signed by who deploys it", "btr fleet keys add operator NAME, then: --creds NAME.key"
        )
    key, tree = keys.read(creds), Path(args.tree).stem
    made = None if args.back_to else bundle.made(args.tree, args.project, args.code)
    with opened(args) as fleet:
        if made is None:
            after = fleet.back_to(tree, args.back_to, key)
        else:
            after = fleet.deploy(made, key, share(args.canary), tree)
    print(args.back_to if made is None else made.digest)
    print(after.notes[-1].partition(" ")[2], file=sys.stderr)
    return 0


def share(text: str) -> float:
    """Returns a share for `10%` or `0.1`."""
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = 0.0
    if not 0 < found <= 1:
        raise BtError(f"--canary {text}: this is no share", "write 10%, or 0.1")
    return found
