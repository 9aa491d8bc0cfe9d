"""The files a run was made of, kept in its journal, and laid out again for a run that is made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.machinery import all_suffixes
from pathlib import Path, PurePosixPath
from typing import Any

from bt_runtime import project
from bt_runtime.language.kinds.kind import Field, FieldType, Kind
from bt_runtime.language.manifest import Entry, skill_kind
from bt_runtime.types import Json


def kept(files: Mapping[Path, str], root: Path | None, home: Path | None) -> list[Json]:
    """Each file with where it was, and where it stands in a project of its own."""
    return [{"origin": str(p), "place": _place(p, root, home), "text": text} for p, text in files.items()]


def _place(path: Path, root: Path | None, home: Path | None) -> str:
    if root is not None and path.is_relative_to(root.resolve()):
        return str(path.relative_to(root.resolve()))
    for folder in ("trees", "skills"):
        for shipped in (place.resolve() for place in project.installed(folder)):
            if path.is_relative_to(shipped):
                return f"{folder}/{path.relative_to(shipped)}"
    if home is not None and path.is_relative_to(home.resolve()):
        return f"trees/{path.relative_to(home.resolve())}"
    return f"trees/{path.name}"


def digest(files: Iterable[Mapping[str, str]], text: str) -> str:
    """One number for everything the tree was made of."""
    found = sha256(text.encode("utf-8", "backslashreplace"))
    for file in sorted(files, key=lambda f: f["place"]):
        found.update(f"\0{file['place']}\0{file['text']}".encode("utf-8", "backslashreplace"))
    return found.hexdigest()


def unchanged(files: Iterable[Mapping[str, str]]) -> bool:
    """Are all files still where they were, with the text they had?"""
    for file in files:
        path = Path(file["origin"])
        try:
            if path.read_text(encoding="utf-8") != file["text"]:
                return False
        except (OSError, ValueError):
            return False
    return True


def lay_out(files: Iterable[Mapping[str, str]], folder: Path) -> None:
    """A project of the recorded trees and manifests. Nothing that Python would import, nor settings, comes of it."""
    (folder / project.PROJECT_FILE).write_text("# laid out from a journal\n", encoding="utf-8")
    for file in files:
        place = PurePosixPath(file["place"])
        if place.is_absolute() or ".." in place.parts:
            continue  # a journal may come from anywhere: nothing is written outside
        if place.name == project.PROJECT_FILE or place.name.endswith(tuple(all_suffixes())):
            continue  # … and nothing that it brings is run
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file["text"], encoding="utf-8")


def kinds_kept(kinds: Iterable[Kind]) -> list[Json]:
    """Skills that were given as Python objects: their shape, so that the tree can be checked without them."""
    found = []
    for kind in kinds:
        entry: Any = kind.data["entry"]
        fields = [[f.name, f.type, f.about, f.required, f.default, list(f.choices), f.writes] for f in kind.fields]
        shape = {"sentence": entry.sentence, "types": entry.types, "takes": entry.takes}
        shape |= {"on_resume": entry.on_resume, "durable": entry.durable}
        found.append({"name": kind.name, "about": kind.about, "fields": fields, **shape})
    return found


def kinds_of(found: Iterable[Mapping[str, Any]]) -> tuple[Kind, ...]:
    return tuple(_kind(k) for k in found)


def _kind(kept: Mapping[str, Any]) -> Kind:
    fields = tuple(_field(*f) for f in kept["fields"])
    about = {name: kept[name] for name in ("takes", "on_resume", "durable") if name in kept}
    entry = Entry(kept["sentence"], "python", "", dict(kept["types"]), **about)
    return skill_kind(kept["name"], kept["about"], fields, entry)


def _field(
    name: str, type_: FieldType, about: str, required: bool, default: Json, choices: list[Json], writes: bool
) -> Field:
    return Field(name, type_, about, required, default, tuple(choices), writes=writes)
