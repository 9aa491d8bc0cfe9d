"""`btr init`: creates a project that runs at once. Existing files are never overwritten."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.cli.failure import say
from bt_runtime.language.emit.generated import as_text, schemas
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk, init, trust


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="default: this folder")
    parser.add_argument("--example", metavar="NAME", default=init.DEFAULT, help=f"default: {init.DEFAULT}")
    parser.add_argument("--list", action="store_true", help="say which examples there are")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    if args.list:
        return _list(args.json)
    folder: Path = args.folder
    if folder.exists() and not folder.is_dir():
        raise BtError(f"{folder} is a file", "name a folder")
    contents = {folder / place: data for place, data in init.files(args.example)}
    taken = [path for path in contents if path.exists()]
    if taken:
        listed = ", ".join(str(path) for path in taken[:5]) + (" …" if len(taken) > 5 else "")
        raise BtError(f"already there: {listed}", "name a new folder: btr init my_robot")
    for path, data in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.write(path, data)
    for name in init.FOLDERS:
        (folder / name).mkdir(exist_ok=True)
    for name, schema in schemas(folder.resolve()).items():
        disk.write(folder / "schemas" / name, as_text(schema))
    try:
        trust.remember(folder)  # what has just been made here is ours
    except BtError as error:
        say("note", error.message, f"run it by: {trust.VARIABLE}={folder.resolve()}")
    _say(args, folder, [str(path) for path in contents])
    return Exit.SUCCESS


def _say(args: argparse.Namespace, folder: Path, written: list[str]) -> None:
    if args.json:
        print(json.dumps({"folder": str(folder.resolve()), "example": args.example, "files": written}, indent=2))
        return
    print(f"{args.example}: {init.about(args.example)}")
    print("\n".join(f"  {path}" for path in written))
    enter = "" if folder == Path() else f"cd {folder}\n  "
    print(f"next:\n  {enter}btr validate\n  btr run main", file=sys.stderr)


def _list(as_json: bool) -> int:
    if as_json:
        print(json.dumps({name: init.about(name) for name in init.names()}, indent=2))
    else:
        print("\n".join(f"{name:<9} {init.about(name)}" for name in init.names()))
    return Exit.SUCCESS
