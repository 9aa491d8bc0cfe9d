"""`btr resume`: a run that was cut off goes on where it stood."""

from __future__ import annotations

import argparse
import json
import sys

from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.diagnose_format import visible
from bt_runtime.journal import folder
from bt_runtime.journal.reading import Recording
from bt_runtime.playback.resume import resume

SUCCESS, FAILURE, BUDGET, INTERRUPTED = 0, 1, 4, 130


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("journal", metavar="RUN", help="its name, the beginning of it, `last`, or a file")
    parser.add_argument("--model", help="a model file instead of the one that the run had")
    parser.add_argument("--hz", type=float, help="tick at this rate instead of the run's")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_folder(parser)


def run(args: argparse.Namespace) -> int:
    path = folder.find(args.journal, reading(args))
    recording = Recording(path)
    if recording.result:
        return _said(args, recording.name, recording.result, recording.last_tick, "it had ended")
    print(visible(f"{recording.name}: back to tick {recording.last_tick}"), file=sys.stderr)
    if recording.damage:
        print(visible(f"damaged: {recording.damage}; on from the last whole decision"), file=sys.stderr)
    with resume(path, model=args.model) as going:
        ended = going.status.name in ("SUCCESS", "FAILURE")
        status = going.status if ended else going.spin(args.hz, args.seconds)
        stopped, timed_out = going.runner.stopped, going.runner.timed_out
        code = _said(args, going.name, status.name, going.engine.count, stopped or ("time is up" if timed_out else ""))
    return INTERRUPTED if stopped else BUDGET if timed_out else code


def _said(args: argparse.Namespace, name: str, status: str, ticks: int, why: str) -> int:
    if args.json:
        print(json.dumps({"run": name, "status": status, "ticks": ticks, "why": why}))
    else:
        print(visible(f"{name}: {status} after {ticks} ticks{f' ({why})' if why else ''}"))
    return SUCCESS if status == "SUCCESS" else FAILURE
