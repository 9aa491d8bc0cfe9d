"""What a run was given: by a name it is found again under, or as an object that has to be given again.

Both are kept in the journal's head with what tells them from others, so that a run goes on with what it ran with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.llm.backends import is_file
from bt_runtime.llm.model_setting import Named, adapters, apart, is_mapping
from bt_runtime.llm.settings import STARTER, find_model, starter
from bt_runtime.project.importing import split
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import TreeSpec

WHOLE = 32 * 2**20  # bytes of a file that are read wholly for its digest; of larger ones, parts
_PART = 2**18
_PARTS = 64


def kept(given: Mapping[str, Any], opened: Any, task: bool, trees: Iterable[TreeSpec]) -> dict[str, Json]:
    """All of it, for the head of a run that begins. `opened`: its memory; `task`: was it given one?"""
    return {
        "models": {role: model(found) for role, found in models(given.get("model")).items()},
        "memory": memory(given.get("memory"), opened),
        "task": task,  # else the world brought its own
        "services": {name: kind(thing) for name, thing in _services(given)},
        "code": [{"file": str(path), "digest": digest(path)} for path in code(trees)],
    }


def _services(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Those that whoever resumes has to give again; the register of the prompts is kept with each model."""
    return sorted((name, thing) for name, thing in (given.get("services") or {}).items() if name != "prompts")


def models(given: Any) -> dict[str, Any]:
    """By role, however they were given."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or is_mapping(given):
        given = {"default": given}
    return {str(role): apart(each).text() if is_mapping(each) else each for role, each in given.items()}


def names(kept: Any) -> dict[str, Json]:
    """What its models are called, for people."""
    return {role: found.get("name") or f"object: {found['object']}" for role, found in kept.items()}


def model(given: Any) -> dict[str, Json]:
    if not isinstance(given, str | Path):
        return {"object": kind(given)}
    where, how = apart(find_model(str(given)))
    if not is_file(where):
        return {"name": Named(where, how).text()}
    path = Path(where).resolve()
    name = Named(STARTER if _is_starter(path) else str(path), how).text()
    return {"name": name, "digest": of_model(name)}


def memory(given: Any, opened: Any) -> dict[str, Json] | None:
    """`opened`: the memory itself, which knows who it is, however much it has grown."""
    if given is None:
        return None
    if not isinstance(given, str | Path):
        return {"object": kind(given)}
    return {"name": str(Path(given).resolve()), "identity": opened.identity()}


def kind(thing: Any) -> str:
    """What an object is called where a person is asked for it."""
    return short((thing if isinstance(thing, type) else type(thing)).__qualname__)


def short(qualified: str) -> str:
    """The name of a class that was made in a function, without that function's."""
    return qualified.rpartition("<locals>.")[2]


def _is_starter(path: Path) -> bool:
    return path.name == "starter.gguf" and path == starter().resolve()


def place(name: str) -> Path | None:
    """Where a model of this name lies; None when it is no file."""
    where = apart(name).where
    return starter() if where == STARTER else Path(where) if is_file(where) else None


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
    """Of a file's length and content, "" when there is none; of a large file many parts stand for the whole."""
    from hashlib import sha256

    try:
        with path.open("rb") as file:
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
        yield (folder / home).resolve()


def changed_files(files: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """What became of the texts that a run was made of, in words."""
    for file in files:
        path = Path(file["origin"])
        try:
            if path.read_text(encoding="utf-8") != file["text"]:
                yield f"{path} has changed"
        except (OSError, ValueError):
            yield f"{path} is not there any more"


def changed_code(kept: Iterable[Mapping[str, str]]) -> Iterator[str]:
    for each in kept:
        now = digest(Path(each["file"]))
        if now != each["digest"]:
            yield f"{each['file']} {'has changed' if now else 'is not there any more'}"
