"""The folders that an import may read: the named one, and each `--include`. Nothing else is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError

MOST_LISTED = 2_000  # XML files of a folder
LONGEST = 1_000  # characters of a path
DEEPEST = 8  # folders within each other


class Hit(NamedTuple):
    path: Path
    literal: bool  # it lies exactly where the include says; else somewhere that the folders make likely


class Folders:
    def __init__(self, home: Path, include: Sequence[Path]) -> None:
        self.home = project.real(home)
        self.roots = [self.home]
        for folder in include:
            if not folder.is_dir():
                raise BtError(f"--include: {folder} is no folder", "name a folder")
            self.roots.append(project.real(folder))

    def inside(self, path: Path) -> Path | None:
        """Returns the real file when the path, links followed, lies in one of the folders; else None."""
        try:
            real = project.real(path)
            return real if any(real.is_relative_to(root) for root in self.roots) and real.is_file() else None
        except (OSError, ValueError, RuntimeError):
            return None

    def find(self, said: str, file: Path, package: str = "") -> Hit | None:
        """The file that `<include path="…" ros_pkg="…">` refers to."""
        if len(said) > LONGEST:
            return None
        if not package and (exact := self.inside(file.parent / said)):
            return Hit(exact, True)
        parts = [part for part in PurePosixPath(said).parts if part not in ("/", "..", ".")]
        for root in self.roots:
            for prefix in self.of_package(root, package) if package else (root,):
                if parts and (found := self.inside(prefix.joinpath(*parts))):
                    return Hit(found, bool(package))
        for start in range(1, len(parts)):  # an absolute path, or one of an install folder: its end, the longest first
            for folder in (file.parent, *self.roots):
                if found := self.inside(folder.joinpath(*parts[start:])):
                    return Hit(found, False)
        beside = self.inside(file.parent / parts[-1]) if parts else None
        return Hit(beside, False) if beside else None

    def of_package(self, root: Path, package: str) -> Iterator[Path]:
        """The folders in which a ROS package may keep its files: an install folder, a share folder, a workspace."""
        if PurePosixPath(package).name != package or package in ("", ".", ".."):
            return
        if root.name == package:
            yield root
        yield from (root / package / "share" / package, root / "share" / package, root / package)
        for folder in walk(root):
            if folder.name == package:
                yield folder


def walk(root: Path) -> Iterator[Path]:
    """Yields the folders below in order; it skips links and hidden folders, and is bounded in number."""
    count = 0
    for at, below, _ in os.walk(root):
        depth = len(Path(at).relative_to(root).parts)
        below[:] = sorted(name for name in below if not name.startswith(".")) if depth < DEEPEST else []
        for name in below:
            count += 1
            if count > MOST_LISTED:
                return
            yield Path(at) / name


def xml_files(root: Path, deep: bool = True) -> list[Path]:
    found: list[Path] = []
    for folder in (root, *(walk(root) if deep else ())):
        found += sorted(path for path in folder.glob("*.xml") if path.is_file())
        if len(found) > MOST_LISTED:
            raise BtError(f"{root} holds more than {MOST_LISTED:,} XML files", "name a folder within it")
    return found
