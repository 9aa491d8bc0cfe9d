"""`btr trust`: lists and changes the folders and journals whose Python may run."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import real, trust


def configure(parser: argparse.ArgumentParser) -> None:
    about = "a folder, with all below it, or a journal; default: this project, or this folder"
    parser.add_argument("path", nargs="?", type=Path, metavar="PATH", help=about)
    parser.add_argument("--list", action="store_true", help="say what is trusted")
    parser.add_argument("--remove", action="store_true", help="trust it no longer")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.epilog = f"{trust.VARIABLE}=/a/folder:/a/journal.btr trusts these for one command."


def run(args: argparse.Namespace) -> int:
    if args.list:
        return _list(args.json)
    path: Path = args.path or project.find_root() or Path.cwd()
    if args.remove:
        if not trust.forget(path):
            raise BtError(f"{path} is not among what is trusted", "btr trust --list shows it")
        print(json.dumps({"removed": str(real(path))}) if args.json else f"no longer trusted: {real(path)}")
        return Exit.SUCCESS
    entry = trust.remember(path)
    print(json.dumps(entry._asdict()) if args.json else f"trusted: {entry.path}")
    return Exit.SUCCESS


def _list(as_json: bool) -> int:
    found = trust.listed()
    if as_json:
        print(json.dumps([entry._asdict() for entry in found], indent=2))
    for entry in found if not as_json else ():
        print(f"{entry.path}{f'  {entry.digest[:16]}' if entry.digest else ''}")
    return Exit.SUCCESS
