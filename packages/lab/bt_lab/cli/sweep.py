"""`btr runs fork --sweep` and `--flip`: many forks of one run, in a table."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from bt_lab.cli import fork_folder
from bt_runtime.cli import Exit
from bt_runtime.cli.journals import reading
from bt_runtime.cli.options import Options
from bt_runtime.cli.recorded.fork import services_of
from bt_runtime.cli.recorded.resume import trusted
from bt_runtime.cli.terminal import printed_apart
from bt_runtime.journal import folder
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import disk
from bt_runtime.llm.server import key
from bt_runtime.run.replay import rebuild
from bt_runtime.run.replay.fork import moment, outlives
from bt_runtime.run.replay.refit import CannotResume

SEEDS = 5
FLIPS = 10


def configure(parser: argparse.ArgumentParser) -> None:
    many = parser.add_argument_group("many forks, none of which is kept")
    text = "try each edit of a file with several seeds, and name the smallest edit that saves the run"
    many.add_argument("--sweep", type=Path, metavar="FILE", help=text)
    many.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"forks of each edit [default: {SEEDS}]")
    text = "change one decision at a time, the one with the smallest margin first, and tell which change saves the run"
    many.add_argument("--flip", action="store_true", help=text)
    many.add_argument("--budget", type=int, default=FLIPS, metavar="N", help=f"flips at most [default: {FLIPS}]")
    text = "flip until the models have computed so many tokens; of a folder: for each run"
    many.add_argument("--tokens", type=int, metavar="N", help=text)
    text = "of a folder: start each failed run anew too, and give its flips as many tokens as that took"
    many.add_argument("--anew", action="store_true", help=text)
    text = "of a folder: the file that keeps what was tried [default: forks.jsonl in it]"
    many.add_argument("--out", type=Path, metavar="FILE", help=text)
    text = "write what saved forks answered where the run answered otherwise, as preference pairs"
    many.add_argument("--pairs", type=Path, metavar="FILE", help=text)


class _Sweep(Options):
    def configure(self, parser: argparse.ArgumentParser) -> None:
        configure(parser)

    def instead(self, args: argparse.Namespace) -> int | None:
        many, of_folder = wanted(args), fork_folder.wanted(args)
        if of_folder:
            key.named(args.model)
            return fork_folder.run(args)
        if not many:
            return None
        path = folder.find(args.journal, reading(args))
        recording = Recording(path)
        trusted(path, recording, args.model)
        key.named(args.model)
        return run(args, path, services_of(recording))


OPTIONS = _Sweep()


def wanted(args: argparse.Namespace) -> bool:
    """True for a sweep or flips. Raises for options that do not go with them."""
    if args.sweep is None and not args.flip:
        if args.pairs is not None or args.tokens is not None:
            name = "tokens" if args.pairs is None else "pairs"
            raise BtError(f"--{name} belongs to many forks", "add --sweep FILE or --flip")
        return False
    if args.sweep is not None and args.flip:
        raise BtError("--sweep and --flip are two questions", "ask one, then the other")
    other = [n for n in ("dry", "anyway", "set", "force", "replace", "prompt", "strategy") if getattr(args, n)]
    if args.sweep is not None and args.seed is not None:
        other.append("seed")
    if other:
        hint = "write the edit into the file" if args.sweep else "fork first, then flip decisions of the fork"
        raise BtError(f"--{other[0]} does not go with {'--sweep' if args.sweep else '--flip'}", hint)
    if args.sweep is not None and args.at is None:
        raise BtError("name the moment to fork at", "--sweep FILE --at 12 (a tick), or --at decision:3")
    if args.seeds < 1 or args.budget < 1 or (args.tokens is not None and args.tokens < 1):
        raise BtError("--seeds, --budget and --tokens are at least 1", "leave them out")
    if args.tokens is not None and not args.flip:
        raise BtError("--tokens belongs to flips", "add --flip")
    return True


def run(args: argparse.Namespace, path: Path, services: dict[str, Any]) -> int:
    from bt_lab.forks.forking import Forking, How, Interrupted

    recording = Recording(path)
    if lasting := outlives(recording):
        hint = "one fork of it, without effects: --dry"
        raise CannotResume(f"{recording.name} cannot be brought back to a moment again and again: {lasting}", hint)
    how = How(args.model, args.memory, (), services, None, args.changed, args.hz, args.seconds)
    try:
        with printed_apart(args.json), Forking(path, how) as forking:
            told = _swept(args, recording, forking) if args.sweep else _flipped(args, recording, forking)
            rows = list(forking.pairs.values())
    except Interrupted:
        return Exit.INTERRUPTED
    if args.pairs is not None:
        disk.write(args.pairs, [json.dumps(row, ensure_ascii=False) + "\n" for row in rows])
        print(f"{args.pairs}: {len(rows)} pairs; they hold prompts, and all that worlds said", file=sys.stderr)
    for line in [json.dumps(told["json"], ensure_ascii=False)] if args.json else told["text"].splitlines():
        print(visible(line))
    return Exit.SUCCESS if told["saved"] else Exit.FAILURE


def _progress(line: str) -> None:
    print(visible(line), file=sys.stderr)


def _swept(args: argparse.Namespace, recording: Recording, forking: Any) -> dict[str, Any]:
    from bt_lab.forks import edit_file
    from bt_lab.forks.sweep import smallest, sweep, table

    with rebuild.recorded_tree(recording) as (_, tree):
        edits = edit_file.read(args.sweep, tree.spec, recording)
    found = sweep(forking, args.at, edits, args.seeds, _progress)
    best = smallest(found)
    last = f"the smallest edit that saves the run: {best.name}" if best else "no edit saves the run"
    rows = [{"name": t.name, "changes": t.size, "passed": t.passed, "forks": t.forks, "low": t.rate.low,
             "high": t.rate.high} for t in found]  # fmt: skip
    kept = {"run": recording.name, "edits": rows, "smallest": best.name if best else None}
    return {"text": f"{table(found)}\n{last}", "json": kept, "saved": best is not None}


def _flipped(args: argparse.Namespace, recording: Recording, forking: Any) -> dict[str, Any]:
    from bt_lab.forks.flip import doubts, flips, table

    first = moment(recording, args.at).events if args.at is not None else 0
    every = doubts(recording, first)
    if not every:
        raise BtError(f"{recording.name} made no decision between several options", "try edits: --sweep FILE --at TICK")
    found = list(flips(forking, every[: args.budget], args.seed, _progress, args.tokens or math.inf))
    saving = [flip for flip in found if flip.played.passed]
    limit = "--budget" if len(found) == args.budget else "--tokens"
    left = f"; not flipped: {len(every) - len(found)} ({limit})" if len(every) > len(found) else ""
    best = saving[0] if saving else None
    last = f"no flip of {len(found)} saves the run{left}"
    if best is not None:
        said = f"`{best.instead.strip()}` instead of `{best.doubt.answer.strip()}`"
        last = f"{len(saving)} of {len(found)} flips save the run: decision {best.doubt.number}, {said}{left}"
    rows = [{"decision": d.number, "tick": d.tick, "margin": None if d.margin != d.margin else d.margin,
             "node": d.path, "answer": d.answer, "instead": instead, "saved": played.passed}
            for d, instead, played in found]  # fmt: skip
    kept = {"run": recording.name, "decisions": len(every), "flips": rows,
            "saved_by": best.doubt.number if best else None}  # fmt: skip
    return {"text": f"{table(found)}\n{last}", "json": kept, "saved": bool(saving)}
