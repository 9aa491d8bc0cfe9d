"""Prints a failed command's error: one line with the cause, and one with the remedy."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from bt_runtime.cli.exits import Exit
from bt_runtime.language.faults.diagnostic import BtError, Faults, nearest
from bt_runtime.language.faults.format import render, summary, visible


def told(error: Exception) -> int:
    """Prints the error as a person should see it; gives the exit code."""
    sys.stdout.flush()
    if os.environ.get("BTR_DEBUG"):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, Faults):
        from bt_runtime.cli.color import painted

        print(render(error.diagnostics, error.sources, "full", painted(sys.stderr)), file=sys.stderr)
        print(f"error: {summary(error.diagnostics)}", file=sys.stderr)
        return Exit.USAGE
    if isinstance(error, BtError):
        say("error", error.message, error.hint)
        return Exit.USAGE
    if isinstance(error, OSError) and error.filename is not None:
        say("error", f"{error.filename}: {error.strerror}", "check the path and its permissions")
        return Exit.USAGE
    where = "the traceback is above" if os.environ.get("BTR_DEBUG") else "BTR_DEBUG=1 shows the traceback"
    say("internal error", f"{type(error).__name__}: {error}", f"this is a bug of btr; {where}, please report it")
    return Exit.INTERNAL


def say(what: str, message: str, hint: str = "") -> None:
    """Prints `WHAT: MESSAGE`, then `help: HINT`, to standard error. Keeps line breaks of the message; escapes other
    control characters, so that a terminal cannot obey them."""
    first, *rest = [visible(line) for line in message.splitlines()] or [""]
    print("\n".join([f"{what}: {first}", *(f"  {line}" for line in rest)]), file=sys.stderr)
    if hint:
        print(f"  help: {visible(hint)}", file=sys.stderr)


def unknown_command(word: str, known: Iterable[str], earlier: Mapping[str, str]) -> BtError:
    """`earlier`: what some commands are called now."""
    if word in earlier:
        return BtError(f"`btr {word}` is called `btr {earlier[word]}`", f"btr {earlier[word]} --help")
    single = [name for name in known if " " not in name]
    close = nearest(word, [*single, *earlier])
    hint = f"did you mean `btr {earlier.get(close, close)}`?" if close else f"commands: {', '.join(single)}"
    return BtError(f"there is no command `{word}`", hint)
