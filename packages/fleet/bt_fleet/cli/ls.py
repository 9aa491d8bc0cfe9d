"""`btr fleet ls`: tasks that are not done, all of them, or robots."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from bt_fleet.cli.server_address import add_server, opened
from bt_fleet.store.record import DONE, Record

NOTHING = 5


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also what is done")
    parser.add_argument("--robots", action="store_true", help="robots instead of tasks")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as fleet:
        if args.robots:
            cards = fleet.robots()
            print(json.dumps(cards, indent=2) if args.json else "\n".join(map(card_line, sorted(cards.items()))))
            return 0 if cards else NOTHING
        held = [each for each in fleet.ls() if args.all or each.state != DONE]
    if args.json:
        print(json.dumps([json.loads(each.text()) for each in held], indent=2))
    else:
        for each in held:
            print(line(each))
        if not held:
            print("no open tasks (--all shows those that are done)", file=sys.stderr)
    return 0 if held else NOTHING


def card_line(each: tuple[str, dict[str, Any]]) -> str:
    name, card = each
    return f"{name:<12} {' '.join(f'{fact}={value}' for fact, value in card['facts'].items())}".rstrip()


def line(held: Record) -> str:
    sent = time.strftime("%H:%M:%S", time.localtime(held.sent))
    state = held.verdict if held.state == DONE else held.state
    return f"{held.task.id:<14} {held.task.tree:<20} {state:<10} {held.robot or '-':<10} {sent}"
