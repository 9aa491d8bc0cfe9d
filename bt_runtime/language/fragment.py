"""Loads nodes for a graft: a text that goes into a tree which is there, whose kinds and ports it may use.

Grafts of one agent include the same few trees again and again. One that was read without any fault is kept for as long
as its file is unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from bt_runtime.language import source
from bt_runtime.language.checks import semantic
from bt_runtime.language.kinds.kind import Kind, Registry
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import disk
from bt_runtime.language.reader import NodeReader
from bt_runtime.language.spec import Caps, NodeSpec, TreeSpec

MOST_KEPT = 64  # trees of one registry


class _Kept(NamedTuple):
    tree: TreeSpec
    file: tuple[int, ...]  # how its file was when it was read
    caps: Caps
    project: Path | None


_TREES: WeakKeyDictionary[Registry, dict[Path, _Kept]] = WeakKeyDictionary()


def load_fragment(
    loader: Loader, text: str | bytes, tree: TreeSpec, name: str, kinds: tuple[Kind, ...] = ()
) -> NodeSpec:  # fmt: skip
    """Returns the checked nodes. Raises Faults."""
    registry = tree.registry.with_kinds(kinds)
    document = source.parse(text, name, loader.limits)
    loader.home = tree.folder
    loader.diagnostics.sources[name] = document.text
    loader.diagnostics.add(*document.diagnostics)
    if document.root is not None:
        whole = TreeSpec(tree.name, name, document.text, tree.folder, registry)
        whole.inputs, whole.outputs, whole.entries = tree.inputs, tree.outputs, tree.entries
        root = NodeReader(name, registry, loader.diagnostics, loader.caps.depth).read(document.root)
        if root is not None:
            whole.root = root
            loader.foreign(whole)
            known = _TREES.setdefault(loader.registry, {}) if type(loader) is Loader else {}
            _take(loader, known)
            loader.subtrees(whole)
            semantic.check_nodes(whole, loader.diagnostics)
            spec = loader.checked(whole).sound().root
            _keep(loader, known)
            return spec
    return loader.checked(None).sound().root


def _take(loader: Loader, known: dict[Path, _Kept]) -> None:
    """Gives the loader the trees whose files are as they were."""
    for path, kept in known.items():
        if (kept.file, kept.caps, kept.project) == (_state(path), loader.caps, loader.project):
            loader.loaded[path], loader.files[path] = kept.tree, kept.tree.text
            loader.diagnostics.sources[kept.tree.file] = kept.tree.text


def _keep(loader: Loader, known: dict[Path, _Kept]) -> None:
    """Keeps what was read besides, unless there was something to say of it."""
    if len(known) >= MOST_KEPT:
        known.clear()
    for path, tree in loader.loaded.items():
        if path not in known and tree is not None and not loader.diagnostics.items and _alone(tree, loader):
            state = _state(path)
            if disk.read_or_nothing(path) == tree.text.encode():  # the file is unchanged since it was read
                known[path] = _Kept(tree, state, loader.caps, loader.project)


def _alone(tree: TreeSpec, loader: Loader) -> bool:
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
