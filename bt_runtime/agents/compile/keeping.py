"""Writes the file of a compiled tree: atomically, merged with a person's edits, without overwriting unseen changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bt_runtime.agents.compile.merge import Conflict, merged
from bt_runtime.language.difference import compare
from bt_runtime.language.difference import lines as difference_lines
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.project import disk
from bt_runtime.run.run import load


@dataclass(slots=True)
class WrittenFile:
    """The result of writing the file."""

    path: Path
    state: str  # written, merged, unchanged, conflict
    changes: list[str] = field(default_factory=list)  # node by node
    conflicts: list[Conflict] = field(default_factory=list)
    text: str = ""  # merged


def base_of(path: Path) -> Path:
    """Returns the file that keeps the tree as it was compiled, beside the one that a person edits."""
    return path.with_name(f".{path.name}.compiled")


def keep(path: Path, text: str, take: str = "", write: bool = True, skills: Iterable[Kind] = ()) -> WrittenFile:
    """Writes a compiled tree. A file that is there is merged; one that was not compiled is refused.

    `skills`: those that a program gives.

    Nothing is written on a conflict, unless `take` says whose side stands."""
    there = disk.read_or_nothing(path)
    base = disk.read_or_nothing(base_of(path))
    if not path.exists():
        if write:
            _write(path, text, text)
        return WrittenFile(path, "written")
    if not base:
        raise BtError(
            f"{path} is not of `btr runs compile`, or {base_of(path).name} is gone", "name another file: --out FILE"
        )
    mine = there.decode("utf-8", "replace")
    found = merged(base.decode("utf-8", "replace"), mine, text, take)
    if found.conflicts:
        return WrittenFile(path, "conflict", conflicts=found.conflicts)
    if found.text == mine:
        if write:
            _write(path, mine, text)
        return WrittenFile(path, "unchanged")
    changes = _changes(path, mine, found.text, tuple(skills))
    if write:
        if disk.read_or_nothing(path) != there:
            raise BtError(f"{path} was changed meanwhile", "nothing was written: try again")
        _write(path, found.text, text)
    return WrittenFile(path, "merged", changes, text=found.text)


def _write(path: Path, text: str, base: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    disk.write(path, text)
    disk.write(base_of(path), base)


def _changes(path: Path, mine: str, text: str, skills: tuple[Kind, ...]) -> list[str]:
    """Returns the changes, node by node; raises when the merged tree would be invalid."""
    trial = path.with_name(f".{path.stem}.merged.yaml")
    try:
        disk.write(trial, text)
        return list(difference_lines(compare(load(path, skills=skills).spec, load(trial, skills=skills).spec)))
    finally:
        trial.unlink(missing_ok=True)
