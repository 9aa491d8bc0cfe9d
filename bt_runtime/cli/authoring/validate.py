"""`btr validate`: prints every fault of every file on standard output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from bt_runtime.cli import Exit
from bt_runtime.cli.color import add_color, painted
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic
from bt_runtime.language.loader import Checked, Loader
from bt_runtime.language.project import PROJECT_FILE, disk, find_root, real, shown_path
from bt_runtime.language.project.selection import Selected, select
from bt_runtime.language.settings import BY_NAME, Settings
from bt_runtime.run import check_file

STDIN = "-"
_THEN = {"fail": "fails", "verify": "is verified"}
FORMS = BY_NAME["output_format"].choices


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="files or folders; - reads a tree from standard input")
    parser.add_argument("--output-format", choices=FORMS, help="how to show faults [BTR_OUTPUT_FORMAT; default: full]")
    parser.add_argument("--json", dest="output_format", action="store_const", const="json", help="for programs")
    parser.add_argument("--strict", action="store_true", default=None, help="warnings count as faults [BTR_STRICT]")
    parser.add_argument("--fix", action="store_true", help="write what is surely meant: misspelt names, quotes, tabs")
    add_color(parser)


def run(args: argparse.Namespace) -> int:
    flags = {name: getattr(args, name) for name in ("output_format", "strict", "color")}
    settings = Settings(flags, tolerant=True)
    form, names = settings["output_format"], args.files or [str(find_root() or Path.cwd())]
    files = select([n for n in names if n != STDIN])
    if args.fix:
        if STDIN in names:
            raise BtError("--fix writes into files, and a tree comes from standard input", "name its file")
        for line in fixed(files):
            print(line, file=sys.stderr)
    checked = [check(file) for file in files]
    if STDIN in names:
        checked.append(Loader().text(sys.stdin.buffer.read(), "stdin"))
    if not checked:
        if form == "json":
            print("[]")
        print(f"no tree and no manifest in {', '.join(names)}", file=sys.stderr)
        print("  help: name a file, or a folder with trees/ and skills/", file=sys.stderr)
        return Exit.NOTHING
    faults, sources = check_file.gathered(checked)
    if faults or form == "json":
        from bt_runtime.language.faults.format import render

        print(render(faults, sources, form, painted(sys.stdout, settings["color"])))
    for note in notes(files):
        print(note, file=sys.stderr)
    if any(Path(name).is_dir() for name in names) and stale_schema(checked):
        print(
            "schemas/tree.schema.json: note: editors read an old schema here; `btr config schema` renews it",
            file=sys.stderr,
        )
    print(verdict(len(checked), faults), file=sys.stderr)
    counted = faults if settings["strict"] else [d for d in faults if d.severity == "error"]
    return Exit.FAILURE if counted else Exit.SUCCESS


def check(file: Selected) -> Checked:
    """Checks a file, and notes each shipped tree that was taken by its name alone."""
    shown = shown_path(real(file.path))
    return check_file.check(
        file, lambda name: print(f"{shown}: note: `{name}` is a shipped tree; `btr:{name}` says so", file=sys.stderr)
    )


def fixed(files: Iterable[Selected]) -> Iterator[str]:
    """Mends each file, round after round until nothing is left that is sure; a line for each that was changed."""
    for file in files:
        shown = shown_path(real(file.path))
        name = str(file.path) if file.content == "project" else shown
        first = check(file)
        before = first.sources.get(name, "")

        def again(text: str, file: Selected = file, before: str = before) -> Checked:
            if text != before:
                disk.write(file.path, text)
            return check(file)

        text, total = check_file.mended(before, name, again)
        if total:
            if text != before:
                disk.write(file.path, text)
            yield f"{shown}: {total} mended"


def notes(files: Iterable[Selected]) -> Iterator[str]:
    """Yields one line a manifest: its acting skills that do not define `on_resume`."""
    for file in (f for f in files if f.content == "skills"):
        from bt_runtime.language import manifest

        entries = ((kind.name, kind.data["entry"]) for kind in manifest.read(file.path).kinds)
        left = [(name, entry.on_resume) for name, entry in entries if not entry.said and entry.impl != "memory"]
        if left:
            shown = shown_path(real(file.path))
            then = ", ".join(f"{name} {_THEN[on_resume]}" for name, on_resume in left)
            yield f"{shown}: note: without `on_resume`, after an interruption {then}"


def stale_schema(checked: Iterable[Checked]) -> bool:
    """True when the editor's schema lacks a kind or was made from other manifests; asked when a whole folder is
    checked."""
    root = find_root()
    path = root / "schemas" / "tree.schema.json" if root is not None else None
    if root is None or path is None or not path.is_file():
        return False  # who has none wants none
    text, made = disk.read_or_nothing(path).decode("utf-8", "replace"), path.stat().st_mtime_ns
    trees = [each.tree for each in checked if each.tree is not None]
    if any(f'"kind_{n.kind.name}"' not in text for tree in trees for n in tree.root.walk() if not n.kind.transparent):
        return True
    changed = [root / PROJECT_FILE, *(root / "skills").rglob("*.yaml"), Path(__file__)]
    if all(each.stat().st_mtime_ns <= made for each in changed if each.is_file()):
        return False
    from bt_runtime.language.emit.generated import as_text, project_schema

    return text != as_text(project_schema(root))


def verdict(files: int, faults: list[Diagnostic]) -> str:
    what = f"{files} file{'s' if files != 1 else ''} checked"
    if not faults:
        return f"{what}, no faults"
    from bt_runtime.language.faults.format import summary

    return f"{what}: {summary(faults)}"
