"""Finds content: the user's project first, then the shipped content, then that of plugins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from bt_runtime.language.project import plugins

Folder = Literal["trees", "skills", "envs", "memory", "guides", "schemas"]
PROJECT_FILE = "btr.yaml"

_PACKAGE = Path(__file__).parents[2]


def packaged(folder: Folder) -> Path:
    """Returns the shipped folder: inside the wheel, or beside the package in a checkout."""
    inside = _PACKAGE / "_content" / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


def installed(folder: Folder) -> list[Path]:
    """The shipped folder, then that of each distribution that brings content (an entry point `bt_runtime.content`)."""
    found = [packaged(folder), *[at / folder for at in _brought(plugins.entries("content"))]]
    return [place for place in found if place.is_dir()]


@lru_cache(maxsize=4)
def _brought(entries: tuple[plugins.Entry, ...]) -> list[Path]:
    theirs = [plugins.package_folder(e) for e in entries if e.value != f"{plugins.OURS}._content"]
    return [at for at in theirs if at is not None]


def shipped(path: Path, *folders: Folder) -> bool:
    """True for a path in the shipped content of these folders, or in that of plugins."""
    found = real(path)
    return any(found.is_relative_to(real(place)) for folder in folders for place in installed(folder))


_place: list[Path] = []  # the folder of a command's file


@contextmanager
def beside(path: Path) -> Iterator[None]:
    """Makes a command about this file or folder use its project, instead of the working directory's."""
    folder = (path if path.is_dir() else path.parent).resolve()
    if shipped(folder, "trees") or find_root(folder) is None:
        yield
        return
    _place.append(folder)
    try:
        yield
    finally:
        _place.pop()


def find_root(start: Path | None = None) -> Path | None:
    """The nearest folder upward that holds a project file; None when there is none."""
    named = os.environ.get("BTR_PROJECT")
    if named:
        return Path(named).resolve()
    here = (start or (_place[-1] if _place else Path.cwd())).resolve()
    return next((d for d in (here, *here.parents) if (d / PROJECT_FILE).is_file()), None)


def folders(folder: Folder, root: Path | None = None) -> list[Path]:
    """Yields the folders to search, in order: the project, then the installed ones."""
    project = root or find_root()
    places = [project / folder] if project else []
    return [p for p in (*places, *installed(folder)) if p.is_dir()]


def find(folder: Folder, name: str, suffix: str = ".yaml", root: Path | None = None) -> Path | None:
    """`find("skills", "house")` → skills/house.yaml of the project, or an installed one."""
    for place in folders(folder, root):
        for candidate in (place / name, place / f"{name}{suffix}"):
            if candidate.is_file():
                return candidate
    return None


SHIPPED = "btr:"  # before the name of a tree: the shipped one, whatever the project has


def real(path: str | Path) -> Path:
    """Resolves the links of a path. A loop of links is returned unchanged; opening it raises."""
    return Path(os.path.realpath(path))


def shown_path(path: Path) -> str:
    """Returns the path as messages show it: relative to the working directory, if it is below that."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


class FoundTree(NamedTuple):
    """The file of a tree's name. `shipped`: a shipped tree, though the name had no `btr:`. `own`: the project's
    trees in folders with the same last name, one of which may be intended."""

    path: Path | None
    shipped: bool = False
    own: tuple[str, ...] = ()


def find_tree(name: str, root: Path | None = None) -> FoundTree:
    """Finds a tree by name: `door`, or `parts/door` in a folder. The project's own tree wins over a shipped one."""
    asked = name.startswith(SHIPPED)
    name = name.removeprefix(SHIPPED)
    if not name or Path(name).is_absolute() or ".." in Path(name).parts:
        return FoundTree(None)
    project = None if asked else root or find_root()
    places = [project / "trees"] if project else []
    own = _in(places, name)
    if own is not None:
        return FoundTree(own)
    alike = tuple(n for n in _below(places, ".yaml") if n.rpartition("/")[2] == Path(name).stem)
    found = _in(installed("trees"), name)
    return FoundTree(None, own=alike) if alike else FoundTree(found, found is not None and project is not None)


def _in(places: Iterable[Path], name: str) -> Path | None:
    candidates = (c for place in places for c in (place / name, place / f"{name}.yaml"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _below(places: Iterable[Path], suffix: str) -> Iterator[str]:
    for place in places:
        yield from (p.relative_to(place).with_suffix("").as_posix() for p in sorted(place.rglob(f"*{suffix}")))


def names(folder: Folder, suffix: str = ".yaml", root: Path | None = None) -> list[str]:
    """Returns every name that `find` can find, each once."""
    return list(dict.fromkeys(_below(folders(folder, root), suffix)))


def nameable(name: str, most: int = 240) -> bool:
    """Returns True when the name can be a file name: the system would raise an exception for a longer one."""
    return 0 < len(name.encode("utf-8", "surrogatepass")) <= most and "\0" not in name
