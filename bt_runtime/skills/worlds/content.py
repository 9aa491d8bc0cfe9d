"""Reads a world's files; every fault names its file, its place and a remedy."""

from __future__ import annotations

import gzip
import json
from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from bt_runtime.language import source
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, Faults
from bt_runtime.language.kinds.shape import DRAFT, SCALAR, Schema, closed
from bt_runtime.language.placed import DataPlaces
from bt_runtime.language.project import disk, packaged
from bt_runtime.language.validate import DocumentCheck

CODE = "BT062"  # the code of each fault in a world's file
TEXT: Schema = {"type": SCALAR}  # a number may stand where a text does
OPEN: Schema = {"type": [*SCALAR, "null"]}  # … and nothing at all, which is an empty one
TEXTS: Schema = {"type": "array", "items": TEXT}


def by_name(each: Schema) -> Schema:
    """The schema of a mapping whose values have this form."""
    return {"type": "object", "additionalProperties": each}


def check_of(what: str, fields: Schema, needed: Iterable[str] = ()) -> DocumentCheck:
    """Returns the check for one type of content file. `what` names the type in messages, such as "a house"; `fields`
    are its properties, `needed` the required ones."""
    version = {"enum": [1], "errorMessage": "this reader knows version 1"}
    known = closed({"version": version, "about": OPEN, **fields}, ("version", *needed))
    return DocumentCheck({"$schema": DRAFT, "type": "object", **known}, CODE, what)


class Content:
    """Holds a file's data, the source position of each value, and the faults found so far."""

    def __init__(self, document: source.Document, check: DocumentCheck) -> None:
        self.name, self.text = document.name, document.text
        self.places = DataPlaces(document.sound(), document.name)
        self.data: Any = self.places.root.data()
        told = check.faults(self.places.root, self.name, self.data)
        self.faults = [fault for _, fault in told]
        self.wrong = {path[0] if path else "" for path, _ in told}  # parts that do not fit; "": the whole does not

    def fault(self, message: str, help: str, *at: str | int) -> Faults:
        """Adds a fault at this place and returns all faults so far as one exception for the caller to raise."""
        self.faults.append(Diagnostic(CODE, message, self.name, self.places.at(at).span, help=help))
        return Faults(self.faults, {self.name: self.text})

    def known(self, name: str, names: Container[str], file: str, *at: str | int) -> None:
        """Raises for a name that does not stand in that other file."""
        if name not in names:
            raise self.fault(f"`{name}` is not in {file}", "describe it there first", *at)

    def sound(self) -> Content:
        """Raises every fault that was found."""
        if self.faults:
            raise Faults(self.faults, {self.name: self.text})
        return self


def read_yaml(path: Path, check: DocumentCheck) -> Content:
    """Reads a file and checks it against its schema."""
    return Content(source.read(path), check).sound()


_LISTS: Schema = {"type": ["array", "object"], "items": TEXT, "additionalProperties": TEXTS}
_WORDS = DocumentCheck(
    {"$schema": DRAFT, "type": "object", "properties": {"version": {"enum": [1]}}, "additionalProperties": _LISTS},
    CODE, "a file of words",
)  # fmt: skip


@lru_cache(maxsize=8)
def word_lists(name: str) -> Mapping[str, Any]:
    """Reads a shipped file that contains only lists of words, such as `webshop/shop`, and returns the lists by name."""
    found: Mapping[str, Any] = read_yaml(packaged("envs") / f"{name}.yaml", _WORDS).data
    return found


def texts(listed: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(str, listed))


def read_json(path: Path, hint: str) -> Any:
    """Reads a JSON file, gzipped or plain. `hint` is the help text of the error when the file is unreadable."""
    try:
        raw = disk.read(path, disk.HUGE)
        return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except (OSError, ValueError, EOFError) as problem:
        raise BtError(f"cannot read {path}: {problem}", hint) from problem


def read_mapping(path: Path, hint: str) -> dict[str, Any]:
    found = read_json(path, hint)
    if not isinstance(found, dict):
        raise BtError(f"{path} holds no mapping", hint)
    return found
