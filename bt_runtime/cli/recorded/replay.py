"""`btr runs replay`: repeats a recorded run without model or world; exits with 1 when the result differs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.journal import folder
from bt_runtime.language.faults.format import visible
from bt_runtime.run.replay.regression_test import write_test
from bt_runtime.run.replay.replay import replay


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("journal", metavar="RUN", help="its name, the beginning of it, `last`, or a file")
    parser.add_argument("--until", type=int, metavar="TICK", help="stop after this tick")
    parser.add_argument("--as-test", action="store_true", help="write a pytest file that replays it, with its journal")
    parser.add_argument("-o", "--output", type=Path, default=Path("tests"), help="the folder for --as-test (tests/)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_folder(parser)


def run(args: argparse.Namespace) -> int:
    path = folder.find(args.journal, reading(args))
    found = replay(path, args.until)
    if args.json:
        print(json.dumps({**found._asdict(), "same": found.same}, indent=2))
    elif found.same:
        ended = f" ({found.ended})" if found.ended else ""
        print(visible(f"{found.name}: {found.ticks} ticks, the same; {found.status}{ended}"))
    else:
        print(visible(f"{found.name}: {found.difference}"))
    if found.same and args.as_test:
        print(write_test(path, args.output))
    return 0 if found.same else 1
