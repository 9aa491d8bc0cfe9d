"""The kinds of nodes: those that every tree has, those of installed plugins, and those of a project.

A plugin's kind is imported when a tree names it: the kinds that ask a model are plugins, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import get_args

from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.control import CONTROL
from bt_runtime.language.kinds.decorators import DECORATORS
from bt_runtime.language.kinds.kind import RESERVED, Family, Kind, Later, Registry
from bt_runtime.language.kinds.leaves import LEAVES
from bt_runtime.language.kinds.navigation import NAVIGATION
from bt_runtime.language.project import plugins

KINDS = (*CONTROL, *NAVIGATION, *DECORATORS, *LEAVES)  # kinds of every tree, in the order of the reference


def registry_of(root: Path | None) -> Registry:
    """Returns the kinds of a project's trees; unavailable ones become faults of the registry."""
    kinds = installed()
    file = root / project.PROJECT_FILE if root is not None else None
    if file is None or root is None or not says(file, "kinds"):
        return kinds
    from bt_runtime.language.import_policy import read_kinds

    for reference in read_kinds(file):
        try:
            kinds = kinds.and_those(of_project(reference, root), f"`{reference}` of {project.PROJECT_FILE}")
        except BtError as error:
            kinds = kinds.without(f"`{reference}` of {project.PROJECT_FILE} gives no kinds: {error.message}")
    return kinds


def installed() -> Registry:
    """The kinds that every tree has, then those of all installed plugins, ours first. Nothing is imported."""
    return _installed(plugins.entries("kinds"))


@lru_cache(maxsize=4)
def _installed(entries: tuple[plugins.Entry, ...]) -> Registry:
    found = Registry(KINDS)
    for entry in entries:
        found = found.and_those((Later(entry.name, partial(of_plugin, entry)),), entry.said)
    return found


def shipped_kinds() -> Registry:
    """Returns the kinds of this package; the reference and the shipped schemas contain these alone."""
    return _installed(tuple(entry for entry in plugins.entries("kinds") if entry.ours))


def of_plugin(entry: plugins.Entry) -> Kind:
    """Imports the kind of an entry point. The kind's name must equal the entry point's."""
    found: Kind = plugins.load(entry, "a Kind", lambda found: isinstance(found, Kind))
    for fault in _faults((found,)):
        raise plugins.PluginFault(f"{entry.said} cannot be used: {fault}", "docs/extending.md shows a sound one")
    if found.name != entry.name:
        raise plugins.PluginFault(
            f"{entry.said} cannot be used: the kind is called `{found.name}`", "an entry point is named as its kind"
        )
    return found


def of_project(reference: str, root: Path | None) -> tuple[Kind, ...]:
    """Imports the kinds that a project file names as path.py:Name, if the folder is trusted.

    Every command that reads a tree imports them."""
    from bt_runtime.language.import_policy import bring
    from bt_runtime.language.project import trust

    found = bring(reference, root, trust.may_describe)
    kinds = _kinds(found)
    if not kinds:
        raise BtError("it is not a Kind, or a tuple of them", "docs/extending.md shows one")
    for fault in _faults(kinds):
        raise BtError(fault, "docs/extending.md shows a sound one")
    return kinds


def says(file: Path, key: str) -> bool:
    """True when a project file may have this key; a text search, which saves parsing most of them."""
    from bt_runtime.language.project import disk

    return key.encode() in disk.read_or_nothing(file)


def _kinds(found: object) -> tuple[Kind, ...]:
    if isinstance(found, Kind):
        return (found,)
    return tuple(found) if isinstance(found, list | tuple) and all(isinstance(k, Kind) for k in found) else ()


def _faults(kinds: tuple[Kind, ...]) -> Iterator[str]:
    """Yields the mistakes in kinds that would break the loader or a schema later."""
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
