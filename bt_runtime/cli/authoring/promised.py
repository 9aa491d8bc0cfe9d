"""Shared by `btr fuzz` and `btr check`: loads a tree with its promises, and prints the first broken one."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.cli import Exit
from bt_runtime.cli.set_option import given
from bt_runtime.cli.tree_argument import STDIN, checked, found
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import disk
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.testing.case import Finding
    from bt_runtime.testing.story_file import StoryFile


def configure(
    parser: argparse.ArgumentParser, tree: str = "a file, the name of a tree, or - for standard input"
) -> None:
    parser.add_argument("tree", metavar="TREE", help=tree)
    text = "an expression that must never hold: 'charging and driving', '/main/dock is running'; may be repeated"
    parser.add_argument("--never", action="append", default=[], metavar="EXPR", help=text)
    parser.add_argument(
        "--always", action="append", default=[], metavar="EXPR", help="… that must hold after every tick"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an entry that stays as it is")
    text = "the values that are tried for an entry, or for an output of a skill: 'battery=0, 0.3, 1'"
    parser.add_argument("--values", action="append", default=[], metavar="NAME=A,B,…", help=text)
    parser.add_argument("--test", type=Path, metavar="FILE", help="write the test there; default: standard output")
    text = "write each story there, as a file that can be played: btr edit --story FILE"
    parser.add_argument("--stories", type=Path, metavar="FOLDER", help=text)


def is_folder(name: str) -> bool:
    """True for a folder of trees, unless a tree has that name too."""
    return name != STDIN and Path(name).is_dir() and Loader().locate(name) is None


def options(args: argparse.Namespace, command: str) -> dict[str, Any]:
    """The arguments for `fuzz` and `explore`, from the command line."""
    if args.tree == STDIN:
        spec = checked(STDIN).sound()
        tree = spec.text
    else:
        tree = args.tree
        found(tree)
        spec = checked(tree).sound()
    args.tree_file = spec.file
    said = [f"--{name} {shlex.quote(text)}" for name in ("never", "always") for text in getattr(args, name)]
    return {
        "tree": tree,
        "never": args.never,
        "always": args.always,
        "inputs": given(args.set, spec),
        "values": dict(_listed(pair) for pair in args.values),
        "found_by": " ".join([f"btr {command} {shlex.quote(args.tree)}", *said]),
    }


def _listed(pair: str) -> tuple[str, list[Json]]:
    name, equals, text = pair.partition("=")
    if not equals or not text.strip():
        raise BtError(f"--values {pair}: there are no values", "write them as --values 'name=1, 2, 3'")
    try:
        return name.strip(), json.loads(f"[{text}]")
    except ValueError:
        return name.strip(), [part.strip() for part in text.split(",")]


def show(finding: Finding, args: argparse.Namespace) -> int:
    print(finding.why, file=sys.stderr)
    write_test(finding.test, args)
    return Exit.FAILURE


def write_test(text: str, args: argparse.Namespace) -> None:
    """Writes a test to the file of `--test`, or to standard output."""
    if not text or args.test is None:
        print(text, end="")
        return
    try:
        disk.write(args.test, text)
    except OSError as error:
        raise BtError(f"{args.test} cannot be written: {error.strerror}", "name another file") from error
    print(f"a test that shows it: {args.test}", file=sys.stderr)


def keep(file: Path, story: StoryFile, args: argparse.Namespace) -> None:
    """Writes a counterexample as a story that can be played."""
    from bt_runtime.testing import story_file

    story_file.write(file, story, None if args.tree == STDIN else Path(args.tree_file))
    print(f"a story to play: {file}   (btr edit --story {shlex.quote(str(file))})", file=sys.stderr)
