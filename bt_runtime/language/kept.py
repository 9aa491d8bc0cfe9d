"""Keeps trees that were read from files without any fault, for as long as their files are unchanged.

The grafts of one agent include the same few trees again and again, most often the tree that is running."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.kinds.kind import Registry
from bt_runtime.language.project import disk
from bt_runtime.language.spec import Caps, TreeSpec

MOST_KEPT = 64  # trees of one registry
LONGEST = 100_000  # characters of a tree's file; larger ones are read again, and fill no memory


class ReadTrees(Protocol):
    """What is asked of a loader: what it reads trees by, and what it has read."""

    registry: Registry
    caps: Caps
    project: Path | None
    diagnostics: Diagnostics
    files: dict[Path, str]
    loaded: dict[Path, TreeSpec | None]


class _Kept(NamedTuple):
    tree: TreeSpec
    file: tuple[int, ...]  # how its file was when it was read
    caps: Caps
    project: Path | None


_TREES: WeakKeyDictionary[Registry, dict[Path, _Kept]] = WeakKeyDictionary()


def taken(loader: ReadTrees, path: Path) -> TreeSpec | None:
    """Returns the kept tree of a file, and gives the loader its text; None when the file has changed since."""
    kept = _TREES.get(loader.registry, {}).get(path)
    if kept is None or (kept.file, kept.caps, kept.project) != (_state(path), loader.caps, loader.project):
        return None
    loader.files[path] = loader.diagnostics.sources[kept.tree.file] = kept.tree.text
    return kept.tree


def keep(loader: ReadTrees) -> None:
    """Keeps the trees that a loader has read. Call it only after a load without any diagnostic."""
    known = _TREES.setdefault(loader.registry, {})
    if len(known) >= MOST_KEPT:
        known.clear()
    for path, tree in loader.loaded.items():
        if tree is None or len(tree.text) > LONGEST or (path in known and known[path].tree is tree):
            continue
        if _alone(tree, loader):
            state = _state(path)
            if disk.read_or_nothing(path) == tree.text.encode():  # the file is unchanged since it was read
                known[path] = _Kept(tree, state, loader.caps, loader.project)


def _alone(tree: TreeSpec, loader: ReadTrees) -> bool:
    """True when the tree depends on no other file: it includes no tree and names no manifest and no Python."""
    rules = tree.policies or tree.properties or tree.shared or tree.watched
    inner = any(node.kind.includes or node.kind.foreign for node in tree.root.walk())
    return tree.registry is loader.registry and not rules and not inner


def _state(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino
