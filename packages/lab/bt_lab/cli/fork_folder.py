"""`btr runs fork FOLDER --flip`: every failed run of an evaluation is forked, and the saved ones become lessons."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from bt_runtime.cli import Exit
from bt_runtime.cli.recorded.resume import trusted
from bt_runtime.cli.terminal import printed_apart
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import disk


def wanted(args: argparse.Namespace) -> bool:
    """True for a folder of journals. Raises for options that do not go with it, or that belong to it."""
    if not Path(args.journal).is_dir():
        alone = [name for name in ("anew", "out") if getattr(args, name)]
        if alone:
            raise BtError(f"--{alone[0]} belongs to a folder of runs", "btr runs fork FOLDER --flip")
        return False
    if not args.flip or args.at is not None:
        raise BtError(f"{args.journal} is a folder: its failed runs are forked by flips", "btr runs fork FOLDER --flip")
    return True


def run(args: argparse.Namespace) -> int:
    from bt_lab.forks import lessons
    from bt_lab.forks.forking import How, Interrupted

    def tell(line: str) -> None:
        print(visible(line), file=sys.stderr)

    place = Path(args.journal)
    how = How(args.model, args.memory, (), {}, None, args.changed, args.hz, args.seconds)
    tries = lessons.Tries(args.budget, args.tokens or math.inf, args.anew)
    paths = lessons.journals(place)
    kept = lessons.Kept(args.out or place / lessons.FILE, tries.told(how, args.seed))
    try:
        with printed_apart(args.json):
            for recording in lessons.failed(paths, tell):
                if recording.name not in kept.rows:
                    trusted(recording.path, recording, args.model)
                    kept.add(lessons.tried(recording, how, tries, args.seed))
                    tell(_line(kept.rows[recording.name]))
    except (Interrupted, KeyboardInterrupt):
        tell(f"what has ended is in {kept.path}; the same command goes on")
        return Exit.INTERRUPTED
    return _told(args, list(kept.rows.values()), len(paths))


def _line(row: dict[str, Any]) -> str:
    last = row["flips"][-1] if row["flips"] else {"saved": False}
    saved = f"saved by decision {last['decision']}" if last["saved"] else f"not saved by {len(row['flips'])} flips"
    anew = (
        "" if row["anew"] is None else f"; anew: {'saved' if row['anew']['saved'] else row['anew']['status'].lower()}"
    )
    return f"{row['run']}: {saved}{anew}"


def _told(args: argparse.Namespace, rows: list[dict[str, Any]], runs: int) -> int:
    from bt_lab.forks import lessons

    pairs = [pair for row in rows for pair in row["pairs"]]
    if args.pairs is not None:
        disk.write(args.pairs, [json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs])
        print(f"{args.pairs}: {len(pairs)} pairs; they hold prompts, and all that worlds said", file=sys.stderr)
    found = lessons.shares(rows)
    saved = any(share.saved for share in found)
    if args.json:
        ways = [{"way": s.name, "saved": s.saved, "runs": s.runs, "low": s.rate.low, "high": s.rate.high,
                 "tokens": s.tokens if s.runs else None} for s in found]  # fmt: skip
        print(json.dumps({"runs": runs, "failed": len(rows), "ways": ways, "pairs": len(pairs)}))
        return Exit.SUCCESS if saved or not rows else Exit.FAILURE
    print(f"{runs} runs, {len(rows)} failed and could be forked")
    if rows:
        print(visible(lessons.table(rows)))
    return Exit.SUCCESS if saved or not rows else Exit.FAILURE
