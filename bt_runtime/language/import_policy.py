"""Decides which Python a YAML file may name: the project's, and what its btr.yaml allows."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language import project, source
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import importing, plugins, real, trust
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap

FREE = ("bt_runtime", "py_trees")  # ours, and the library of nodes that a tree is made of
CODE = "BT049"


class Refusal(NamedTuple):
    message: str
    hint: str


class ImportPolicy:
    """The policy of a project. `root`: its folder, or without one the folder of the first file."""

    def __init__(self, root: Path, shipped: Sequence[Path] = ()) -> None:
        self.root = real(root)
        self.shipped = [real(folder) for folder in shipped]
        self._allowed: tuple[str, ...] | None = None

    def refusal(self, reference: str, folder: Path) -> Refusal | None:
        """Returns why a reference may not be imported; None when allowed, or malformed (reported by other checks)."""
        home, colon, _ = reference.rpartition(":")
        if not colon or not home:
            return None
        return self._file(home, folder) if home.endswith(".py") else self._module(home)

    def _file(self, home: str, folder: Path) -> Refusal | None:
        path = real(folder / home)  # links are followed: what counts is where the file is
        if any(path.is_relative_to(place) for place in (self.root, *self.shipped, *self._folders())):
            return None
        hint = f"move it into {self.root}, or allow its folder in {project.PROJECT_FILE}: {_line(_shown(path.parent))}"
        return Refusal(f"`{home:.60}` lies outside the project", hint)

    def _module(self, home: str) -> Refusal | None:
        top = home.partition(".")[0]
        if top in FREE or any(home == p or home.startswith(f"{p}.") for p in self.allowed):
            return None
        found = places(top)
        if found is None or any(self._inside(place) for place in found) or top in _registered():
            return None
        hint = f"allow it in {project.PROJECT_FILE}: {_line(top)}"
        return Refusal(f"the module `{home:.60}` is not part of the project", hint)

    def _inside(self, place: Path) -> bool:
        """True for files of the project. A virtual environment within the project counts as outside: it holds other
        packages."""
        at = real(place)
        if not any(at.is_relative_to(root) for root in (self.root, *self._folders())):
            return False
        own = at.relative_to(self.root).parts if at.is_relative_to(self.root) else at.parts
        return "site-packages" not in own and not at.is_relative_to(real(Path(sys.prefix)))

    @property
    def allowed(self) -> tuple[str, ...]:
        """The packages and folders that `allow: {python: [...]}` of the project file names; read on first use."""
        if self._allowed is None:
            self._allowed = read_allowed(self.root / project.PROJECT_FILE)
        return self._allowed

    def _folders(self) -> list[Path]:
        return [real(self.root / name) for name in self.allowed if not is_module(name)]


def policy_of(root: Path) -> ImportPolicy:
    """Returns the policy of a project or folder; shipped files may be named from everywhere."""
    return ImportPolicy(root, (*project.installed("trees"), *project.installed("skills")))


def bring(reference: str, root: Path | None = None, asked: Callable[[str, Path], None] = trust.may_run) -> Any:
    """Imports path.py:Name where an installed implementation may be named, under the project's import policy.

    Without a project, `root` or the working directory sets the policy; relative paths start there."""
    at = root or project.find_root() or Path.cwd()
    refusal = policy_of(at).refusal(reference, at)
    if refusal is not None:
        raise BtError(refusal.message, refusal.hint)
    return importing.resolve(reference, at, asked)


def read_allowed(path: Path) -> tuple[str, ...]:
    """Returns the modules that btr.yaml allows by `allow: {python: […]}`."""
    allow = _top(path, "allow")
    return _texts(allow.get("python") if isinstance(allow, YamlMap) else None)


def read_kinds(path: Path) -> tuple[str, ...]:
    """Returns the entries of `kinds: […]` in btr.yaml."""
    return _texts(_top(path, "kinds"))


def _top(path: Path, key: str) -> Node | None:
    top = source.read(path).root if path.is_file() else None
    return top.get(key) if isinstance(top, YamlMap) else None


def _texts(listed: Node | None) -> tuple[str, ...]:
    return tuple(item.text for item in listed if isinstance(item, Scalar)) if isinstance(listed, YamlList) else ()


def is_module(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _line(name: str) -> str:
    return f"`allow: {{python: [{name}]}}`"


def _shown(folder: Path) -> str:
    return str(folder) if len(str(folder)) < 80 else "FOLDER"


def places(top: str) -> list[Path] | None:
    """Returns where a module would be imported from, without running it; None when unknown or made by a program."""
    found = sys.modules.get(top)
    spec = found.__spec__ if found is not None else None
    if found is None:
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            return None
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ())
    if spec.has_location and spec.origin:
        places.append(spec.origin)
    return [Path(place) for place in places]


def _registered() -> set[str]:
    """Returns the packages that register an entry point of ours."""
    brought = (entry.value.partition(":")[0] for group in plugins.GROUPS for entry in plugins.entries(group))
    return {module.partition(".")[0] for module in brought}
