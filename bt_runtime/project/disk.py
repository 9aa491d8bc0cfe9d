"""Files that are whole: what was written is on the disk under its name, or the file is as it was."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write(path: Path, lines: Iterable[str], errors: str = "strict") -> None:
    """The whole file or none of it: a reader never sees half, and what was there is not lost to a full disk."""
    draft = path.with_name(f".{path.name}.part")
    try:
        with draft.open("w", encoding="utf-8", errors=errors, newline="") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def settle(folder: Path) -> None:
    """The names in it are on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
