"""The tree argument of a command: a file, a name, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from bt_runtime.cli.failure import say
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError, nearest
from bt_runtime.language.loader import Checked, Loader

STDIN = "-"


def checked(name: str) -> Checked:
    """Loads and checks it. Raises BtError when there is none."""
    if name == STDIN:
        return Loader().text(sys.stdin.buffer.read(), "stdin")
    return Loader().file(found(name))


def found(name: str) -> Path:
    """Finds the file of a tree by its path, or by its name when no folder is given."""
    loader = Loader()
    path = loader.locate(name)
    for taken in loader.taken:
        say("note", f"`{taken}` is a shipped tree: this project has none of that name", f"`btr:{taken}` says so")
    if path is not None:
        return path
    if Path(name).is_dir():
        raise BtError(f"{name} is a folder", "name one tree in it")
    near = Path(name).parent
    beside = (
        [str(p.relative_to(".") if not p.is_absolute() else p) for p in near.glob("*.yaml")] if near.is_dir() else []
    )
    known, own = project.names("trees"), project.find_tree(name).own
    close = own[0] if own else nearest(name, [*beside, *known]) or nearest(Path(name).stem, known)
    raise BtError(
        f"there is no tree `{name}`", f"did you mean `{close}`?" if close else f"trees here: {', '.join(known)}"
    )
