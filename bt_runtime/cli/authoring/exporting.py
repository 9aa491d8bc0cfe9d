"""`btr export`: a tree in the format of another library, or skills as function tools. (Runs: `btr runs export`.)"""

from __future__ import annotations

import argparse
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.cli.failure import say
from bt_runtime.cli.terminal import give
from bt_runtime.cli.tree_argument import checked
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.interop.btcpp import exporter

FORMATS = ("btcpp",)


def configure(parser: argparse.ArgumentParser) -> None:
    text = "a file, the name of a tree, or - for standard input; `tools`: the project's skills as function tools (JSON)"
    parser.add_argument("tree", metavar="TREE", help=text)
    parser.add_argument("manifests", nargs="*", metavar="MANIFEST", help="of `tools`: these only")
    text = "btcpp: XML of BehaviorTree.CPP 4, with a TreeNodesModel for Groot2"
    parser.add_argument("--format", choices=FORMATS, default="btcpp", help=text)
    text = "for Groot2 to look at: stand-ins where XML has no words, named on standard error; not to be run"
    parser.add_argument("--for-viewing", action="store_true", help=text)
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="default: standard output")


def run(args: argparse.Namespace) -> int:
    if args.tree == "tools":
        from bt_runtime.cli.authoring import import_tools

        give(import_tools.exported(args.manifests), args.output)
        return Exit.SUCCESS
    if args.manifests:
        raise BtError(f"unexpected argument: {args.manifests[0]}", "one TREE; or: tools MANIFEST…")
    tree = checked(args.tree).sound()
    if args.for_viewing:
        text, lost = exporter.for_viewing(tree)
        if lost:
            say("warning", "\n".join(["for viewing only; this has stand-ins:", *lost]))
    else:
        text = exporter.text(tree)
    give(text, args.output)
    return Exit.SUCCESS
