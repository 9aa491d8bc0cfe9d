"""`btr export TREE`: a tree as XML of BehaviorTree.CPP."""

from __future__ import annotations

import argparse

from bt_robots.btcpp import exporter
from bt_runtime.cli import Exit
from bt_runtime.cli.failure import say
from bt_runtime.cli.options import Options
from bt_runtime.cli.terminal import give
from bt_runtime.cli.tree_argument import checked

FORMATS = ("btcpp",)


class _ExportCommand(Options):
    def configure(self, parser: argparse.ArgumentParser) -> None:
        text = "btcpp: XML of BehaviorTree.CPP 4, with a TreeNodesModel for Groot2"
        parser.add_argument("--format", choices=FORMATS, default="btcpp", help=text)
        text = "for Groot2 to look at: stand-ins where XML has no words, named on standard error; not to be run"
        parser.add_argument("--for-viewing", action="store_true", help=text)

    def instead(self, args: argparse.Namespace) -> int | None:
        if args.tree == "tools" or args.manifests:
            return None
        tree = checked(args.tree).sound()
        if args.for_viewing:
            text, lost = exporter.for_viewing(tree)
            if lost:
                say("warning", "\n".join(["for viewing only; this has stand-ins:", *lost]))
        else:
            text = exporter.text(tree)
        give(text, args.output)
        return Exit.SUCCESS


EXPORT = _ExportCommand()
