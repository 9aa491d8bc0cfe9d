"""`btr attach`: the debugger's prompt for a run of another process, or for the past of a recorded one. A run continues
when the prompt ends."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bt_runtime.cli import Exit
from bt_runtime.cli.journals import add_folder, reading
from bt_runtime.cli.running.debugging import PROMPT, said, typed
from bt_runtime.events import Debugged
from bt_runtime.journal import folder
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.run.debug import client
from bt_runtime.run.debug.client import Attached
from bt_runtime.run.debug.commands import leaves

ANSWER = 10.0  # seconds that a piped command's answer may take once standard input has ended
LEAVING = ("quit", "exit", "detach")
MOST_PIPED = 100_000  # commands of one prompt


def configure(parser: argparse.ArgumentParser) -> None:
    about = (
        "its name, the beginning of it, a socket or a journal; default: last. One that goes on was started with --debug"
    )
    parser.add_argument("run_name", nargs="?", default="last", metavar="RUN", help=about)
    once = "do this and leave; may be given again. After `step`, `over` and the like it waits for the pause"
    parser.add_argument("-c", dest="commands", metavar="COMMAND", action="append", default=[], help=once)
    parser.add_argument("--json", action="store_true", help="print what the run says as JSON Lines")
    add_folder(parser)


def run(args: argparse.Namespace) -> int:
    try:
        attached = client.attached(args.run_name)
    except BtError:
        if (path := _journal(args)) is None:
            raise
        return _recorded(path, args.commands, args.json)
    try:
        if args.commands:
            return _each(attached, args.commands, args.json)
        return _prompt(attached, args.json)
    finally:
        attached.close()


def _journal(args: argparse.Namespace) -> Path | None:
    """Returns the journal of this name, for a run that nobody can attach to."""
    with suppress(BtError):
        return folder.find(args.run_name, reading(args))
    return None


def _recorded(path: Path, commands: list[str], as_json: bool) -> int:
    """Looks at a recorded run: the prompt's commands, and after `fork` those of the fork."""
    from bt_runtime.cli.recorded.resume import trusted
    from bt_runtime.run.debug.commands import do
    from bt_runtime.run.replay.stepping import recorded

    paused, code = threading.Event(), Exit.SUCCESS

    def heard(event: Debugged) -> None:
        _told({"news": event.what, "path": event.path, "text": event.text}, as_json)
        if event.what == "paused":
            paused.set()

    with recorded(path, lambda recording: trusted(path, recording, None)) as debugger:
        debugger.context.stream.listen(heard, Debugged)
        said(f"{path.stem}: a recorded run, at tick {debugger.engine.count}")
        for line in commands or _lines():
            try:
                name, given = typed(line)
                paused.clear()
                _told({"done": name, "answer": do(debugger, name, given)}, as_json)
                if leaves(name, given):
                    paused.wait()
            except BtError as error:
                _told({"error": error.message, "hint": error.hint}, as_json)
                code = Exit.FAILURE if commands else code
    return code


def _lines() -> Iterator[str]:
    """Yields what is typed until the person leaves."""
    while True:
        print(PROMPT, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line or line.strip() in LEAVING:
            return
        if line.strip():
            yield line


def _each(attached: Attached, commands: list[str], as_json: bool) -> int:
    """Carries out commands one after another; after one that resumes the run, waits for the next pause."""
    messages, code = attached.messages(), Exit.SUCCESS
    for line in commands:
        name, given = typed(line)
        attached.send(name, given)
        waits = {"done", "error"}
        for message in messages:
            _told(message, as_json)
            if "error" in message:
                code = Exit.FAILURE
                break
            if "done" in message:
                if not leaves(name, given) or name in ("continue", "halt"):
                    break
                waits = {"news"}
            elif "news" in waits and message.get("news") in ("paused", "ended"):
                break
        else:
            return Exit.FAILURE  # the run has gone
    return code


def _prompt(attached: Attached, as_json: bool) -> int:
    over, answered = threading.Event(), threading.Semaphore(0)
    attached.socket.settimeout(None)  # a run may have nothing to say for long

    def listen() -> None:
        for message in attached.messages():
            _told(message, as_json)
            if "done" in message or "error" in message:
                answered.release()
        over.set()
        answered.release(MOST_PIPED)
        print("the run has gone; Enter leaves", file=sys.stderr, flush=True)

    threading.Thread(target=listen, name="bt-attach", daemon=True).start()
    sent = 0
    for line in _lines():
        if over.is_set() or sent >= MOST_PIPED:
            break
        try:
            attached.send(*typed(line))
            sent += 1
        except BtError as error:
            said(error.message)
        except OSError:
            break
    for _ in range(0 if sys.stdin.isatty() else sent):  # commands from a pipe: their answers come first
        if not answered.acquire(timeout=ANSWER):
            break
    return Exit.SUCCESS


def _told(message: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(message), flush=True)
        return
    answer = message.get("answer")
    if isinstance(answer, dict):
        text = str(answer.get("said", ""))
    elif "error" in message:
        text = str(message["error"]) + (f"\n  help: {message['hint']}" if message.get("hint") else "")
    elif message.get("news") == "attached":
        state = message.get("status") or {}
        text = f"attached: tick {state.get('tick')}, {'paused' if state.get('paused') else 'going on'}"
    else:
        text = f"{message.get('news')}: {message.get('text')}"
    print("\n".join(visible(line) for line in text.split("\n")), flush=True)
