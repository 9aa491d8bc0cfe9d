"""`btr explain BT012`: what a fault means, and a right example."""

from __future__ import annotations

import argparse
import json
import sys

from bt_runtime.cli import Exit
from bt_runtime.cli.color import BLUE, BOLD, DIM, PLAIN, add_color, painted
from bt_runtime.faults.explain import codes, page, title


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("codes", nargs="*", metavar="CODE", help="BT012, bt12 or 12; without one all are listed")
    parser.add_argument("--json", action="store_true", help="for programs")
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    color = painted(sys.stdout, args.color)
    if args.json:
        rows = [{"code": c, "title": title(c), "page": page(c)} for c in args.codes or codes()]
        print(json.dumps(rows, indent=2))
    elif args.codes:
        print("\n".join(toned(page(code), color).rstrip() + "\n" for code in args.codes), end="")
    else:
        print("\n".join(f"{code}  {title(code)}" for code in codes()))
    return Exit.SUCCESS


def toned(text: str, color: bool) -> str:
    """Markdown as a terminal shows it: the heading bold, examples set off; as it is without colours."""
    if not color:
        return text
    out, fenced = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
            out.append(f"{DIM}{line}{PLAIN}")
        elif fenced:
            out.append(f"{BLUE}{line}{PLAIN}")
        else:
            out.append(f"{BOLD}{line}{PLAIN}" if line.startswith("#") else line)
    return "\n".join(out)
