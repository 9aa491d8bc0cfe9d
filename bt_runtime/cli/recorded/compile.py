"""`btr runs compile`: makes a tree of recorded runs, which people can read, edit and trust."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.cli import Exit
from bt_runtime.cli.agents.models import open_models
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.cli.whole_number import at_least
from bt_runtime.journal import folder
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import plugins
from bt_runtime.language.settings import Settings
from bt_runtime.skills.worlds.registry import Wanted

if TYPE_CHECKING:
    from bt_runtime.agents.compile.compiling import Compiled
    from bt_runtime.agents.compile.keeping import WrittenFile

FUZZED = 50  # random cases


def configure(parser: argparse.ArgumentParser) -> None:
    text = "journals: names, files, folders of them, or folders of such folders; default: all of the folder of runs"
    parser.add_argument("journals", nargs="*", metavar="RUN", help=text)
    text = "where the tree goes; one that was compiled before is merged. Default: standard output"
    parser.add_argument("--out", type=Path, metavar="FILE", help=text)
    parser.add_argument("--name", help="of the tree; default: that of the file")
    text = "on a conflict: whose side stands, your edits or what was compiled anew"
    parser.add_argument("--take", choices=("mine", "new"), default="", help=text)
    text = "goals in other words: `infer` says which known one is meant, before the agent is asked"
    parser.add_argument("--infer", action="store_true", help=text)
    parser.add_argument("--dry", action="store_true", help="say what would change, and write nothing")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    add_folder(parser)
    tried = parser.add_argument_group("on held-out tasks")
    tried.add_argument(
        "--try", dest="trial", type=int, default=0, metavar="N", help="try it on N tasks beside the strategy"
    )
    tried.add_argument("--model", metavar="FILE", help="a GGUF file or an address [BTR_MODEL]")
    tried.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="of the tasks; default: 0")
    tried.add_argument(
        "--tasks", default="", metavar="SUITE", help="a world or a file of tasks; default: the runs' own"
    )
    parser.epilog = "Exits: 0 written or printed, 1 a conflict, 2 nothing to compile."


def run(args: argparse.Namespace) -> int:
    from bt_runtime.agents.compile import report
    from bt_runtime.agents.compile.compiling import compiled

    paths = _journals(args)
    name = args.name or (args.out.stem if args.out is not None else "compiled")
    if not name.isidentifier():
        raise BtError(f"`{name}` is no name of a tree", "letters, digits and _: --name errands")
    found = compiled(paths, name, args.infer)
    fuzzed = _fuzzed(found)
    code = Exit.SUCCESS
    if args.out is not None:
        code = _kept(args, found)
    trial = _tried(args, found) if args.trial and code == Exit.SUCCESS else None
    told = report.account(found, fuzzed, trial)
    if args.out is None and not args.json:
        sys.stdout.write(found.text)
    if args.json:
        print(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        print("\n".join(map(visible, report.lines(told))), file=sys.stderr)
    return code


def _journals(args: argparse.Namespace) -> list[Path]:
    runs = reading(args)
    found: list[Path] = []
    for name in args.journals:
        inner = Path(name)
        found += _within(inner) if inner.is_dir() else [folder.find(name, runs)]
    found = found if args.journals else folder.journals(runs)
    if not found:
        where = f" in {', '.join(args.journals)}" if args.journals else ""
        raise BtError(
            f"there are no runs to compile{where}", "record some: `btr lab eval … --journals`, `btr run --runs runs`"
        )
    return list(dict.fromkeys(found))


def _within(there: Path) -> list[Path]:
    """Returns the journals of a folder; where it has none, those of the folders in it, also of an evaluation's runs."""
    inner = [each for each in sorted(there.iterdir()) if each.is_dir()]
    return folder.journals(there) or [
        journal for each in inner for journal in (folder.journals(each) or folder.journals(each / folder.RUNS))
    ]


def _kept(args: argparse.Namespace, found: Compiled) -> int:
    from bt_runtime.agents.compile.keeping import keep

    kept = keep(args.out, found.text, args.take, not args.dry, found.lexicon.given.values())
    would = "would be " if args.dry else ""
    show_conflicts(kept)
    if kept.state == "conflict":
        hint = "nothing was written: edit the file so that one side is right, or decide all of them: --take mine|new"
        print(hint, file=sys.stderr)
        return Exit.FAILURE
    for line in kept.changes:
        print(line, file=sys.stderr)
    print(f"{args.out}: {would if kept.state != 'unchanged' else ''}{kept.state}", file=sys.stderr)
    return Exit.SUCCESS


def show_conflicts(kept: WrittenFile) -> None:
    """Prints both sides of each conflict."""
    for conflict in kept.conflicts:
        print(visible(f"conflict in {conflict.where}"), file=sys.stderr)
        for mark, side in (("mine", conflict.mine), ("new ", conflict.new)):
            for line in side.splitlines() or ["(nothing)"]:
                print(visible(f"  {mark} | {line}"), file=sys.stderr)


def _fuzzed(found: Compiled) -> str:
    """Runs the tree in worlds with random answers: it must neither break nor run for ever."""
    from bt_runtime.agents.compile.fuzzing import fuzzed

    return fuzzed(found, FUZZED)


def _tried(args: argparse.Namespace, found: Compiled) -> Mapping[str, Any]:
    """Returns how the tree did on held-out tasks beside the strategy, as the installed laboratory found it."""
    entry = plugins.find("paired", "trials")
    if entry is None:
        raise Extra("lab", "`--try`").missing()
    if args.out is None or args.dry:
        raise BtError("a tree that is tried has to be in a file", "name it: --out trees/NAME.yaml")
    with ExitStack() as stack:
        models: dict[str, Any] = open_models(Settings({"model": args.model}), stack)
        wanted = Wanted(args.seed, args.trial)
        trial: Mapping[str, Any] = plugins.load(entry)(str(args.out), found.traces, wanted, models, args.tasks)
        return trial
