"""The Python, and the other programs, that trees and manifests name.

A robot that takes no code compares what a version names with what its own project names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bt_runtime.language import manifest, project
from bt_runtime.language.entry import ELSEWHERE, SkillEntry
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.language.project import importing, real
from bt_runtime.run.run import Tree, load


def of_tree(tree: Tree, root: Path) -> set[str]:
    """Returns what the tree, the trees that it includes, and all skills of their manifests name. `root`: the folder of
    the project, in which paths begin."""
    names: set[str] = set()
    for spec in filter(None, (tree.spec, *tree.first.loaded.values())):
        for node in spec.root.walk():
            names |= {_placed(text, spec.folder, root) for text in _references(dict(node.values), node.kind.foreign)}
        names |= set(_of_entries((kind.data.get("entry") for kind in spec.registry), root))
    return names


def _references(value: object, foreign: bool) -> Iterator[str]:
    """Yields the texts in a node's values that name Python: path.py:Name, and of a `py` node also module:Name. What
    py_trees itself has is part of the robot."""
    if isinstance(value, str):
        if importing.in_file(value) or (foreign and _outside(value)):
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _references(inner, foreign)


def _outside(text: str) -> bool:
    """True for module:Name of another package than py_trees."""
    home, _, name = text.rpartition(":")
    whole = bool(home) and all(part.isidentifier() for part in (*home.split("."), *name.split(".")))
    return whole and (home.partition(".")[0] != "py_trees" or not name.isidentifier())


def of_project(root: Path) -> set[str]:
    """Returns what a project's own manifests and trees name. A tree with faults names nothing."""
    names: set[str] = set()
    for path in sorted((root / "skills").rglob("*.yaml")):
        names |= set(_of_entries((kind.data["entry"] for kind in manifest.read(path).kinds), root))
    for path in sorted((root / "trees").rglob("*.yaml")):
        try:
            names |= of_tree(load(path, project=root), root)
        except (Faults, BtError):
            continue
    return names


def _of_entries(entries: Iterator[SkillEntry | None], root: Path) -> Iterator[str]:
    for entry in entries:
        if entry is not None and entry.impl not in (*ELSEWHERE, "python"):
            folder = real(Path(entry.folder))
            if not project.shipped(folder, "skills"):
                yield _placed(entry.impl, folder, root)


def _placed(name: str, folder: Path, root: Path) -> str:
    """Returns path.py:Name with its path from the project's folder on, so that names of two copies compare."""
    if not importing.in_file(name):
        return name
    home, name = importing.split(name)
    path = real(folder / home)
    return f"{path.relative_to(real(root)) if path.is_relative_to(real(root)) else path}:{name}"
