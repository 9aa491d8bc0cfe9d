"""`btr fleet send`: sends a task, and prints its id."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime

from bt_fleet.cli.server_address import add_server, opened
from bt_fleet.store.record import DOUBT, WAITING, Record
from bt_runtime.language.faults.diagnostic import BtError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tree", metavar="TREE", help="as the robots' projects call it")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an input")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--to", metavar="ROBOT", help="only this robot")
    who.add_argument("--needs", default="", metavar="FACTS", help="what the robot must have: gripper,level<3")
    parser.add_argument("--at", metavar="TIME", help="not begun before: 14:30, 2026-12-01T14:30, or +90 (seconds)")
    parser.add_argument("--by", metavar="TIME", help="not begun after")
    parser.add_argument("--priority", type=int, default=0, metavar="N", help="larger: earlier; default: 0")
    parser.add_argument("--id", metavar="ID", help="sending the same id again changes nothing")
    parser.add_argument("--env", metavar="WORLD", help="the world to act in, as of `btr run`")
    parser.add_argument("--task", metavar="TASK", help="of the world")
    parser.add_argument("--seed", type=int, metavar="N", help="of the world's tasks")
    parser.add_argument("--wait", action="store_true", help="wait for the verdict; exit 1 when it is no success")
    add_server(parser)


def run(args: argparse.Namespace) -> int:
    world = {name: getattr(args, name) for name in ("env", "task", "seed") if getattr(args, name) is not None}
    with opened(args) as fleet:
        task, new = fleet.send(args.tree, dict(_given(each) for each in args.set), id=args.id, to=args.to,
                               needs=args.needs, at=moment(args.at), by=moment(args.by), priority=args.priority,
                               world=world)  # fmt: skip
        print(task, flush=True)
        if not new:
            print(f"task {task} had been sent before: nothing was changed", file=sys.stderr)
        if not args.wait:
            return 0
        held = fleet.wait(task, told=Waiting())
        print(f"{held.verdict} by {held.robot}{f': {held.reason}' if held.reason else ''}", file=sys.stderr)
        return 0 if held.verdict == "success" else 1


class Waiting:
    """Prints why a task waits, whenever that changes."""

    def __init__(self) -> None:
        self.why = ""

    def __call__(self, held: Record) -> None:
        why = {WAITING: held.reason, DOUBT: f"in doubt, a person decides: btr fleet settle {held.task.id}"}
        if (now := why.get(held.state, "")) and now != self.why:
            print(f"{held.task.id} waits: {now}", file=sys.stderr, flush=True)
        self.why = now


def _given(text: str) -> tuple[str, str]:
    name, is_, value = text.partition("=")
    if not is_:
        raise BtError(f"--set {text}: there is no value", "write --set NAME=VALUE")
    return name, value  # the robot reads it as its tree declares it


def moment(text: str | None, now: datetime | None = None) -> float | None:
    """Returns seconds since 1970 for a time of today, a date with a time, or seconds from now."""
    if text is None:
        return None
    now = now or datetime.now()
    try:
        if text.startswith("+"):
            return now.timestamp() + float(text)
        return (
            datetime.fromisoformat(text) if "-" in text else datetime.fromisoformat(f"{now:%Y-%m-%d}T{text}")
        ).timestamp()
    except ValueError:
        raise BtError(f"{text!r} is no time", "write 14:30, 2026-12-01T14:30, or +90") from None
