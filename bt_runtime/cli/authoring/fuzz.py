"""`btr fuzz`: runs a tree with random events; prints the smallest sequence that breaks a promise, as a test."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from bt_runtime.cli import Exit
from bt_runtime.cli.authoring import promised
from bt_runtime.language.faults.diagnostic import BtError

if TYPE_CHECKING:
    from bt_runtime.testing.case import Finding


def configure(parser: argparse.ArgumentParser) -> None:
    promised.configure(parser)
    parser.add_argument("--within", type=float, metavar="S", help="it must end in so many seconds of its own time")
    parser.add_argument("--runs", type=int, default=200, metavar="N", help="how many cases are tried (default: 200)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed gives the same cases (default: 0)"
    )
    text = "the nodes of this pattern do anything: '**/look', for one that asks a model; may be repeated"
    parser.add_argument("--double", action="append", default=[], metavar="PATTERN", help=text)
    parser.add_argument("--no-halts", dest="halts", action="store_false", help="the run is never halted and begun anew")
    parser.add_argument("--skills-end", dest="endless", action="store_false", help="every skill ends at last")


def run(args: argparse.Namespace) -> int:
    from bt_runtime.testing.fuzz import fuzz

    if args.runs < 1:
        raise BtError("--runs takes a number from 1", "such as --runs 1000")
    asked = promised.options(args, "fuzz")
    asked["found_by"] += f" --within {args.within:g}" if args.within is not None else ""
    asked["found_by"] += f" --seed {args.seed}"
    finding = fuzz(
        **asked, within=args.within, runs=args.runs, seed=args.seed, double=args.double, halts=args.halts,
        endless=args.endless,
    )  # fmt: skip
    if finding is not None:
        if args.stories is not None:
            _keep(finding, asked, args)
        return promised.show(finding, args)
    print(f"{args.runs} cases (seed {args.seed}), and every promise was kept", file=sys.stderr)
    return Exit.SUCCESS


def _keep(finding: Finding, asked: dict[str, Any], args: argparse.Namespace) -> None:
    """Writes the case as a story."""
    from bt_runtime.testing.case import Subject
    from bt_runtime.testing.story_file import of_finding

    story = of_finding(Subject(asked["tree"], asked["never"], asked["always"]), finding)
    promised.keep(args.stories / f"{story.tree}.found.json", story, args)
