"""`btr skills suggest`: what manifests could say of their skills, with reasons; written after a yes to each."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.cli import Exit
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.language import manifest
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import disk, find_root, real, shown_path
from bt_runtime.language.project.selection import select

if TYPE_CHECKING:
    from bt_author.suggest.suggestion import Choose, Suggested
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.types import Model

NONE = "something else"


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    one = what.add_parser("suggest", help="what skills could say that they need and bring, and what fills their slots")
    one.add_argument("files", nargs="*", metavar="FILE", help="manifests, or folders; default: the project's skills/")
    one.add_argument("--write", action="store_true", help="ask for each, and write it into the manifest after a yes")
    one.add_argument("--yes", action="store_true", help="with --write: a yes to all of them")
    text = "of several readings of a sentence the model takes one: a file, an address, a backend"
    one.add_argument("--model", metavar="MODEL", help=text)
    one.add_argument("--json", action="store_true", help="print JSON")
    add_folder(one)
    one.epilog = "Exits: 0 something is suggested, or was written; 5 nothing is."


def run(args: argparse.Namespace) -> int:
    found = suggested(args)
    if args.json:
        told = [{**each._asdict(), "file": str(each.file)} for each in found]
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        for each in found:
            print(visible(f"{shown_path(real(each.file))}: {each}"), visible(each.why), sep="\n    ")
    if not found:
        print(
            "nothing is suggested: each skill says what it needs and brings, or its words tell nothing", file=sys.stderr
        )
        return Exit.NOTHING
    if args.write:
        kept = found if args.yes else _confirmed(found)
        for file in dict.fromkeys(each.file for each in kept):
            _write(file, [each for each in kept if each.file == file])
        print(f"{len(kept)} of {len(found)} written; `btr validate` checks them", file=sys.stderr)
    elif not args.json:
        print(f"{len(found)} suggested; --write asks for each, and writes it", file=sys.stderr)
    return Exit.SUCCESS


def suggested(args: argparse.Namespace) -> list[Suggested]:
    from bt_author.suggest.seen import SeenActions
    from bt_author.suggest.suggestion import Manifests
    from bt_runtime.journal import folder

    root = find_root() or Path.cwd()
    named = args.files or [str(root / "skills" if (root / "skills").is_dir() else root)]
    read = {file.path: _sound(file.path) for file in select(named) if file.content == "skills"}
    runs = reading(args)
    journals = folder.journals(runs) if runs.is_dir() else []
    with ExitStack() as stack:
        choose = _choosing(stack.enter_context(_model(args.model))) if args.model else None
        every = [kind for each in read.values() for kind in each.kinds]
        return Manifests(read, SeenActions(every, journals), choose).suggestions()


def _sound(path: Path) -> manifest.Manifest:
    read = manifest.read(path)
    if read.diagnostics:
        raise Faults(read.diagnostics, {str(path): read.text})
    return read


def _model(named: str) -> Model:
    from bt_author.cli.from_sentence import opened

    return opened(named)


def _choosing(model: Model) -> Choose:
    """Asks the model which fact is true after an action."""

    def choose(kind: Kind, facts: Sequence[str]) -> int | None:
        options = [*facts, NONE]
        asked = (
            "Action: water the {plant}\nAfterwards: {plant} is watered\n\n"
            "Action: lay the {book} on the {table}\nAfterwards: {book} on {table}\n\n"
            f"Action: {kind.data['entry'].sentence}\nAfterwards: "
        )
        job = model.choose(asked, options)
        done = job.wait()
        return None if options[done.index] == NONE else int(done.index)

    return choose


def _confirmed(found: Sequence[Suggested]) -> list[Suggested]:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BtError("nobody can be asked: this is no terminal", "--yes takes all of them")
    return [each for each in found if _wanted(each)]


def _wanted(each: Suggested, ask: Callable[[], str] = lambda: sys.stdin.readline()) -> bool:
    print(visible(f"{each}? [y/N] "), end="", file=sys.stderr, flush=True)
    return ask().strip().lower() in ("y", "yes")


def _write(file: Path, kept: Sequence[Suggested]) -> None:
    """Writes the suggestions into a manifest, unless it would not be sound."""
    from bt_author.edit.skill_keys import with_fact, with_param

    text = disk.read(file).decode("utf-8")
    for each in kept:
        if each.param:
            text = with_param(text, each.skill, each.param, each.key, each.value)
        else:
            text = with_fact(text, each.skill, each.key, str(each.value))
    faults = manifest.parse(text, str(file), file.parent).diagnostics
    if faults:
        raise Faults(faults, {str(file): text})
    disk.write(file, text)
