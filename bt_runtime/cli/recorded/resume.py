"""`btr runs resume`: continues a run that was interrupted."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from py_trees.common import Status

from bt_runtime.cli.exits import Exit
from bt_runtime.cli.failure import say
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.cli.running import person
from bt_runtime.cli.running.log_lines import LogLines
from bt_runtime.cli.running.result import recorded
from bt_runtime.cli.running.watch import printed
from bt_runtime.cli.setup import trust_prompt
from bt_runtime.cli.terminal import printed_apart
from bt_runtime.events import Notice
from bt_runtime.journal import folder, outage
from bt_runtime.journal.reading import Recording
from bt_runtime.language.faults.diagnostic import Faults
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import trust
from bt_runtime.llm.server import key
from bt_runtime.run.debug.debugger import debugging
from bt_runtime.run.replay import rebuild
from bt_runtime.run.replay.resume import finished, resume
from bt_runtime.run.run import Run
from bt_runtime.tree.describe.blame import Blame, blame

NOT_BEGUN = "NOT_BEGUN"  # the status of a run that was cut off before it began
_WHOLE = Blame("", "")  # no node has failed


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("journal", metavar="RUN", help="its name, the beginning of it, `last`, or a file")
    parser.add_argument("--model", metavar="FILE", help="where the model is now, if it has moved since")
    parser.add_argument("--memory", metavar="FILE", help="the memory, where it is now")
    parser.add_argument(
        "--changed", action="store_true", help="go on although model, memory or files are not those that it ran with"
    )
    parser.add_argument("--take-back", action="store_true", help="undo what a debugger had forced or replaced in it")
    parser.add_argument("--hz", type=float, help="tick at this rate instead of the run's")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--slow", type=float, metavar="S", help="name a node that holds a tick so long [default: 0.5]")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_folder(parser)
    parser.epilog = (
        "Exits: 0 success, 1 failure, 4 time is up, 5 nothing to resume: the run was cut off before it began, and "
        "nothing was done, 130 interrupted."
    )


def run(args: argparse.Namespace) -> int:
    try:
        return _resumed(args)
    except folder.NothingBegun as nothing:
        if args.json:
            told = {"run": args.journal, "status": NOT_BEGUN, "ticks": 0, "why": nothing.message}
            print(json.dumps(told))
        say("nothing to resume", nothing.message, nothing.hint)
        return Exit.NOTHING


def _resumed(args: argparse.Namespace) -> int:
    path = folder.find(args.journal, reading(args))
    for late in folder.after(path) if args.journal == "last" else ():
        print(f"{late.stem}: cut off before it began, nothing was ticked; stepping over it", file=sys.stderr)
    recording = Recording(path)
    if finished(recording):
        return _said(args, recording.name, recording.result, recording.last_tick, "it had ended")
    print(visible(f"{recording.name}: back to tick {recording.last_tick}"), file=sys.stderr)
    if (broken := outage.marked(path)) is not None:
        print(visible(f"{broken}; on from there"), file=sys.stderr)
    if recording.damage:
        where = "the last whole decision" if recording.torn else "its end: all that was done is known"
        print(visible(f"damaged: {recording.damage}; on from {where}"), file=sys.stderr)
    asked = trusted(path, recording, args.model)
    key.named(args.model)
    services = {"person": person.AtTerminal()} if "person" in recording.head["given"].get("services", ()) else {}
    with (
        printed_apart(args.json),
        resume(path, model=args.model, memory=args.memory, services=services, changed=args.changed) as going,
    ):
        going.listen(LogLines(printed, "warning").log, Notice)
        _debugged(going, args.take_back)
        if args.slow is not None and going.parts.engine.watchdog is not None:
            going.parts.engine.watchdog.seconds = args.slow
        status = going.spin(args.hz, args.seconds)
        stopped, timed_out = going.parts.runner.stopped, going.parts.runner.timed_out
        why = "it had ended" if recording.result else stopped or ("time is up" if timed_out else "")
        count = going.parts.engine.count
        failed = blame(going.parts.engine.root) if status is Status.FAILURE else _WHOLE
    code = _said(args, going.parts.name, status.name, count, why, failed)
    if asked:
        trust.remember(path)  # the journal as it is now
    return recorded(going, Exit.INTERRUPTED if stopped else Exit.BUDGET if timed_out else code)


def _debugged(going: Run, take_back: bool) -> None:
    """Undoes or keeps the changes that a debugger made; the debugger itself ended with the interruption."""
    debugger = debugging(going)
    if debugger is None or not debugger.changes:
        return
    changes = "; ".join(debugger.take_back() if take_back else debugger.changes)
    said = "undone" if take_back else "a debugger had changed this run, and that still holds (--take-back undoes it)"
    print(visible(f"{said}: {changes}"), file=sys.stderr)


def trusted(path: Path, recording: Recording, model: str | None) -> bool:
    """Asks about a journal from elsewhere, when it names what would be run or where something would be sent."""
    head = {**recording.head, **({"model": None} if model else {})}
    with ExitStack() as stack:
        try:
            _, tree = stack.enter_context(rebuild.recorded_tree(recording))
        except Faults:
            tree = None  # resume says why
        return trust_prompt.journal(path, head, tree)


def _said(args: argparse.Namespace, name: str, status: str, ticks: int, why: str, failed: Blame = _WHOLE) -> int:
    if args.json:
        row = {"run": name, "status": status, "ticks": ticks, "why": why, "path": failed.path, "reason": failed.why}
        print(json.dumps(row))
    else:
        print(visible(f"{name}: {status} after {ticks} ticks{f' ({why})' if why else ''}"))
    return Exit.SUCCESS if status == "SUCCESS" else Exit.FAILURE
