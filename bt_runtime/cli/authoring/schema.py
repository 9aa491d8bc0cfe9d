"""`btr config schema`: writes the JSON Schemas with which editors complete and check this project's files."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.cli.failure import say
from bt_runtime.language import project
from bt_runtime.language.emit.generated import as_text, schemas, write
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

NAMES = ("tree", "skills", "plan", "expansion")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", "-o", type=Path, metavar="DIR", help="where to; default: schemas/ of the project")
    parser.add_argument("--print", choices=NAMES, dest="one", help="print one instead of writing all")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")
    parser.add_argument("--json", action="store_true", help="list for programs what was written")


def run(args: argparse.Namespace) -> int:
    root = project.find_root()
    found = schemas(root)
    if args.one:
        sys.stdout.write(as_text(found[f"{args.one}.schema.json"]))
        return Exit.SUCCESS
    if root is None and args.output is None:
        raise BtError("there is no project here or above", "start one: btr init; or name a folder: --output DIR")
    folder = args.output or Path(str(root)) / "schemas"
    texts = {folder / name: as_text(schema) for name, schema in found.items()}
    if args.check:
        changed = [path for path, text in texts.items() if disk.read_or_nothing(path) != text.encode()]
        for path in changed:
            say("error", f"{path} is out of date", "btr config schema")
    else:
        changed = write(texts)
    if args.json:
        print(json.dumps([str(path) for path in changed], indent=2))
    elif not args.check:
        print("\n".join(f"wrote {path}" for path in changed) or f"nothing has changed in {folder}", file=sys.stderr)
    return Exit.FAILURE if args.check and changed else Exit.SUCCESS
