"""The kinds of nodes: those that every tree has, those of installed plugins, and those of a project."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from bt_runtime import project
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.kinds.agents import AGENTS
from bt_runtime.language.kinds.control import CONTROL
from bt_runtime.language.kinds.decorators import DECORATORS
from bt_runtime.language.kinds.judging import JUDGING
from bt_runtime.language.kinds.kind import RESERVED, Family, Kind, Registry
from bt_runtime.language.kinds.leaves import LEAVES
from bt_runtime.language.kinds.navigation import NAVIGATION
from bt_runtime.language.reach import bring, read_kinds
from bt_runtime.project import plugins, trust

KINDS = (*CONTROL, *NAVIGATION, *DECORATORS, *LEAVES, *AGENTS, *JUDGING)  # in the order of the reference
BUILT_IN = Registry(KINDS)  # what is written out for everybody is made of these alone


def registry_of(root: Path | None) -> Registry:
    """All kinds that trees of this project may have; those that cannot be had are faults that it tells."""
    kinds = installed()
    file = root / project.PROJECT_FILE if root is not None else None
    named = read_kinds(file) if file is not None and root is not None and _says_kinds(file) else ()
    for reference in named:
        try:
            kinds = kinds.and_those(of_project(reference, root), f"`{reference}` of {project.PROJECT_FILE}")
        except BtError as error:
            kinds = kinds.without(f"`{reference}` of {project.PROJECT_FILE} gives no kinds: {error.message}")
    return kinds


def installed() -> Registry:
    """The kinds of all installed plugins, ours first."""
    return _installed(plugins.entries("kinds"))


@lru_cache(maxsize=4)
def _installed(entries: tuple[plugins.Entry, ...]) -> Registry:
    found = Registry()
    for entry in entries:
        try:
            found = found.and_those(of_plugin(entry), entry.said)
        except BtError as error:
            found = found.without(error.message)
    return found


def of_plugin(entry: plugins.Entry) -> tuple[Kind, ...]:
    """What an entry point gives: a Kind, or several."""
    found = plugins.load(entry)
    kinds = _kinds(found)
    if not kinds:
        raise plugins.unfit(entry, found, "a Kind, or a tuple of them")
    for fault in _faults(kinds):
        raise plugins.PluginFault(f"{entry.said} cannot be used: {fault}", "docs/extending.md shows a sound one")
    return kinds


def of_project(reference: str, root: Path | None) -> tuple[Kind, ...]:
    """What path.py:Name gives that a project file names. It is imported by every command that reads a tree, if the
    folder is trusted."""
    found = bring(reference, root, trust.may_describe)
    kinds = _kinds(found)
    if not kinds:
        raise BtError("it is not a Kind, or a tuple of them", "docs/extending.md shows one")
    for fault in _faults(kinds):
        raise BtError(fault, "docs/extending.md shows a sound one")
    return kinds


def _says_kinds(file: Path) -> bool:
    """Spares parsing most project files."""
    try:
        return b"kinds" in file.read_bytes()
    except OSError:
        return False


def _kinds(found: Any) -> tuple[Kind, ...]:
    if isinstance(found, Kind):
        return (found,)
    return tuple(found) if isinstance(found, list | tuple) and all(isinstance(k, Kind) for k in found) else ()


def _faults(kinds: tuple[Kind, ...]) -> Iterator[str]:
    """What would break the loader or a schema later."""
    for kind in kinds:
        fields = [field.name for field in kind.fields]
        if not isinstance(kind.name, str) or not kind.name.isidentifier():
            yield f"`{kind.name}` is no name of a kind"
        elif kind.family not in get_args(Family) or kind.family == "skill":
            yield f"`{kind.name}` has the family {kind.family!r}, not control, decorator, leaf or agent"
        elif len(set(fields)) < len(fields) or not RESERVED.isdisjoint(fields):
            yield f"`{kind.name}` has a field twice, or one that every node has"
        elif kind.bare is not None and kind.bare not in fields:
            yield f"`{kind.name}` has no field `{kind.bare}` for its bare value"
        elif not (isinstance(kind.impl, type) or (isinstance(kind.impl, str) and ":" in kind.impl)):
            yield f"`{kind.name}` names no class: impl is module:Class, or the class itself"
