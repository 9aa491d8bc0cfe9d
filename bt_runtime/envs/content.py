"""Reading a world's files: one door, so that every fault names its file and says what to do."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language import source


def read_yaml(path: Path) -> Mapping[str, Any]:
    """The mapping in that file, which says `version: 1`."""
    found = source.read(path).sound().data()  # raises every fault of the file, with its place
    if not isinstance(found, Mapping):
        raise BtError(f"{path}: a mapping is expected at the top", "begin with `version: 1`")
    if found.get("version") != 1:
        raise BtError(f"{path}: version {found.get('version')!r} is not known", "write `version: 1`")
    return found


def part(found: Mapping[str, Any], key: str, kind: type, where: Path | str, default: Any = None) -> Any:
    """One field of it, of the type asked for."""
    value = found.get(key, default)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BtError(f"{where}: `{key}` must be a {_NAMES.get(kind, kind.__name__)}", f"give `{key}:`")
    return value


def entries(found: Mapping[str, Any], key: str, where: Path | str, default: Any = None) -> Mapping[str, dict[str, Any]]:
    """A mapping of mappings by name; one that is left empty has no fields."""
    whole = part(found, key, dict, where, default)
    given = {name: value for name, value in whole.items() if value is not None}
    return {str(name): part(given, name, dict, f"{where}: `{key}`", {}) for name in whole}


def words(found: Mapping[str, Any], key: str, where: Path | str, default: Any = None) -> Mapping[str, str]:
    """A mapping of texts by name."""
    whole = part(found, key, dict, where, default)
    return {str(name): _word(value, f"{where}: `{key}`: `{name}`") for name, value in whole.items()}


def texts(found: Mapping[str, Any], key: str, where: Path | str, default: Any = ()) -> tuple[str, ...]:
    """A list of texts."""
    listed = part(found, key, list, where, list(default) if default is not None else None)
    return tuple(_word(value, f"{where}: `{key}`") for value in listed)


def many(found: Mapping[str, Any], key: str, where: Path | str, default: Any = None) -> Mapping[str, tuple[str, ...]]:
    """A mapping of lists of texts by name."""
    whole = part(found, key, dict, where, default)
    return {str(name): texts(whole, name, f"{where}: `{key}`", None) for name in whole}


def _word(value: Any, where: str) -> str:
    """A number may stand where a text does; nothing at all is an empty one."""
    if isinstance(value, list | dict):
        raise BtError(f"{where} has a {_NAMES[type(value)]} where a text is expected", "write one text, on one line")
    return "" if value is None else str(value)


_NAMES = {dict: "mapping", list: "list", str: "string", int: "whole number", bool: "yes or no (true or false)"}


def read_json(path: Path, hint: str) -> Any:
    """What a JSON file holds, packed or not; `hint` is the way out when it cannot be read."""
    try:
        raw = path.read_bytes()
        return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except (OSError, ValueError, EOFError) as problem:
        raise BtError(f"cannot read {path}: {problem}", hint) from problem
