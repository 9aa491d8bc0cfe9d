"""`btr view render`: a tree as text, dot, svg, pdf or mermaid."""

from __future__ import annotations

import argparse
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.cli.terminal import give
from bt_runtime.cli.tree_argument import checked
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.view.render import FORMS, SUFFIXES, draw, sketch


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tree", metavar="TREE", help="a file, the name of a tree, or - for standard input")
    parser.add_argument("--format", choices=FORMS, help="default: by the suffix of --output, else text")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="default: standard output")
    parser.add_argument("--depth", type=int, metavar="N", help="draw at most this many levels")
    parser.add_argument("--no-subtrees", dest="subtrees", action="store_false", help="do not look into other trees")


def run(args: argparse.Namespace) -> int:
    if args.depth is not None and args.depth < 1:
        raise BtError("--depth takes a number from 1", "such as --depth 2; without it, the whole tree is drawn")
    suffix = args.output.suffix.lower() if args.output else ""
    form = args.format or (SUFFIXES.get(suffix) if suffix else "text")
    if form is None:
        raise BtError(f"no form has the suffix `{suffix}`", f"one of {' '.join(SUFFIXES)}, or say --format")
    drawn = draw(sketch(checked(args.tree).sound(), args.depth, args.subtrees), form)
    give(drawn, args.output)
    return Exit.SUCCESS
