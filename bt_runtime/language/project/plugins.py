"""Plugins of installed distributions, ours included, by entry points, from node kinds to commands. The metadata is
parsed here, because importing `importlib.metadata` takes longer than checking a tree. A plugin is imported only when
its name is used, and its fault concerns it alone."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean

Group = Literal[
    "suites", "worlds", "models", "servers", "kinds", "impls", "journal", "content", "watchers", "planners",
    "embedders", "vectors", "memories", "connections", "monitors", "commands", "options", "exports", "recordings",
    "provers", "editors", "persons", "trials",
]  # fmt: skip
GROUPS: tuple[Group, ...] = get_args(Group)
OURS, PREFIX = "bt_runtime", "bt_runtime."  # PREFIX: of the groups' names, such as `bt_runtime.suites`
# the distributions of the workspace, whose names nobody else can take
WORKSPACE = (OURS, "bt_envs", "bt_author", "bt_robots", "bt_fleet", "bt_lab", "bt_starter")

_CALLED: dict[str, str] = {  # nouns of groups whose name is another word
    "servers": "server flavour", "kinds": "nodes", "impls": "skills", "journal": "journal's part", "content": "content",
    "vectors": "vector store", "memories": "memory",
}  # fmt: skip


class Entry(NamedTuple):
    """An entry point. `value` is `module:Name`; for content, the package that holds it."""

    group: Group
    name: str
    value: str
    distribution: str  # name and version, for messages

    @property
    def ours(self) -> bool:
        return self.distribution.partition(" ")[0] in WORKSPACE

    @property
    def said(self) -> str:
        return f"the {called(self.group)} `{self.name}` of {self.distribution}"


def called(group: Group) -> str:
    """Returns what messages call an entry of this group."""
    return _CALLED.get(group, group[:-1])


class PluginFault(BtError):
    """A plugin that cannot be used, and its distribution."""


def entries(group: Group) -> tuple[Entry, ...]:
    """Returns all entries of a group: the workspace's first, then by distribution and name."""
    return _entries(tuple(sys.path)).get(group, ())


def names(*groups: Group) -> list[str]:
    return sorted({entry.name for group in groups for entry in entries(group)})


def find(name: str, *groups: Group) -> Entry | None:
    """Returns the entry of this name; ours wins. Raises when several other distributions have it."""
    same = [entry for group in groups for entry in entries(group) if entry.name == name]
    if len({entry.distribution for entry in same}) > 1 and not same[0].ours:
        both = " and ".join(dict.fromkeys(entry.said for entry in same))
        raise PluginFault(f"{both} have the same name", "uninstall one of them")
    return same[0] if same else None


def named(name: str, group: Group, *more: str) -> Entry:
    """Returns the entry of this name, or raises and names the nearest; `more`: further names for the hint."""
    entry = find(name, group)
    if entry is None:
        known = [*names(group), *more]
        hint = did_you_mean(name, known, f"one of: {', '.join(known)}")
        raise BtError(f"no {called(group)} is called `{name}`", hint)
    return entry


def versions() -> dict[str, str]:
    """Returns the versions of the other distributions with plugins."""
    theirs = sorted({entry.distribution for group in GROUPS for entry in entries(group) if not entry.ours})
    return {name: version for name, _, version in (each.partition(" ") for each in theirs)}


def load(entry: Entry, wanted: str = "", fits: Callable[[Any], bool] = callable) -> Any:
    """Imports what an entry names. Raises PluginFault for whatever breaks, and for what is not `wanted`, as `fits`
    tells."""
    module, _, attribute = entry.value.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in filter(None, attribute.split(".")):
            found = getattr(found, part)
    except BtError as error:  # an extra that is missing says so better
        raise PluginFault(f"{entry.said} cannot be used: {error.message}", error.hint) from error
    except (Exception, SystemExit) as error:
        raise PluginFault(
            f"{entry.said} cannot be used: {type(error).__name__}: {error}",
            f"`{entry.value}` cannot be imported: ask whoever made it, or uninstall it",
        ) from error
    if wanted and not fits(found):
        hint = f"`{entry.value}` is {type(found).__name__}; docs/extending.md shows {wanted}"
        raise PluginFault(f"{entry.said} is not {wanted}", hint)
    return found


def package_folder(entry: Entry) -> Path | None:
    """Returns the folder of the package that an entry names, without importing it."""
    top, *inner = entry.value.partition(":")[0].split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(place, *inner)
        if folder.is_dir():
            return folder
    return None


@lru_cache(maxsize=4)
def _entries(path: tuple[str, ...]) -> Mapping[str, tuple[Entry, ...]]:
    found: list[Entry] = []
    for distribution, groups in _distributions(path):
        for group in GROUPS:
            named = groups.get(PREFIX + group, {})
            found += [Entry(group, name, value, distribution) for name, value in named.items()]
    found.sort(key=lambda entry: (not entry.ours, entry.distribution, entry.name))
    return {group: tuple(entry for entry in found if entry.group == group) for group in GROUPS}


Groups = Mapping[str, Mapping[str, str]]


def _distributions(path: Iterable[str]) -> Iterator[tuple[str, Groups]]:
    """Yields each distribution with plugins once, with its groups."""
    seen: set[str] = set()
    for name, own in _checkout():
        seen.add(name)
        yield name, own
    for folder in path:
        for name, version, file in _described(folder):
            plain = name.replace("-", "_").replace(".", "_").lower()
            groups = _parsed(file) if plain not in seen else {}
            seen.add(plain)
            if groups:
                yield f"{plain if plain in WORKSPACE else name} {version}".strip(), groups


def _checkout() -> Iterator[tuple[str, Groups]]:
    """Reads entry points from the files pyproject.toml of a checkout; of packages that can be imported."""
    for name in WORKSPACE:
        folder = {OURS: "", "bt_envs": "envs/"}.get(name, f"packages/{name[3:]}/")
        groups = _parsed(f"{Path(__file__).parents[3]}/{folder}pyproject.toml")
        if groups and importlib.util.find_spec(name) is not None:
            yield name, groups


def _described(folder: str) -> Iterator[tuple[str, str, str]]:
    """Reads names, versions and entry points of the distributions in a folder of `sys.path`. The working directory is
    skipped, because nothing is installed there."""
    if not folder or Path(folder).resolve() == Path.cwd():
        return
    try:
        with os.scandir(folder) as inside:
            listed = sorted(each.name for each in inside if each.name.endswith("-info"))
    except OSError:
        return
    for each in listed:
        file = f"{folder}/{each}/entry_points.txt"  # no Path: of hundreds that takes longer than reading them
        if os.access(file, os.R_OK):  # some_thing-1.2.dist-info, some_thing-1.2-py3.11.egg-info, some_thing.egg-info
            name, version, *_ = *each.rpartition(".")[0].split("-"), ""
            yield name, version, file


def _parsed(file: str) -> Groups:
    """Parses our groups in an entry_points.txt, or in our own pyproject.toml, which is similar."""
    found: dict[str, dict[str, str]] = {}
    group = ""
    try:
        text = Path(file).read_text("utf-8")
    except (OSError, ValueError):
        return found
    for line in map(str.strip, text.splitlines() if PREFIX in text else ()):
        if line.startswith("["):
            group = line.strip("[]").removeprefix("project.entry-points.").strip(' "')
        elif "=" in line and line[0] not in "#;" and group.startswith(PREFIX):
            name, _, value = line.partition("=")
            found.setdefault(group, {})[name.strip()] = value.partition("[")[0].strip(' "')
    return found
