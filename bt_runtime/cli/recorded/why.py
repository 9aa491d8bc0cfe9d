"""`btr runs why`: explains in sentences why a node of a recorded run had its result."""

from __future__ import annotations

import argparse
import json

from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.journal import folder
from bt_runtime.language.faults.format import visible
from bt_runtime.run.replay.why import why_recorded


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("journal", metavar="RUN", help="its name, the beginning of it, `last`, or a file")
    parser.add_argument("path", metavar="PATH", help="path of the node, such as /patrol/dock")
    parser.add_argument("--at", type=int, metavar="TICK", help="after this tick; default: the last one")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_folder(parser)


def run(args: argparse.Namespace) -> int:
    found = why_recorded(folder.find(args.journal, reading(args)), args.path, args.at)
    if args.json:
        print(json.dumps(found._asdict(), indent=2))
    else:
        print("\n".join(map(visible, found.sentences)))
    return 0
