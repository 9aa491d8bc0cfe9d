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
    from typing import Any

    from bt_runtime.language.project.plugins import Entry
    from bt_runtime.language.project.trust import TrustGuard

# command → (what --help says, module). A module has `configure(parser)` and `run(args) -> int`. `+author`: the command
# comes with that extra, by an entry point. "": only a name for what `WORDS` has. Each group has a title.
GROUPS: tuple[tuple[str, dict[str, tuple[str, str]]], ...] = (
    (
        "Author trees",
        {
            "init": ("Start a project: trees, skills, and something that runs.", "authoring.init"),
            "new": ("Write a skill, a tree or a test to go on from.", "+author"),
            "validate": ("Check trees and skill manifests, and show every fault.", "authoring.validate"),
            "check": ("Go through every state of a tree, and show how it breaks a promise.", "+author"),
            "fuzz": ("Try a tree by random cases, and show the smallest that breaks a promise.", "authoring.fuzz"),
            "edit": ("Make and change trees in the browser.", "+author"),
            "fmt": ("Lay out trees, manifests and project files alike.", "authoring.fmt"),
            "plan": ("Make a tree that reaches a goal, from what skills need and bring, without a model.",
                     "authoring.plan"),
            "skills": ("Suggest what skills could say that they need and bring.", "+author"),
            "explain": ("Tell what a fault means, or what a kind of node does.", "authoring.explain"),
            "import": ("Make a project of BehaviorTree.CPP or py_trees, or skills of tools.", "authoring.importing"),
            "export": ("Write a tree as XML of BehaviorTree.CPP, or skills as tools.", "authoring.exporting"),
            "serve": ("Serve an editor (lsp) or an assistant (mcp), which start it.", ""),
        },
    ),
    (
        "Run and look",
        {
            "run": ("Run a tree, and watch it.", "running.run"),
            "demo": ("Watch a small model at work on two tasks; or a tree without a model.", "running.demo"),
            "attach": ("Debug a run of another process: breakpoints, steps, why.", "running.attach"),
            "view": ("Show a run in the browser, recorded or running now; a tree (render, diff), a prompt, `top`.",
                     "running.view"),
            "runs": ("Recorded runs: list, show, diff, export, copy, rm; why, resume, fork, replay, compile.",
                     "recorded.runs"),
        },
    ),
    (
        "Agents, fleets",
        {
            "memory": ("Look at, add to and repair what was learned from earlier runs.", "agents.memory"),
            "lab": ("Measure and train: eval, tasks, play, optimise, distill, finetune.", ""),
            "fleet": ("Send trees to many robots, and look at them: up, join, send, ls, show.", "+fleet"),
        },
    ),
    (
        "Settings and trust",
        {
            "trust": ("Say whose Python may run: a folder's or a journal's.", "setup.trust"),
            "config": ("Show each setting, its value, and where it comes from; completion, schema.", "setup.config"),
            "doctor": ("Look at what is installed, and say what to do about the rest.", "setup.doctor"),
        },
    ),
)  # fmt: skip
# the words of a command that are commands of their own, as above
WORDS: dict[str, dict[str, tuple[str, str]]] = {
    "serve": {
        "lsp": ("Serve an editor: faults, completion, renaming (started by it).", "+lsp"),
        "mcp": ("Serve an assistant: it authors, checks and tries trees (MCP).", "+mcp"),
    },
    "view": {
        "render": ("Draw a tree: text, dot, svg, pdf or mermaid.", "authoring.render"),
        "diff": ("Compare two trees, node by node.", "authoring.diff"),
        "prompt": ("Show what an agent would ask its model.", "agents.prompt"),
        "top": ("Show a run that is going on in this terminal.", "running.top"),
    },
    "runs": {
        "why": ("Tell why a node of a recorded run was as it was.", "recorded.why"),
        "resume": ("Go on with a run that was cut off.", "recorded.resume"),
        "fork": ("Go on from a moment of a recorded run, with something changed.", "recorded.fork"),
        "replay": ("Play a recorded run once more, without model or world.", "recorded.replay"),
        "compile": ("Make a tree of recorded runs, that works without a model where it can.", "recorded.compile"),
    },
    "lab": {
        "eval": ("Measure strategies on many tasks of a world.", "+lab"),
        "tasks": ("Print tasks of a world.", "agents.tasks"),
        "play": ("Play a task of a world in the terminal.", "+lab"),
        "optimise": ("Let a written plan improve over batches of tasks (AutoPlan).", "+lab"),
        "distill": ("Make a small local model from documents: tokenizer, training, GGUF.", "+lab"),
        "finetune": ("Teach a local model your recorded runs: an adapter as a GGUF file.", "+lab"),
    },
    "config": {
        "schema": ("Write the editor's schemas of this project, with its skills.", "authoring.schema"),
        "completion": ("Print a completion script for bash, zsh or fish.", "setup.completion"),
    },
}
COMMANDS: dict[str, tuple[str, str]] = {
    **{name: about for _, commands in GROUPS for name, about in commands.items()},
    **{f"{name} {word}": about for name, words in WORDS.items() for word, about in words.items()},
}
# what these commands were called before they were words of another
EARLIER = {word: f"{name} {word}" for name, words in WORDS.items() for word in words}

# These run what a tree names, once its folder is trusted. All others import nothing of a folder: see docs/trust.md.
RUNNING = frozenset(
    {
        "run",
        "demo",
        "fuzz",
        "check",
        "view prompt",
        "runs why",
        "runs resume",
        "runs fork",
        "runs replay",
        "runs compile",
        "lab eval",
        "lab tasks",
        "lab play",
        "lab optimise",
        "lab distill",
    }
)

EPILOG = (
    "Help for one command: btr COMMAND --help. Commands of plugins: btr doctor. Exits: 0 success, 1 failure or "
    "findings, 2 usage or invalid plan, 3 internal, 4 budget or timeout, 5 nothing selected, 130 interrupted."
)


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
    """Runs one command; every end becomes a line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 must not end a run
    from bt_runtime.cli.terminal import guarded

    streams = (sys.stdout, sys.stderr)
    sys.stdout, sys.stderr = (guarded(stream, "always" in " ".join(words)) for stream in streams)
    try:
        args = parser(words).parse_args(joined(words))
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
    from bt_runtime.language.project import beside, trust

    name = args.command or ""
    runs_trees = name in RUNNING or (name not in COMMANDS and name and getattr(found(name), "runs_trees", False))
    before, trust.guard = trust.guard, _guard(bool(runs_trees))
    try:
        with beside(_first_file(args)):
            if runs_trees:
                import_module("bt_runtime.cli.setup.trust_prompt").kinds()
            gc.enable()
            return int(args.run(args))
    finally:
        trust.guard = before


def _first_file(args: argparse.Namespace) -> Path:
    """Returns the file or folder that a command is about, else the working directory; the command uses that place's
    project."""
    from pathlib import Path

    named = getattr(args, "tree", None) or getattr(args, "files", None) or ()
    first = str(named if isinstance(named, str | Path) else next(iter(named), "."))
    try:
        return Path(first) if Path(first).exists() else Path.cwd()
    except (OSError, ValueError):  # no file can be called so, which the command tells
        return Path.cwd()


def _guard(runs_trees: bool) -> TrustGuard:
    """Sets the trust check: the function that decides whether a folder's code may be imported or its data sent."""

    def guard(what: str, folder: Path, sends: bool = False) -> None:
        from bt_runtime.cli.setup import trust_prompt

        (trust_prompt.known if runs_trees else trust_prompt.never)(what, folder, sends)

    return guard


def joined(words: list[str]) -> list[str]:
    """Returns the words with a command of two as one word: `runs why`."""
    at = next((n for n, word in enumerate(words) if not word.startswith("-")), len(words))
    both = " ".join(words[at : at + 2])
    return [*words[:at], both, *words[at + 2 :]] if both in COMMANDS and len(words) > at + 1 else words


def parser(words: list[str]) -> argparse.ArgumentParser:
    """Builds the parser of `joined(words)`, with the options of the requested command only."""
    import argparse

    def formatter(prog: str) -> argparse.HelpFormatter:
        return argparse.HelpFormatter(prog, max_help_position=28 if " " in prog else 16, width=columns())

    def raw(prog: str) -> argparse.HelpFormatter:
        return argparse.RawDescriptionHelpFormatter(prog, width=columns())

    words = joined(words)
    asked = next((w for w in words if not w.startswith("-")), None)
    top = argparse.ArgumentParser(
        prog="btr",
        usage="btr [-h] [--version] COMMAND ...",
        description="Behaviour trees in YAML: check, run, watch.",
        epilog=f"{_listing()}\n\n{_filled(EPILOG)}" if asked is None else "",
        allow_abbrev=False,
        formatter_class=raw,
    )
    top.add_argument("--version", action="store_true", help="print the version and leave")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", prog="btr", help=argparse.SUPPRESS)
    listed = {name: text for name, (text, _) in COMMANDS.items()}
    if asked is not None and asked not in COMMANDS:
        listed |= of_plugins()
        if asked not in listed:
            from bt_runtime.cli.failure import unknown_command

            raise unknown_command(asked, listed, EARLIER)
    for name in listed if asked is None else [asked]:
        text = listed[name]
        sub = commands.add_parser(name, description=text, allow_abbrev=False, formatter_class=formatter)
        if name == asked:
            command = found(name)
            vars(sub)["helped"] = not {"-h", "--help"}.isdisjoint(words)
            command.configure(sub)
            sub.set_defaults(run=command.run)
            if asked in WORDS:
                further = "; ".join(f"btr {asked} {word}: {text}" for word, (text, _) in WORDS[asked].items())
                sub.epilog = " ".join(filter(None, [sub.epilog, f"Further: {further}"]))
    top.set_defaults(run=lambda args: _bare(top, args))
    return top


def found(name: str) -> Any:
    """Imports a command of ours, or of a plugin: a module or an object with `configure(parser)` and `run(args)`.
    Raises MissingExtra when the package that brings it is not installed."""
    module = COMMANDS[name][1] if name in COMMANDS else "+"
    if not module:
        return _Words(name)
    if module[0] != "+":
        return import_module(f"bt_runtime.cli.{module}")
    from bt_runtime.language.project import plugins

    entry = name.rpartition(" ")[2]
    if module != "+" and plugins.find(entry, "commands") is None:
        from bt_runtime.language.faults.extra import Extra

        raise Extra(module[1:], f"`btr {name}`").missing()
    return of_entry(plugins.named(entry, "commands"))


class _Words:
    """A command that is only a name for its words."""

    def __init__(self, name: str) -> None:
        self.name = name

    def configure(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("word", nargs="?", metavar="WORD", help=", ".join(WORDS[self.name]))

    def run(self, args: argparse.Namespace) -> int:
        from bt_runtime.language.faults.diagnostic import BtError, nearest

        if args.word is None:
            for word, (text, _) in WORDS[self.name].items():
                print(f"  btr {self.name} {word:<12}{text}")
            return Exit.USAGE
        close = nearest(args.word, WORDS[self.name])
        hint = f"did you mean `btr {self.name} {close}`?" if close else f"words: {', '.join(WORDS[self.name])}"
        raise BtError(f"`btr {self.name}` has no `{args.word}`", hint)


def of_entry(entry: Entry) -> Any:
    from bt_runtime.language.project import plugins

    def fits(found: object) -> bool:
        return all(callable(getattr(found, name, None)) for name in ("configure", "run"))

    return plugins.load(entry, "a module with `configure(parser)` and `run(args)`", fits)


def of_plugins() -> dict[str, str]:
    """Returns the commands of plugins, each with the distribution that brought it."""
    from bt_runtime.language.project import plugins

    entries = plugins.entries("commands")
    known = {*COMMANDS, *EARLIER}
    return {entry.name: f"A command of {entry.distribution}." for entry in entries if entry.name not in known}


def _listing() -> str:
    """Lists all commands under their groups' titles. To look for plugins' commands would take longer than the rest."""
    lines = []
    for title, commands in GROUPS:
        lines += ["", f"{title}:"]
        lines += [_filled(text, f"  {name:<12}", " " * 14) for name, (text, _) in commands.items()]
    return "\n".join(lines[1:])


def _filled(text: str, first: str = "", rest: str = "") -> str:
    """Fills text like `textwrap.fill`, whose import would take a tenth of the time of `btr --help`."""
    lines, line = [], first
    for word in text.split():
        if len(line) + len(word) > columns() and line.strip():
            lines.append(line.rstrip())
            line = rest
        line += word + " "
    return "\n".join([*lines, line.rstrip()])


def columns() -> int:
    """The width for help texts. argparse's own way imports `shutil`, which is slow."""
    try:
        return max(40, min(int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns), 100) - 2)
    except (OSError, ValueError):
        return 78


def _bare(top: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    if args.version:
        from bt_runtime._version import __version__

        print(f"btr {__version__}")
        return Exit.SUCCESS
    top.print_help(sys.stderr)
    return Exit.USAGE
