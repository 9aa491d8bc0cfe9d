"""Prints the result of an evaluation; `btr lab eval show` prints it again from the folder."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bt_lab.report.comparison import compare, seed_of, side
from bt_lab.report.plots import draw
from bt_lab.report.summary import Group, groups
from bt_lab.report.table import as_csv, in_words, table
from bt_lab.run.outcome import Outcome
from bt_lab.run.results_file import outcomes as read_outcomes
from bt_lab.run.results_file import read_setup
from bt_runtime.cli import Exit
from bt_runtime.language.faults.diagnostic import BtError


def show(args: argparse.Namespace) -> int:
    if len(args.folders) != 1:
        raise BtError("`btr lab eval show` takes one folder", "for instance: btr lab eval show evals/house-react-s0")
    folder = Path(args.folders[0])
    outcomes = read_outcomes(folder)
    seed = int(read_setup(folder).get("depends", {}).get("seed", 0))
    if not outcomes:
        print(f"nothing has ended yet in {folder}", file=sys.stderr)
        return Exit.NOTHING
    return shown(folder, groups(outcomes, seed), outcomes, args)


def contrast(args: argparse.Namespace) -> int:
    """Compares two strategies on equal tasks."""
    if len(args.folders) != 2:
        raise BtError(
            "`btr lab eval compare` takes two evaluations", "for instance: btr lab eval compare evals/a:react evals/b"
        )
    first, second = (side(named) for named in args.folders)
    found = compare(first, second, seed_of(args.folders[0]))
    print(json.dumps(found.to_json(), indent=2) if args.format == "json" else in_words(found))
    return Exit.SUCCESS


def shown(folder: Path, found: Sequence[Group], outcomes: Sequence[Outcome], args: argparse.Namespace) -> int:
    if args.plots:
        for path in draw(folder, found):
            print(f"drew {path}", file=sys.stderr)
    if args.format == "json":
        print(json.dumps({"folder": str(folder), "groups": [group.to_json() for group in found]}, indent=2))
    elif args.format == "csv":
        print(as_csv(outcomes), end="")
    else:
        print(table(found))
        print(f"\neverything is in {folder}", file=sys.stderr)
    return broken(outcomes)


def broken(outcomes: Sequence[Outcome]) -> int:
    """Reports broken episodes, which count neither for nor against a strategy; returns the exit code."""
    faults = [outcome.error for outcome in outcomes if outcome.error]
    if not faults:
        return Exit.SUCCESS
    print(f"error: {len(faults)} of {len(outcomes)} episodes broke; the first: {faults[0]}", file=sys.stderr)
    print("help: fix the cause; the same command with --resume --retry runs them again", file=sys.stderr)
    return Exit.FAILURE
