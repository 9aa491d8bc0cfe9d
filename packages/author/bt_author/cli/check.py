"""`btr check`: proves the properties of a tree, or shows the shortest story that breaks one, as a test; of a folder, it
lists what became of each tree's properties."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.cli import Exit
from bt_runtime.cli.authoring import promised
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.cli.tree_argument import checked
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import system

if TYPE_CHECKING:
    from bt_author.proof.check import Result

EVERY = 1.0  # seconds between two lines of progress


def configure(parser: argparse.ArgumentParser) -> None:
    promised.configure(parser, "a file, the name of a tree, a folder of trees, or - for standard input")
    text = "a formula that must hold: 'G(low -> F /main/dock is running)'; may be repeated"
    parser.add_argument("--ltl", action="append", default=[], metavar="FORMULA", help=text)
    text = "one of the tree's own properties; may be repeated (default: all of them)"
    parser.add_argument("--property", action="append", default=[], metavar="NAME", help=text)
    parser.add_argument("--skills-end", action="store_true", help="take for granted that every started skill ends")
    parser.add_argument(
        "--states", type=int, default=1_000_000, metavar="N", help="look at so many at most (default: 1000000)"
    )
    parser.add_argument(
        "--seconds", type=float, default=600, metavar="S", help="look for so many seconds at most (default: 600)"
    )
    parser.add_argument(
        "--memory", type=float, default=2_000, metavar="MB", help="stop when the process is larger (default: 2000)"
    )
    text = "how likely the tree succeeds and how long it takes, from the recorded runs of its skills"
    parser.add_argument("--chance", action="store_true", help=text)
    add_folder(parser)
    parser.add_argument("--no-cache", dest="cache", action="store_false", help="prove again what was proved before")


class _TooLarge(Exception):
    pass


class _Progress:
    """A line on standard error, redrawn every second; only on a terminal. Raises when memory runs out."""

    def __init__(self, megabytes: float) -> None:
        self.live = sys.stderr.isatty()
        self.next = time.monotonic() + EVERY
        self.shown = False
        self.most = megabytes * 1_024_000

    def told(self, states: int, left: int) -> None:
        if system.most_memory() > self.most:
            raise _TooLarge
        if self.live and time.monotonic() >= self.next:
            self.next = time.monotonic() + EVERY
            self.shown = True
            text = f"{states:,} states were seen, {left:,} of them are yet to be continued"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)


def run(args: argparse.Namespace) -> int:
    if args.chance and not promised.is_folder(args.tree):
        return _chance(args)
    from bt_author.proof.check import Checking

    for name, value in (("states", args.states), ("seconds", args.seconds), ("memory", args.memory)):
        if not value > 0:
            raise BtError(f"--{name} takes a number above 0", f"such as --{name} 1000")
    if promised.is_folder(args.tree):
        from bt_author.cli import check_folder

        return check_folder.run(args, _Progress(args.memory).told)
    asked = promised.options(args, "check")
    own = args.property or ([] if args.never or args.always or args.ltl else None)
    checking = Checking(
        asked["tree"], asked["never"], asked["always"], args.ltl, own, None, asked["inputs"], asked["values"],
        args.skills_end, f"btr check {shlex.quote(args.tree)}",
    )  # fmt: skip
    progress, results = _Progress(args.memory), list["Result"]()
    try:
        for result in checking.results(args.states, args.seconds, progress.told, args.cache):
            progress.end()
            progress.shown = False
            _tell(result)
            results.append(result)
    except _TooLarge:
        print(f"the process is larger than {args.memory:g} MB: nothing more was looked at", file=sys.stderr)
        print("  help: list fewer --values, fix entries with --set, or allow more --memory", file=sys.stderr)
        return Exit.BUDGET
    finally:
        progress.end()
    _keep(results, args)
    promised.write_test("\n\n".join(_numbered([r.finding.test for r in results if r.finding is not None])), args)
    outcomes = {result.outcome for result in results}
    whole = all(result.whole() for result in results)
    return Exit.FAILURE if "refuted" in outcomes else Exit.SUCCESS if whole else Exit.BUDGET


def _chance(args: argparse.Namespace) -> int:
    """Prints how likely the tree succeeds."""
    from bt_author.proof.chance import Chances
    from bt_author.proof.records import records_of
    from bt_runtime.journal import folder
    from bt_runtime.testing.casting import skills_of

    asked = promised.options(args, "check")
    spec = checked(args.tree).sound()
    records = records_of(folder.journals(reading(args)), set(skills_of(spec)))
    found = Chances(spec, records, asked["inputs"]).chance()
    print(f"succeeds: {found.success:.1%} (between {found.low:.1%} and {found.high:.1%}, as few runs allow)")
    print(f"takes: {found.seconds:.3g} s on average")
    for name, gain in found.gains:
        record = records[name]
        print(f"{name}: {record.succeeded} of {record.starts}, {record.mean:.3g} s; without its failures {gain:+.1%}")
    print(f"from a chain of {found.states:,} states" if found.states else "from drawn runs, since the tree has clocks")
    for doubt in found.doubts:
        print(f"not covered: {doubt}", file=sys.stderr)
    return Exit.SUCCESS


def _tell(result: Result) -> None:
    from bt_runtime.testing.promise import promised as in_words

    how = "known from before" if result.kept else f"{result.states:,} states in {result.seconds:.2f} s"
    print(f"{in_words(result.property)}: {result.words()} ({how})", file=sys.stderr)
    for line in result.lines():
        print(f"  {line}", file=sys.stderr)
    if result.outcome == "open":
        print("  help: list --values, fix entries with --set, or allow more --seconds or --states", file=sys.stderr)


def _keep(results: list[Result], args: argparse.Namespace) -> None:
    """Writes the stories into a folder, each under the names of its tree and its property."""
    folder: Path | None = args.stories
    for number, result in enumerate(results, 1):
        if folder is None or result.played is None:
            continue
        name = result.property.name if result.property.name.isidentifier() else f"promise_{number}"
        file = folder / f"{result.played.tree}.{name}.json"
        promised.keep(file, result.played, args)


def _numbered(tests: list[str]) -> list[str]:
    """Numbers tests of the same name, because one file may hold several."""
    return [t.replace("promises():", f"promises_{n}():") if n > 1 else t for n, t in enumerate(tests, 1)]
