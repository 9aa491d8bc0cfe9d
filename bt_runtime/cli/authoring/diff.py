"""`btr view diff A B`: shows the differences between two trees, node by node."""

from __future__ import annotations

import argparse
import json
import sys

from bt_runtime.cli import Exit
from bt_runtime.cli.tree_argument import checked
from bt_runtime.language.difference import compare, lines


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="a file, the name of a tree, or - for standard input")
    parser.add_argument("second", metavar="B", help="the same")
    parser.add_argument("--subtrees", action="store_true", help="look into the trees that both include, too")
    parser.add_argument("--json", action="store_true", help="for programs: a list of changes")
    parser.epilog = "Exits: 0 no difference, 1 some, 2 a tree is not valid."


def run(args: argparse.Namespace) -> int:
    changes = compare(checked(args.first).sound(), checked(args.second).sound(), args.subtrees)
    if args.json:
        print(json.dumps([change._asdict() for change in changes], indent=2, ensure_ascii=False))
    else:
        for line in lines(changes):
            print(line)
        if not changes:
            print("no difference", file=sys.stderr)
    return Exit.FAILURE if changes else Exit.SUCCESS
