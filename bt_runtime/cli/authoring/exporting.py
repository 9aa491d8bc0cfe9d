"""`btr export`: a tree in the format of another library, or skills as function tools. (Runs: `btr runs export`.) The
formats are brought by plugins."""

from __future__ import annotations

import argparse
from pathlib import Path

from bt_runtime.cli.options import add_options, instead
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra


def configure(parser: argparse.ArgumentParser) -> None:
    text = "a file, the name of a tree, or - for standard input; `tools`: the project's skills as function tools (JSON)"
    parser.add_argument("tree", metavar="TREE", help=text)
    parser.add_argument("manifests", nargs="*", metavar="MANIFEST", help="of `tools`: these only")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="default: standard output")
    add_options(parser, "export")


def run(args: argparse.Namespace) -> int:
    code = instead(args, "export")
    if code is None:
        if args.manifests and args.tree != "tools":
            raise BtError(f"unexpected argument: {args.manifests[0]}", "one TREE; or: tools MANIFEST…")
        raise Extra("author" if args.tree == "tools" else "robots", f"`btr export {args.tree}`").missing()
    return code
