"""Selects the files to check: the named ones, and all trees, manifests and plans in named folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError, nearest
from bt_runtime.language.project import PROJECT_FILE, disk, find_tree, real

Content = Literal["tree", "skills", "plan", "project"]
SUFFIXES = (".yaml", ".yml")
PLAN = ".md"  # below a guides/
# folders of a project that hold other content, and folders that hold none
PASSED_OVER = frozenset({"envs", "memory", "schemas", "runs", "node_modules", "__pycache__", "venv", "build", "dist"})


class Selected(NamedTuple):
    path: Path
    content: Content


def select(names: Sequence[str]) -> list[Selected]:
    """Returns each file once, in the order of the names; raises for a name that does not exist."""
    found: dict[Path, Selected] = {}
    for name in names:
        path = Path(name)
        if path.is_dir():
            every = _inside(path)
        elif path.exists():
            every = iter([Selected(path, content_of(path) or "tree")])
        else:
            raise _missing(path)
        for each in every:
            found.setdefault(real(each.path), each)
    return list(found.values())


def _missing(path: Path) -> BtError:
    named = find_tree(str(path)).path
    if named is not None:
        return BtError(f"there is no file {path}", f"the tree of that name is {named}")
    beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, beside)
    return BtError(f"there is no file {path}", f"did you mean {path.parent / close}?" if close else "check the path")


def _inside(folder: Path) -> Iterator[Selected]:
    for place, below, files in os.walk(folder):
        below[:] = sorted(d for d in below if not d.startswith(".") and d not in PASSED_OVER)
        for file in sorted(files):
            path = Path(place, file)
            if not file.startswith(".") and (path.suffix in SUFFIXES or _is_plan(path)):
                content = content_of(path)
                if content is not None:
                    yield Selected(path, content)


def _is_plan(path: Path) -> bool:
    """True for Markdown in a `guides/` folder: other Markdown is no plan."""
    return path.suffix == PLAN and "guides" in (folder.name for folder in real(path).parents)


def content_of(path: Path) -> Content | None:
    """The kind of content in a file, by its folder, else by its top-level keys; None when neither is known."""
    if path.name == PROJECT_FILE:
        return "project"
    if path.suffix == PLAN:
        return "plan"
    for folder in real(path).parents:
        if folder.name == "trees":
            return "tree"
        if folder.name == "skills":
            return "skills"
        if (folder / PROJECT_FILE).is_file():
            break
    try:
        keys = {line.partition(b":")[0] for line in disk.begin(path, 65_536).splitlines() if b":" in line}
    except OSError:
        return "tree"  # the loader says why it cannot be read
    if keys & {b"tree", b"root"}:
        return "tree"
    return "skills" if b"kinds" in keys else None
