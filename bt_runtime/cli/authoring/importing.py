"""`btr import`: files of other tools become trees and manifests. What can be read is brought by plugins."""

from __future__ import annotations

import argparse
from pathlib import Path

from bt_runtime.cli.options import add_options, instead
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import plugins


def configure(parser: argparse.ArgumentParser) -> None:
    text = "trees of BehaviorTree.CPP (.xml) or py_trees (.py), a file or a folder; or: mcp SERVER; or: tools FILE.json"
    parser.add_argument("what", nargs="+", metavar="FILE", help=text)
    text = "the project that it becomes; of tools the manifest (default: skills/NAME.yaml of this project)"
    parser.add_argument("--out", "-o", type=Path, metavar="DIR", help=text)
    parser.add_argument("--force", action="store_true", help="write over files that are there and differ")
    parser.add_argument("--json", action="store_true", help="the report for programs")
    add_options(parser, "import")


def run(args: argparse.Namespace) -> int:
    code = instead(args, "import")
    if code is None:
        tools = args.what[0] in ("mcp", "tools") and len(args.what) == 2
        if len(args.what) == 1 or (tools and plugins.find("import-tools", "options") is None):
            raise Extra("author" if tools else "robots", f"`btr import {args.what[0]}`").missing()
        raise BtError(f"unexpected argument: {args.what[1]}", "one FILE; or: mcp SERVER; or: tools FILE.json")
    return code
