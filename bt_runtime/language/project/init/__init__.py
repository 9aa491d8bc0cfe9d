"""Starter projects: each folder of `example-projects/` is copied unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean

_EXAMPLES = Path(__file__).parent / "example-projects"
_RENAMED = {"gitignore": ".gitignore"}  # a file of that name would hide others from this repository
FOLDERS = ("trees", "skills", "envs", "memory", "guides", "schemas")
DEFAULT = "start"


def names() -> list[str]:
    """Returns the names of the examples, the simplest first."""
    return sorted((p.name for p in _EXAMPLES.iterdir() if p.is_dir()), key=lambda name: (name != DEFAULT, name))


def about(name: str) -> str:
    """Returns the first line of an example's README."""
    return (_EXAMPLES / name / "README.md").read_text("utf-8").partition("\n")[0].lstrip("# ")


def files(name: str) -> Iterator[tuple[Path, bytes]]:
    """Returns the files of a new project by their paths in it."""
    if name not in names():
        hint = did_you_mean(name, names(), f"examples: {', '.join(names())}")
        raise BtError(f"there is no example `{name}`", hint)
    home = _EXAMPLES / name
    for path in sorted(home.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            place = path.relative_to(home)
            yield place.with_name(_RENAMED.get(place.name, place.name)), path.read_bytes()
