"""`btr fmt`: trees, manifests and project files in one layout; comments, order and values stay."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.cli.failure import say
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk, find_root
from bt_runtime.language.project.selection import select
from bt_runtime.language.source.limits import DEFAULT
from bt_runtime.language.tidy import tidy

STDIN = "-"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="files or folders; - formats standard input")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")


def run(args: argparse.Namespace) -> int:
    if args.files == [STDIN]:
        text = sys.stdin.read()
        made = tidy(text)
        if made is None:
            raise BtError("this cannot be read", "btr validate - says why")
        sys.stdout.write(made)
        return Exit.FAILURE if args.check and made != text else Exit.SUCCESS
    selected = [f for f in select(args.files or [str(find_root() or Path.cwd())]) if f.content != "plan"]
    states = [_formatted(each.path, args.check) for each in selected]
    changed = states.count(True)
    what = "would be changed" if args.check else "changed"
    print(f"{len(selected)} file{'s' if len(selected) != 1 else ''} looked at, {changed} {what}", file=sys.stderr)
    if not selected:
        return Exit.NOTHING
    return Exit.FAILURE if None in states or (args.check and changed) else Exit.SUCCESS


def _formatted(path: Path, check: bool) -> bool | None:
    """Formats one file: True when its text changes, None when the file may not be written."""
    try:
        text = disk.read(path, DEFAULT.size).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        made = None
    else:
        empty = all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())
        made = text if empty else tidy(text)  # an empty btr.yaml marks a project
    if made is None:
        say("warning", f"{path} cannot be read, and is left as it is", "btr validate says why")
        return False
    if made == text:
        return False
    if not check:
        try:
            disk.write(path, made)
        except BtError as refused:  # the others are formatted all the same
            say("error", refused.message, refused.hint)
            return None
    print(path)
    return True
