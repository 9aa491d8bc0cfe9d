"""`btr run --learn`: after some runs a compiled tree is compiled again, and the change is proposed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime.cli.failure import say
from bt_runtime.cli.journals import writing
from bt_runtime.cli.tree_argument import STDIN, found
from bt_runtime.cli.whole_number import at_least
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.settings import Settings

if TYPE_CHECKING:
    from bt_runtime.run.run import Run
    from bt_runtime.run.view import View

AFTER = 10


def add_learning(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--learn", nargs="?", type=at_least(1), const=AFTER, metavar="N",
        help=f"of a compiled tree: after every N runs ({AFTER}) propose what they would change, and ask",
    )  # fmt: skip


def check(args: argparse.Namespace, settings: Settings) -> None:
    """Raises before the run when there is nothing to learn from, or no file to change."""
    if args.learn is None:
        return
    from bt_runtime.agents.compile.learning import check as compiled

    if writing(settings) is None:
        raise BtError("--learn reads recorded runs, and this run leaves no journal", "name a folder: --runs runs")
    if args.tree == STDIN:
        raise BtError("--learn changes a file, and the tree comes from standard input", "name the file")
    compiled(found(args.tree))


Ask = Callable[[str, Iterable[str]], str | None]  # the question, and the lines that it is about


def on_page(run: Run, args: argparse.Namespace, settings: Settings, view: View) -> None:
    """Asks on the page of the run, once it is over. A page that other machines can reach changes no file."""
    if args.learn is None or view.anyone:
        return
    from bt_runtime.run.view.afterwards import ask

    run.close()  # its journal is whole now

    def asked(question: str, lines: Iterable[str]) -> str:
        say("note", "the page asks whether to write it", "after Ctrl-C you are asked here")
        return ask(view, "\n".join([*lines, question]))

    propose(args, settings, asked)
    args.learn = None  # nobody is asked twice


def propose(args: argparse.Namespace, settings: Settings, ask: Ask | None = None) -> None:
    """Prints the proposal. The tree's file changes only after a yes."""
    folder = writing(settings)
    if args.learn is None or folder is None:
        return
    from bt_runtime.agents.compile.learning import proposal
    from bt_runtime.cli.recorded.compile import show_conflicts

    path = found(args.tree)
    try:
        made = proposal(path, folder, args.learn)
    except BtError as error:
        say("warning", visible(error.message), error.hint)
        return
    if made is None:
        return
    _told(made.lines())
    if made.kept.conflicts:
        show_conflicts(made.kept)
        say("note", "nothing was written: you and the new runs have changed the same lines", _command(folder, path))
    elif made.difference and _agreed(path, folder, ask or _at_terminal, made.lines()):
        _told([f"{path}: {made.accept().state}"])


def _agreed(path: Path, folder: Path, ask: Ask, lines: Iterable[str]) -> bool:
    said = ask(f"write it to {path}?", lines)
    if said is None:
        say("note", f"nothing was written to {path}: there is nobody to ask", _command(folder, path))
    return (said or "").strip().casefold() in ("y", "yes")


def _at_terminal(question: str, lines: Iterable[str]) -> str | None:
    """The lines stand above the question already."""
    return _answer(f"{question} [y/N] ")


def _answer(question: str) -> str | None:
    """Returns what the person at the terminal answers; None without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def _command(folder: Path, path: Path) -> str:
    return f"btr runs compile {folder} --out {path}"


def _told(lines: Iterable[str]) -> None:
    for line in lines:
        print(visible(line), file=sys.stderr)
