"""`btr runs`: works with the journals of earlier runs: list, show, diff, export, copy, rm, seal, verify."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bt_runtime.cli.journals import add_folder, reading, seal_key
from bt_runtime.journal import chain, folder, opening
from bt_runtime.journal.compare import differences
from bt_runtime.journal.export import Export, of_entry
from bt_runtime.journal.layout import SUFFIX
from bt_runtime.journal.lines import lines
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.story import told
from bt_runtime.journal.summary import Summary, summary
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import disk, plugins, real
from bt_runtime.language.settings import Settings

NOTHING = 5


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    one = what.add_parser("list", help="all runs, the oldest first")
    one.add_argument("--json", action="store_true", help="print JSON")
    one = what.add_parser("show", help="what happened in a run")
    one.add_argument("journal", metavar="RUN", help="its name, the beginning of it, `last`, or a file")
    one.add_argument("--json", action="store_true", help="print JSON Lines, everything")
    one = what.add_parser("diff", help="where two runs part (exit 1 when they do)")
    one.add_argument("journal", metavar="RUN")
    one.add_argument("other", metavar="OTHER")
    one.add_argument("--json", action="store_true", help="print JSON")
    one = what.add_parser("export", help="a run in another format, or what runs teach")
    one.add_argument("journal", nargs="*", metavar="RUN", help="one; sft and preference: any number (default: all)")
    formats = plugins.names("exports")
    one.add_argument("--format", choices=("jsonl", *formats), default="jsonl")
    one.add_argument("-o", "--output", type=Path, help="the file; - is standard output (jsonl, sft, preference)")
    for name in formats:
        _export_format(name).configure(one)
    one = what.add_parser("copy", help="a journal as one whole file, though its run may go on")
    one.add_argument("journal", metavar="RUN")
    one.add_argument("to", type=Path, metavar="DEST", help="a new file, or a folder")
    one = what.add_parser("rm", help="remove journals")
    one.add_argument("journal", nargs="*", metavar="RUN")
    one.add_argument("--older-than", type=float, metavar="DAYS", help="all that nobody has written to for so long")
    sealing = what.add_parser("seal", help="add finished runs to a hash chain, and print its last link")
    verifying = what.add_parser("verify", help="compare the runs with their hash chain (exit 1 when they differ)")
    for one in (sealing, verifying):
        one.add_argument(
            "--key", type=Path, metavar="FILE", help="a secret: without it nobody makes a chain that fits [BTR_SEAL]"
        )
    verifying.add_argument(
        "--head", default="", metavar="LINK", help="a link that was kept elsewhere: it must be there"
    )
    for sub in what.choices.values():
        add_folder(sub)


def run(args: argparse.Namespace) -> int:
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "list": list_runs, "show": show, "diff": diff, "export": export, "copy": copy, "rm": remove,
        "seal": seal_runs, "verify": verify_runs,
    }  # fmt: skip
    return commands[args.what](args)


def seal_runs(args: argparse.Namespace) -> int:
    names, link = chain.seal(reading(args), _key(args))
    for name in names:
        print(visible(name))
    print(f"last link: {link}")
    return 0


def verify_runs(args: argparse.Namespace) -> int:
    found = chain.verify(reading(args), _key(args), args.head)
    for line in (*found.faults, *(f"{name}: unfinished, sound so far" for name in found.unfinished)):
        print(visible(line))
    faults, unsealed = len(found.faults), len(found.unsealed)
    print(f"{found.whole} as they were sealed, {faults} faults, {unsealed} finished and not sealed")
    return 1 if faults else 0


def _key(args: argparse.Namespace) -> bytes:
    return chain.key_of(args.key) if args.key is not None else seal_key(Settings(tolerant=True)) or b""


def list_runs(args: argparse.Namespace) -> int:
    found = [summary(path) for path in folder.journals(reading(args))]
    if args.json:
        print(json.dumps([each._asdict() for each in found], indent=2))
    elif not found:
        print(f"no runs in {reading(args)}/", file=sys.stderr)
    else:
        print(_table(found))
        print("".join(f"{each.name}: {each.why}\n" for each in found if each.why and each.state != "damaged"), end="")
    return 0 if found else NOTHING


def _table(found: list[Summary]) -> str:
    rows = [("run", "state", "met", "ticks", "decisions", "actions", "started", "size")]
    for s in found:
        started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(s.started)) if s.started else "?"
        counts = (str(s.ticks), str(s.decisions), str(s.actions))
        rows.append((visible(s.name), s.state, s.verdict or "-", *counts, started, _size(s.bytes)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def show(args: argparse.Namespace) -> int:
    recording = Recording(folder.find(args.journal, reading(args)))
    if args.json:
        for line in lines(recording):
            print(json.dumps(line))
        return 0
    for text in told(recording):
        print(text)
    return 0


def diff(args: argparse.Namespace) -> int:
    a, b = (Recording(folder.find(name, reading(args))) for name in (args.journal, args.other))
    found = list(map(str, differences(a, b)))
    if args.json:
        print(json.dumps({"runs": [a.name, b.name], "differences": found}, indent=2))
    else:
        print("\n".join(map(visible, found)) if found else "no difference")
    return 1 if found else 0


def export(args: argparse.Namespace) -> int:
    made = _export_format(args.format) if args.format != "jsonl" else None
    if made is not None and made.many:
        recordings = list(_recordings(args))
    elif len(args.journal) != 1:
        raise BtError(f"{args.format} is of one run", "name it, such as `last`")
    else:
        recordings = [Recording(folder.find(args.journal[0], reading(args)))]
        if recordings[0].damage:
            print(f"damaged: {recordings[0].damage}; what is whole is exported", file=sys.stderr)
    own = args.format if made is not None and made.many else folder.file_name(recordings[0].name)
    path: Path = args.output or Path(f"{own}.{'jsonl' if own == args.format else args.format}")
    if made is None:
        return _json_lines(recordings[0], path)
    if str(path) == "-" and not made.text:
        raise BtError(f"{args.format} is not a text", "name a file: -o FILE")
    print(f"{path}: {made.write(recordings, path, args):,} {made.unit}", file=sys.stderr)
    return 0


def _export_format(name: str) -> Export:
    return of_entry(plugins.named(name, "exports", "jsonl"))


def _recordings(args: argparse.Namespace) -> Iterator[Recording]:
    """Reads the named journals, or all of the folder; one of those that cannot be read is left out, and named."""
    runs = reading(args)
    for path in [folder.find(name, runs) for name in args.journal] or folder.journals(runs):
        try:
            yield Recording(path)
        except BtError as fault:
            if args.journal:
                raise
            print(f"left out: {fault.message}", file=sys.stderr)


def _json_lines(recording: Recording, path: Path) -> int:
    if str(path) == "-":
        for line in lines(recording):
            print(json.dumps(line, allow_nan=False))
        return 0
    with disk.draft(path) as made, made.open("w", encoding="utf-8") as out:
        count = sum(1 for line in lines(recording) if out.write(json.dumps(line, allow_nan=False) + "\n"))
    print(f"{path}: {count:,} lines", file=sys.stderr)
    return 0


def copy(args: argparse.Namespace) -> int:
    print(opening.copy(folder.find(args.journal, reading(args)), args.to))
    return 0


def remove(args: argparse.Namespace) -> int:
    chosen = [_journal(folder.find(name, reading(args)), reading(args)) for name in args.journal]
    if args.older_than is not None:
        before = time.time() - args.older_than * 86400
        old = [p for p in folder.journals(reading(args)) if folder.touched(p) < before and not folder.is_live(p)]
        chosen += [p for p in old if p not in chosen]
    elif not chosen:
        raise BtError("which runs?", "name them, or give --older-than DAYS")
    for path in chosen:
        folder.remove(path)
        print(path.stem)
    return 0 if chosen else NOTHING


def _journal(path: Path, runs: Path) -> Path:
    """Returns the path if it is a journal: by its name in the folder of runs, elsewhere by its content. Other files
    raise, and are not removed."""
    ours = path.suffix == SUFFIX and real(path).parent == real(runs)
    if not ours and not opening.is_journal(path):
        raise BtError(
            f"{path} is not a journal, and is not removed", "`btr runs list` shows the journals that are there"
        )
    return path
