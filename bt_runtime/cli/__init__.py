"""`btr`: commands, one module each. A module is imported only when its command is asked for."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from bt_runtime.cli.exits import Exit as Exit

TYPE_CHECKING = False
if TYPE_CHECKING:  # `btr --help` waits for none of these, nor for `typing`
    import argparse
    from pathlib import Path

    from bt_runtime.project.trust import Guard

# command → (what --help says, module). A module has `configure(parser)` and `run(args) -> int`.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("Start a project: trees, skills, and something that runs.", "bt_runtime.cli.init"),
    "validate": ("Check trees and skill manifests, and show every fault.", "bt_runtime.cli.validate"),
    "fuzz": ("Try a tree by random cases, and show the smallest that breaks a promise.", "bt_runtime.cli.fuzz"),
    "check": ("Go through every state of a tree, and show how it breaks a promise.", "bt_runtime.cli.check"),
    "run": ("Run a tree, and watch it.", "bt_runtime.cli.run"),
    "demo": ("Watch a small model at work on two tasks; or a tree without a model.", "bt_runtime.cli.demo"),
    "play": ("Play a task of a world in the terminal.", "bt_runtime.cli.play"),
    "tasks": ("Print tasks of a world.", "bt_runtime.cli.tasks"),
    "eval": ("Measure strategies on many tasks of a world.", "bt_runtime.cli.eval"),
    "optimise": ("Let a written plan improve over batches of tasks (AutoPlan).", "bt_runtime.cli.optimise"),
    "memory": ("Look at, add to and repair what was learned from earlier runs.", "bt_runtime.cli.memory"),
    "prompt": ("Show what an agent would ask its model.", "bt_runtime.cli.prompt"),
    "view": ("Show a run in the browser: recorded, or running now.", "bt_runtime.cli.view"),
    "top": ("Show a run that is going on in this terminal.", "bt_runtime.cli.top"),
    "attach": ("Debug a run of another process: breakpoints, steps, why.", "bt_runtime.cli.attach"),
    "why": ("Tell why a node of a recorded run was as it was.", "bt_runtime.cli.why"),
    "runs": ("List, show, compare, export and remove recorded runs.", "bt_runtime.cli.runs"),
    "resume": ("Go on with a run that was cut off.", "bt_runtime.cli.resume"),
    "replay": ("Play a recorded run once more, without model or world.", "bt_runtime.cli.replay"),
    "distill": ("Make a small local model from documents: tokenizer, training, GGUF.", "bt_runtime.cli.distill"),
    "fmt": ("Lay out trees, manifests and project files alike.", "bt_runtime.cli.fmt"),
    "lsp": ("Serve an editor: faults, completion, renaming (started by it).", "bt_runtime.cli.lsp"),
    "render": ("Draw a tree: text, dot, svg or mermaid.", "bt_runtime.cli.render"),
    "import": ("Make a project of a tree of BehaviorTree.CPP.", "bt_runtime.cli.importing"),
    "export": ("Write a tree as XML of BehaviorTree.CPP.", "bt_runtime.cli.exporting"),
    "schema": ("Write the editor's schemas of this project, with its skills.", "bt_runtime.cli.schema"),
    "diff": ("Compare two trees, node by node.", "bt_runtime.cli.diff"),
    "new": ("Write a skill, a tree or a test to go on from.", "bt_runtime.cli.new"),
    "explain": ("Tell what a fault means, or what a kind of node does.", "bt_runtime.cli.explain"),
    "trust": ("Say whose Python may run: a folder's or a journal's.", "bt_runtime.cli.trust"),
    "config": ("Show each setting, its value, and where it comes from.", "bt_runtime.cli.config"),
    "doctor": ("Look at what is installed, and say what to do about the rest.", "bt_runtime.cli.doctor"),
    "completion": ("Print a completion script for bash, zsh or fish.", "bt_runtime.cli.completion"),
}

# These run what a tree names, once its folder is trusted. All others import nothing of a folder: see docs/trust.md.
RUNNING = frozenset(
    {
        "run",
        "fuzz",
        "check",
        "prompt",
        "demo",
        "play",
        "tasks",
        "eval",
        "optimise",
        "resume",
        "replay",
        "why",
        "distill",
    }
)

EPILOG = "Help for one command: btr COMMAND --help. Exits: 0 success, 1 failure or findings, 2 usage or invalid plan, \
3 internal, 4 budget or timeout, 5 nothing selected, 130 interrupted."


def main(argv: list[str] | None = None) -> int:
    """Entry point of the console script; with arguments, one command inside another program."""
    if argv is not None:
        return call(argv)
    gc.disable()  # while starting, and at the exit, there is nothing to collect: a tenth of the time of a short command
    try:
        return call(sys.argv[1:])
    finally:
        gc.freeze()


def call(words: list[str]) -> int:
    """One command: every way in which it can end becomes a line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 must not end a run
    from bt_runtime.cli.terminal import guarded

    streams = (sys.stdout, sys.stderr)
    sys.stdout, sys.stderr = (guarded(stream, "always" in " ".join(words)) for stream in streams)
    try:
        args = parser(words).parse_args(words)
        code = _run(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter complains at its exit
        return Exit.FAILURE
    except Exception as error:
        from bt_runtime.cli.failure import told

        return told(error)
    finally:
        sys.stdout, sys.stderr = streams


def _run(args: argparse.Namespace) -> int:
    from bt_runtime.project import trust

    before, trust.guard = trust.guard, _guard(args.command or "")
    try:
        if args.command in RUNNING:
            import_module("bt_runtime.cli.trust_prompt").kinds()
        gc.enable()
        return int(args.run(args))
    finally:
        trust.guard = before


def _guard(command: str) -> Guard:
    """Stands between a folder and whatever it would have imported or sent."""

    def guard(what: str, folder: Path, sends: bool = False) -> None:
        from bt_runtime.cli import trust_prompt

        (trust_prompt.known if command in RUNNING else trust_prompt.never)(what, folder, sends)

    return guard


def parser(words: list[str]) -> argparse.ArgumentParser:
    """The whole command line, with the options of the one command that is asked for."""
    import argparse

    def formatter(prog: str) -> argparse.HelpFormatter:
        return argparse.HelpFormatter(prog, max_help_position=28 if " " in prog else 16, width=columns())

    top = argparse.ArgumentParser(
        prog="btr",
        description="Behaviour trees in YAML: check, run, watch.",
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=formatter,
    )
    top.add_argument("--version", action="store_true", help="print the version and leave")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", prog="btr")
    asked = next((w for w in words if not w.startswith("-")), None)
    if asked is not None and asked not in COMMANDS:
        from bt_runtime.cli.failure import unknown_command

        raise unknown_command(asked, COMMANDS)
    for name, (text, module) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text, allow_abbrev=False, formatter_class=formatter)
        if name == asked:
            found = import_module(module)
            found.configure(sub)
            sub.set_defaults(run=found.run)
    top.set_defaults(run=lambda args: _bare(top, args))
    return top


def columns() -> int:
    """For help texts; argparse asks for it at every option, and its own way imports `shutil`, which takes long."""
    try:
        return max(40, min(int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns), 100) - 2)
    except (OSError, ValueError):
        return 78


def _bare(top: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    if args.version:
        from bt_runtime import __version__

        print(f"btr {__version__}")
        return Exit.SUCCESS
    top.print_help(sys.stderr)
    return Exit.USAGE
