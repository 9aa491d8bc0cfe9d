"""`btr check FOLDER`: each tree of a folder, with its properties and what became of each."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.language.loader import Loader
from bt_runtime.language.project.selection import select

WORDS = {"proved": "proved", "refuted": "broken", "open": "not decided"}
ASSUMED = "proved under an assumption"
ALONE = ("never", "always", "ltl", "property", "set", "values", "test", "chance")


def run(args: argparse.Namespace, told: Callable[[int, int], None]) -> int:
    """Prints a line for each tree, and below it a line for each property. The limits hold for each tree."""
    for name in ALONE:
        if getattr(args, name):
            raise BtError(f"--{name} goes with one tree, and {args.tree} is a folder", "name one tree in it")
    files = [each.path for each in select([args.tree]) if each.content == "tree"]
    outcomes: dict[str, int] = {}
    bare = 0
    for file in files:
        found = _checked(file, args, told)
        bare += not found
        for outcome in found:
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    if not files:
        raise BtError(f"there is no tree in {args.tree}", "name a folder with trees")
    counts = [f"{number} {word}" for word, number in sorted(outcomes.items())] or ["nothing checked"]
    print(f"{len(files)} trees, {bare} without properties: {', '.join(counts)}")
    if "broken" in outcomes or "faulty" in outcomes:
        return Exit.FAILURE
    return Exit.BUDGET if {"not decided", ASSUMED} & outcomes.keys() else Exit.SUCCESS


def _checked(file: Path, args: argparse.Namespace, told: Callable[[int, int], None]) -> list[str]:
    """Prints a tree and its properties, and returns the words of their outcomes."""
    from bt_author.proof.check import Checking
    from bt_runtime.testing.promise import promised

    try:
        if not Loader().file(file).sound().properties:
            print(f"{file}: no properties")
            return []
        checking = Checking(file, skills_end=args.skills_end)
    except (BtError, Faults) as error:
        print(f"{file}: faulty: {str(error).splitlines()[0]}")
        return ["faulty"]
    print(file)
    words: list[str] = []
    for result in checking.results(args.states, args.seconds, told, args.cache):
        words.append(ASSUMED if result.outcome == "proved" and not result.whole() else WORDS[result.outcome])
        print(f"  {promised(result.property)}: {result.words()}", flush=True)
        for line in result.lines():
            print(f"    {line}")
    return words
