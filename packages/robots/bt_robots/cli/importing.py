"""`btr import FILE`: trees of BehaviorTree.CPP or py_trees become a project. A report says what became of each part."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bt_robots.btcpp import importer
from bt_robots.btcpp.sources import xml_files
from bt_robots.imports.project import Imported
from bt_robots.pytrees import importer as python
from bt_robots.pytrees import modules
from bt_runtime.cli import Exit
from bt_runtime.cli.options import Options
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk


class _ImportCommand(Options):
    def configure(self, parser: argparse.ArgumentParser) -> None:
        text = "a file with a TreeNodesModel, or nav2; may be said again"
        parser.add_argument("--models", action="append", default=[], metavar="FILE", help=text)
        text = "where included files, ROS packages, called trees and modules are looked for, too; may be said again"
        parser.add_argument("--include", action="append", default=[], type=Path, metavar="DIR", help=text)
        text = "a word of the scripts that C++ knows; may be said again"
        parser.add_argument("--enum", action="append", default=[], metavar="RED=1", help=text)

    def instead(self, args: argparse.Namespace) -> int | None:
        named = [Path(each) for each in args.what]
        if all(map(is_python, named)):
            return write_project(args, python.load(named, args.include))
        if len(named) > 1:
            return None
        enums = dict(map(importer.enum, args.enum))
        return write_project(args, importer.load(named[0], args.models, enums, args.include))


def is_python(path: Path) -> bool:
    """Is it Python source: a file that is called so, or a folder with trees of py_trees and none in XML?"""
    if not path.is_dir():
        return path.suffix == ".py"
    return modules.has_trees(path) and not any(b"<BehaviorTree" in disk.read_or_nothing(f) for f in xml_files(path))


def write_project(args: argparse.Namespace, got: Imported) -> int:
    if args.out is None:
        raise BtError("the project that it becomes is not named", "say --out DIR")
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
    for below in dict.fromkeys(path.parent for path in there):
        disk.folder(below)
    for path, text in there.items():
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


IMPORT = _ImportCommand()
