"""`btr import`: a tree of BehaviorTree.CPP becomes a project, and a report says what became of every element. Tools of
an MCP server, or of a file, become a manifest of skills."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.interop.btcpp import importer
from bt_runtime.interop.btcpp.importer import Imported
from bt_runtime.project import disk


def configure(parser: argparse.ArgumentParser) -> None:
    text = "a tree of BehaviorTree.CPP, version 3 or 4, or a folder of them; or: mcp SERVER; or: tools FILE.json"
    parser.add_argument("what", nargs="+", metavar="FILE", help=text)
    text = "the project that it becomes; of tools the manifest (default: skills/NAME.yaml of this project)"
    parser.add_argument("--out", "-o", type=Path, metavar="DIR", help=text)
    text = "a file with a TreeNodesModel, or nav2; may be said again"
    parser.add_argument("--models", action="append", default=[], metavar="FILE", help=text)
    text = "where included files, ROS packages and called trees are looked for, too; may be said again"
    parser.add_argument("--include", action="append", default=[], type=Path, metavar="DIR", help=text)
    text = "a word of the scripts that C++ knows; may be said again"
    parser.add_argument("--enum", action="append", default=[], metavar="RED=1", help=text)
    parser.add_argument("--force", action="store_true", help="write over files that are there and differ")
    parser.add_argument("--json", action="store_true", help="the report for programs")


def run(args: argparse.Namespace) -> int:
    if args.what[0] in ("mcp", "tools") and len(args.what) == 2:
        from bt_runtime.cli.authoring import import_tools

        return import_tools.run(args.what[0], args.what[1], args.out, args.force)
    if len(args.what) > 1:
        raise BtError(f"unexpected argument: {args.what[1]}", "one FILE; or: mcp SERVER; or: tools FILE.json")
    if args.out is None:
        raise BtError("the project that it becomes is not named", "say --out DIR")
    got = importer.load(Path(args.what[0]), args.models, dict(map(importer.enum, args.enum)), args.include)
    write(got, args.out, args.force)
    if args.json:
        rows = [{**row._asdict(), "place": str(row.place)} for row in got.report.sorted()]
        print(json.dumps({"main": got.main, "files": sorted(got.files), "report": rows}, indent=2))
    else:
        sys.stdout.write(got.report.text())
    counts = got.report.counts
    said = ", ".join(f"{counts.get(state, 0)} {state}" for state in ("same", "changed", "aside", "lost"))
    faults = sound(args.out, got)
    print(f"{said}; wrote {len(got.files)} files below {args.out}/", file=sys.stderr)
    print(f"  next: cd {args.out} && btr run {got.main}", file=sys.stderr)
    return Exit.FAILURE if faults or got.report.lost else Exit.SUCCESS


def write(got: Imported, folder: Path, force: bool) -> None:
    """Writes all files or none: a file with other content is overwritten only with `force`."""
    there = {
        folder / name: text for name, text in got.files.items() if not (name == "btr.yaml" and (folder / name).exists())
    }
    other = [path for path, text in there.items() if path.exists() and disk.read_or_nothing(path) != text.encode()]
    if other and not force:
        raise BtError(f"{other[0]} is there, and says something else", "choose another --out, or say --force")
    for path, text in there.items():
        disk.folder(path.parent)
        disk.write(path, text)


def sound(folder: Path, got: Imported) -> int:
    """Checks what was written, and shows its faults; gives how many there are."""
    from bt_runtime.cli.failure import say
    from bt_runtime.language.loader import Loader

    found = Loader(folder.resolve()).file(folder / "trees" / f"{got.main}.yaml")
    errors = [str(d) for d in found.diagnostics if d.severity == "error"]
    for error in errors:
        say("error", error)
    return len(errors)
