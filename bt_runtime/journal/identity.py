"""Identifies the things given to a run: by a name that finds them again, or as objects to be given again.

The journal's head keeps both with identifying data, so that a resumed run continues with equal things."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime._version import __version__
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.backends import is_file
from bt_runtime.llm.model_setting import Named, adapters, apart, is_mapping
from bt_runtime.llm.settings import NAMED_FILES, find_model
from bt_runtime.project import disk, real
from bt_runtime.project.importing import split
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import TreeSpec

WHOLE = 32 * 2**20  # bytes of a file that are read wholly for its digest; of larger ones, parts
_PART = 2**18
_PARTS = 64


def kept(given: Mapping[str, Any], opened: Any, task: bool, trees: Iterable[TreeSpec]) -> dict[str, Json]:
    """The run's identity for its journal's head. `opened`: the open memory; `task`: the caller gave a task."""
    return {
        "models": {role: model(found) for role, found in models(given.get("model")).items()},
        "memory": memory(given.get("memory"), opened),
        "task": task,  # else the world brought its own
        "services": {name: kind(thing) for name, thing in _services(given)},
        "code": [{"file": str(path), "digest": digest(path)} for path in code(trees)],
    }


def _services(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Lists the services to be given again on resume. Each model keeps its prompt register itself."""
    return sorted((name, thing) for name, thing in (given.get("services") or {}).items() if name != "prompts")


def models(given: Any) -> dict[str, Any]:
    """Returns the models by role, in any accepted form."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or is_mapping(given):
        given = {"default": given}
    return {str(role): apart(each).text() if is_mapping(each) else each for role, each in given.items()}


def names(kept: Any) -> dict[str, Json]:
    """Returns the models' names for people, by role."""
    return {role: found.get("name") or f"object: {found['object']}" for role, found in kept.items()}


def model(given: Any) -> dict[str, Json]:
    if not isinstance(given, str | Path):
        return {"object": kind(given)}
    where, how = apart(find_model(str(given)))
    if not is_file(where):
        return {"name": Named(where, how).text()}
    path = real(Path(where))
    name = Named(_word(path) or str(path), how).text()
    return {"name": name, "digest": of_model(name)}


def memory(given: Any, opened: Any) -> dict[str, Json] | None:
    """Identifies a memory. `opened` is the open memory, whose identity stays constant while it grows."""
    if given is None:
        return None
    if not isinstance(given, str | Path):
        return {"object": kind(given)}
    return {"name": str(real(Path(given))), "identity": opened.identity()}


def kind(thing: Any) -> str:
    """Returns an object's class name for a request to a person."""
    return short((thing if isinstance(thing, type) else type(thing)).__qualname__)


def short(qualified: str) -> str:
    """Returns the qualified name of a class without the enclosing function's part, up to `<locals>`."""
    return qualified.rpartition("<locals>.")[2]


def _word(path: Path) -> str:
    """The word that names this file on every machine; "" where none does."""
    for word, find in NAMED_FILES.items():
        with suppress(BtError):  # that one is not installed
            if path == real(find()):
                return word
    return ""


def place(name: str) -> Path | None:
    """Returns a model's file; None for a model without a file."""
    where = apart(name).where
    return NAMED_FILES[where]() if where in NAMED_FILES else Path(where) if is_file(where) else None


def of_model(name: str) -> str:
    """The digest of its file, and of what is laid over it; "" when one of them is not there."""
    where, how = apart(name)
    files = [place(where) or Path(where), *(Path(adapter.file) for adapter in adapters(how.get("lora", ())))]
    found = [digest(path) for path in files]
    if len(found) == 1 or "" in found:
        return min(found)
    from hashlib import sha256

    return sha256(" ".join(found).encode()).hexdigest()[:32]


def digest(path: Path) -> str:
    """Returns a digest of a file's length and content, "" without a file. Large files are sampled in many places."""
    from hashlib import sha256

    try:
        with os.fdopen(disk.opened(path), "rb") as file:
            size = path.stat().st_size
            found = sha256(str(size).encode())
            if size <= WHOLE:
                found.update(file.read())
                return found.hexdigest()[:32]
            for part in range(_PARTS):
                file.seek((size - _PART) * part // (_PARTS - 1))
                found.update(file.read(_PART))
            return found.hexdigest()[:32]
    except OSError:
        return ""


def code(trees: Iterable[TreeSpec]) -> list[Path]:
    """The Python files that their skills and classes are in."""
    found: dict[Path, None] = {}
    for spec in trees:
        for entry in (k.data["entry"] for k in spec.registry if "entry" in k.data):
            found.update(dict.fromkeys(_file(entry.impl, Path(entry.folder))))
        for node in spec.root.walk():
            found.update(dict.fromkeys(_file(str(node.values.get("class", "")), spec.folder)))
    return sorted(found)


def _file(reference: str, folder: Path) -> Iterator[Path]:
    home = split(reference)[0] if ".py:" in reference else ""
    if home.endswith(".py"):
        yield real(folder / home)


def changed_files(files: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Describes which source files of a run have changed or disappeared."""
    for file in files:
        path = Path(file["origin"])
        try:
            if disk.read_text(path) != file["text"]:
                yield f"{path} has changed"
        except (OSError, ValueError):
            yield f"{path} is not there any more"


def changed_code(kept: Iterable[Mapping[str, str]]) -> Iterator[str]:
    for each in kept:
        now = digest(Path(each["file"]))
        if now != each["digest"]:
            yield f"{each['file']} {'has changed' if now else 'is not there any more'}"


def versions() -> dict[str, str]:
    """Returns the versions of this package, Python and py_trees, and the platform, for a journal's head."""
    try:  # not by the metadata of packages: to read them loads a parser of mails
        from py_trees.version import __version__ as py_trees
    except ImportError:
        py_trees = "?"
    return {
        "bt_runtime": __version__, "python": platform.python_version(), "py_trees": py_trees, "platform": sys.platform
    }  # fmt: skip
