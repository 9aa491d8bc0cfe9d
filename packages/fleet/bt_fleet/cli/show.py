"""`btr fleet show`: one task, with all that happened to it."""

from __future__ import annotations

import argparse
import json
import time

from bt_fleet.cli.server_address import add_server, opened


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="ID")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        held = fleet.show(args.task)
    if args.json:
        print(json.dumps(json.loads(held.text()), indent=2))
        return 0
    task = held.task
    print(f"{task.id}: {task.tree} {json.dumps(task.inputs) if task.inputs else ''}".rstrip())
    who = f", {held.robot}" if held.robot else ""
    print(f"  {held.verdict or held.state}{who}{f': {held.reason}' if held.reason else ''}")
    if held.outputs:
        print(f"  outputs: {json.dumps(held.outputs)}")
    for each in held.history:
        at, _, note = each.partition(" ")
        print(f"  {time.strftime('%H:%M:%S', time.localtime(float(at)))} {note}")
    return 0
