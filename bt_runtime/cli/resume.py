"""`btr resume`: a run that was cut off goes on where it stood."""

from __future__ import annotations

import argparse
import json
import sys

from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.journal import folder
from bt_runtime.journal.reading import Recording
from bt_runtime.playback.resume import finished, resume

SUCCESS, FAILURE, BUDGET, INTERRUPTED = 0, 1, 4, 130


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("journal", metavar="RUN", help="its name, the beginning of it, `last`, or a file")
    parser.add_argument("--model", metavar="FILE", help="the model, where it is now")
    parser.add_argument("--memory", metavar="FILE", help="the memory, where it is now")
    parser.add_argument(
        "--changed", action="store_true", help="go on although model, memory or files are not those that it ran with"
    )
    parser.add_argument("--hz", type=float, help="tick at this rate instead of the run's")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_folder(parser)


def run(args: argparse.Namespace) -> int:
    path = folder.find(args.journal, reading(args))
    for late in folder.after(path) if args.journal == "last" else ():
        print(f"{late.stem}: cut off before it began, nothing was ticked; stepping over it", file=sys.stderr)
    recording = Recording(path)
    if finished(recording):
        return _said(args, recording.name, recording.result, recording.last_tick, "it had ended")
    print(f"{recording.name}: back to tick {recording.last_tick}", file=sys.stderr)
    if recording.damage:
        print(f"damaged: {recording.damage}; on from the last whole decision", file=sys.stderr)
    with resume(path, model=args.model, memory=args.memory, changed=args.changed) as going:
        ended = going.status.name in ("SUCCESS", "FAILURE")
        status = going.status if ended else going.spin(args.hz, args.seconds)
        stopped, timed_out = going.runner.stopped, going.runner.timed_out
        why = "it had ended" if recording.result else stopped or ("time is up" if timed_out else "")
        code = _said(args, going.name, status.name, going.engine.count, why)
    return INTERRUPTED if stopped else BUDGET if timed_out else code


def _said(args: argparse.Namespace, name: str, status: str, ticks: int, why: str) -> int:
    if args.json:
        print(json.dumps({"run": name, "status": status, "ticks": ticks, "why": why}))
    else:
        print(f"{name}: {status} after {ticks} ticks{f' ({why})' if why else ''}")
    return SUCCESS if status == "SUCCESS" else FAILURE
