"""Experiences from files: JSON Lines, shipped ones or the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.project import disk, find, names
from bt_runtime.memory.experience import Experience, lines, read_jsonl


def shipped() -> list[str]:
    """Returns the names of the starter files, the project's own first."""
    return list(names("memory", ".jsonl"))


def read_named(name: str) -> list[Experience]:
    """Reads the file of a path or of a starter's name."""
    path = Path(name)
    found = path if path.is_file() else find("memory", name, ".jsonl")
    if found is None:
        raise BtError(
            f"no file and no starter is called {name}",
            did_you_mean(name, shipped(), f"starters: {', '.join(shipped()) or 'none'}"),
        )
    return read_jsonl(found)


def write(path: Path, experiences: Sequence[Experience]) -> None:
    """Writes the file atomically: readers never see a half, and a full disk leaves the old file."""
    try:
        disk.write(path, lines(experiences))
    except OSError as failure:
        raise BtError(f"cannot write {path}: {failure.strerror}", "name another file") from failure
