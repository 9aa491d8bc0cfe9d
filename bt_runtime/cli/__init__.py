"""`btr`: commands, one module each. A module is imported only when its command is asked for."""

from __future__ import annotations

import sys
from importlib import import_module

# command → (what --help says, module). A module has `configure(parser)` and `run(args) -> int`.
COMMANDS: dict[str, tuple[str, str]] = {
    "memory": ("what was learned from earlier runs", "bt_runtime.cli.memory"),
    "play": ("play a task of a world in the terminal", "bt_runtime.cli.play"),
    "replay": ("a recorded run once more, without model or world", "bt_runtime.cli.replay"),
    "resume": ("a run that was cut off goes on", "bt_runtime.cli.resume"),
    "runs": ("the journals of earlier runs", "bt_runtime.cli.runs"),
    "tasks": ("print tasks of a world", "bt_runtime.cli.tasks"),
    "top": ("a running run in the terminal", "bt_runtime.cli.top"),
    "view": ("a run in the browser: recorded, or running now", "bt_runtime.cli.view"),
}


class Exit:
    SUCCESS, FAILURE, USAGE, INTERNAL, BUDGET, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


def main(argv: list[str] | None = None) -> int:
    """Entry point of the console script."""
    import argparse

    words = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(prog="btr", description="Behaviour trees in YAML: check, run, watch.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    asked = next((w for w in words if not w.startswith("-")), None)
    for name, (text, module) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text)
        if name == asked:
            found = import_module(module)
            found.configure(sub)
            sub.set_defaults(run=found.run)
    args = parser.parse_args(words)
    code: int = args.run(args)
    return code
