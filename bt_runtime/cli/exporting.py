"""`btr export`: a tree in the format of another library. (Recorded runs: `btr runs export`.)"""

from __future__ import annotations

import argparse
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.cli.terminal import give
from bt_runtime.cli.tree_argument import checked
from bt_runtime.interop.btcpp import exporter

FORMATS = ("btcpp",)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tree", metavar="TREE", help="a file, the name of a tree, or - for standard input")
    text = "btcpp: XML of BehaviorTree.CPP 4, with a TreeNodesModel for Groot2"
    parser.add_argument("--format", choices=FORMATS, default="btcpp", help=text)
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="default: standard output")


def run(args: argparse.Namespace) -> int:
    text = exporter.text(checked(args.tree).sound())
    give(text, args.output)
    return Exit.SUCCESS
