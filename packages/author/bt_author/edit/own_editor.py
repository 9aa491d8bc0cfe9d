"""The person's own editor at a line of a file: a link for VS Code, or a program with a window, named by `$VISUAL` or
`$EDITOR`."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from urllib.parse import quote

from bt_runtime.language.project import child

# by the program's name: the words after it that lead to a line. Editors of a terminal have no window, and are not here.
_AT = {
    "code": ("--goto", "{file}:{line}:{column}"), "codium": ("--goto", "{file}:{line}:{column}"),
    "cursor": ("--goto", "{file}:{line}:{column}"), "windsurf": ("--goto", "{file}:{line}:{column}"),
    "subl": ("{file}:{line}:{column}",), "zed": ("{file}:{line}:{column}",), "gedit": ("+{line}:{column}", "{file}"),
    "gvim": ("+{line}", "{file}"), "kate": ("--line", "{line}", "--column", "{column}", "{file}"),
    "emacsclient": ("--no-wait", "+{line}:{column}", "{file}"), "pycharm": ("--line", "{line}", "{file}"),
    "idea": ("--line", "{line}", "{file}"), "mate": ("--line", "{line}:{column}", "{file}"),
}  # fmt: skip


def link(file: Path, line: int, column: int) -> str:
    """Returns the address that VS Code opens at this place."""
    return f"vscode://file{quote(file.as_posix())}:{line}:{column}"


def words(file: Path, line: int, column: int) -> list[str]:
    """Returns the command of the person's editor at this place; an empty list when it has no window."""
    for variable in ("VISUAL", "EDITOR"):
        said = shlex.split(os.environ.get(variable, ""))
        program = shutil.which(said[0]) if said else None
        at = _AT.get(Path(said[0]).stem) if said else None
        if program is not None and at is not None:
            return [program, *said[1:], *(word.format(file=file, line=line, column=column) for word in at)]
    return []


def opened(file: Path, line: int, column: int) -> dict[str, str]:
    """Starts the person's editor there; without one that has a window, returns the link for VS Code."""
    command = words(file, line, column)
    if not command:
        return {"link": link(file, line, column)}
    child.start_apart(command)
    return {"started": Path(command[0]).name}
