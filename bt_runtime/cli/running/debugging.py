"""`btr run --break`: a prompt at each pause, in its own thread. `btr run --debug`: a socket for `btr attach`."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from bt_runtime.cli.tree_argument import found
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import disk
from bt_runtime.run.debug.debugger import debugger_of

if TYPE_CHECKING:
    from bt_runtime.events import Debugged
    from bt_runtime.run.run import Run

PROMPT = "(btr) "
MOST_FILE = 64_000  # bytes of a replacement that is read from a file


def add_debugging(parser: argparse.ArgumentParser) -> None:
    where = "pause before this node (or: 'PATH MOMENT if EXPR'), with a prompt; may be given again"
    parser.add_argument("--break", dest="break_at", metavar="PATH", action="append", default=[], help=where)
    parser.add_argument("--debug", action="store_true", help="let `btr attach` in, for this user only")
    parser.add_argument("--watch", action="store_true", help="take what is edited in its files while it runs")
    parser.add_argument(
        "--pause", type=float, metavar="S", help="seconds that a pause may last without a command; default: 60"
    )
    then = "what becomes of the run after that; default: continue"
    parser.add_argument("--pause-then", choices=("continue", "halt"), help=then)


@contextmanager
def debugged(run: Run, args: argparse.Namespace) -> Iterator[None]:
    """Attaches the debugger to the run within `with`, if an option asks for it."""
    if not (args.break_at or args.debug or args.pause or args.pause_then or args.watch):
        yield
        return
    from bt_runtime.run.debug.commands import do, parsed
    from bt_runtime.run.replay.stepping import stepping

    with ExitStack() as stack:
        stack.enter_context(stepping(run))
        if args.debug:
            from bt_runtime.run.debug.door import Door

            door = Door(run, run.parts.name, limit=args.pause, then=args.pause_then)
            stack.callback(door.close)
            print(f"debug: btr attach {run.parts.name}", file=sys.stderr, flush=True)
        if args.watch:
            from bt_runtime.run.debug.file_watch import FileWatch
            from bt_runtime.run.run import load

            stack.callback(FileWatch(run, lambda: load(found(args.tree))).close)
        if args.break_at or not (args.debug or args.watch):
            debugger = debugger_of(run)
            debugger.pause_of.author(args.pause, args.pause_then)
        if args.break_at:
            debugger.look()
            for where in args.break_at:
                answer: Any = do(debugger, *parsed(f"break {where}"))
                said(answer["said"])
            stack.callback(DebugPrompt(run, sys.stdin).close)
        yield


class DebugPrompt:
    """Asks the person at the terminal at each pause. At the end of input, the person counts as gone."""

    def __init__(self, run: Run, lines: TextIO) -> None:
        from bt_runtime.events import Debugged

        self.debugger, self.lines = debugger_of(run), lines
        self.paused = threading.Event()
        self.over = False
        self.unhear = run.listen(self._heard, Debugged)
        self.thread = threading.Thread(target=self._ask, name="bt-prompt", daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.over = True
        self.unhear()
        self.paused.set()

    def _heard(self, event: Debugged) -> None:
        if event.what != "changed":  # the log has said that
            said(f"{event.what}: {event.text}")
        if event.what == "paused":
            self.paused.set()

    def _ask(self) -> None:
        while not self.over:
            self.paused.wait()
            self.paused.clear()
            while self.debugger.paused and not self.over:
                print(PROMPT, end="", file=sys.stderr, flush=True)
                line = self.lines.readline()
                if not line:
                    with suppress(BtError):
                        self.debugger.leave([point.number for point in self.debugger.breakpoints])
                    return
                if line.strip() and self._do(line):
                    break  # until the next pause

    def _do(self, line: str) -> bool:
        """Carries out one typed command; True when the command ends the pause."""
        from bt_runtime.run.debug.commands import do, leaves

        try:
            name, given = typed(line)
            gone = leaves(name, given)
            if gone:
                self.paused.clear()  # what is told from here on is the next one
            answer: Any = do(self.debugger, name, given)
            said(str(answer["said"]))
        except BtError as error:
            said(error.message + (f"\n  help: {error.hint}" if error.hint else ""))
            return False
        return gone


def said(text: str) -> None:
    print("\n".join(visible(line) for line in text.split("\n")), file=sys.stderr, flush=True)


def typed(line: str) -> tuple[str, dict[str, Any]]:
    """Parses a typed line into a command; the YAML of a replacement is read from a file."""
    from bt_runtime.run.debug.commands import parsed

    words = line.split()
    if words[0] not in ("replace", "check"):
        return parsed(line)
    if len(words) != 3:
        raise BtError(f"`{words[0]}` needs a path and a file", f"{words[0]} /patrol/dock dock.yaml")
    try:
        text = disk.read_text(Path(words[2]), MOST_FILE)
    except (OSError, UnicodeError) as error:
        raise BtError(f"{words[2]} cannot be read: {error}", "name a file of YAML") from error
    return words[0], {"path": words[1], "text": text}
