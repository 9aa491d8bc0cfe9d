"""`btr attach`: the debugger's prompt for a run of another process. The run continues when the prompt ends."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from typing import Any

from bt_runtime.cli import Exit
from bt_runtime.cli.running.debugging import PROMPT, said, typed
from bt_runtime.debug import client
from bt_runtime.debug.client import Attached
from bt_runtime.debug.commands import COMMANDS
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.faults.format import visible

ANSWER = 10.0  # seconds that a piped command's answer may take once standard input has ended
MOST_PIPED = 100_000  # commands of one prompt


def configure(parser: argparse.ArgumentParser) -> None:
    about = "its name, the beginning of it, or a socket; default: last. It was started with `btr run --debug`"
    parser.add_argument("run_name", nargs="?", default="last", metavar="RUN", help=about)
    once = "do this and leave; may be given again. After `step`, `over` and the like it waits for the pause"
    parser.add_argument("-c", dest="commands", metavar="COMMAND", action="append", default=[], help=once)
    parser.add_argument("--json", action="store_true", help="print what the run says as JSON Lines")


def run(args: argparse.Namespace) -> int:
    attached = client.attached(args.run_name)
    try:
        if args.commands:
            return _each(attached, args.commands, args.json)
        return _prompt(attached, args.json)
    finally:
        attached.close()


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
                word = COMMANDS.get(name)
                if word is None or not word.leaves or name in ("continue", "halt"):
                    break
                waits = {"news"}
            elif "news" in waits and message.get("news") in ("paused", "ended"):
                break
        else:
            return Exit.FAILURE  # the run has gone
    return code


def _prompt(attached: Attached, as_json: bool) -> int:
    over, answered = threading.Event(), threading.Semaphore(0)

    def listen() -> None:
        for message in attached.messages():
            _told(message, as_json)
            if "done" in message or "error" in message:
                answered.release()
        over.set()
        answered.release(MOST_PIPED)
        print("the run has gone; Enter leaves", file=sys.stderr, flush=True)

    threading.Thread(target=listen, name="bt-attach", daemon=True).start()
    sent, ended = 0, False
    while not over.is_set() and sent < MOST_PIPED:
        print(PROMPT, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        ended = not line
        if ended or line.strip() in ("quit", "exit", "detach"):
            break
        if not line.strip():
            continue
        try:
            attached.send(*typed(line))
            sent += 1
        except BtError as error:
            said(error.message)
        except OSError:
            break
    for _ in range(sent if ended and not sys.stdin.isatty() else 0):  # commands from a pipe: their answers come first
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
