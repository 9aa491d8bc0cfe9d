"""Makes a Python that has this folder first in PYTHONPATH one without any extra: only what a bare `pip install` of the
package brings can be found, in its children as well."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any


def _named(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def _needed() -> set[str]:
    """Returns the names of the distributions that the package needs without an extra."""
    found: set[str] = set()
    todo = ["bt-runtime"]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        try:
            listed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        todo += [_named(each) for each in listed if "extra ==" not in each]
    return found


def _absent() -> set[str]:
    """Returns the top-level modules of all other distributions."""
    needed = _needed()
    by_module = metadata.packages_distributions()
    return {module for module, of in by_module.items() if not needed & {name.lower().replace("_", "-") for name in of}}


ABSENT = _absent() - {"pip", "_distutils_hack"}


class Bare(PathFinder):
    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] in ABSENT:
            return None
        return PathFinder.find_spec(fullname, path, target)


sys.meta_path[:] = [Bare if finder is PathFinder else finder for finder in sys.meta_path]
