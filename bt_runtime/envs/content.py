"""Reading a world's YAML: one door, so that every fault names its file and says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bt_runtime import source
from bt_runtime.diagnose import BtError


def read_yaml(path: Path) -> Mapping[str, Any]:
    """The mapping in that file, which says `version: 1`."""
    found = source.read(path).sound().data()  # raises every fault of the file, with its place
    if not isinstance(found, Mapping):
        raise BtError(f"{path}: a mapping is expected at the top", "begin with `version: 1`")
    if found.get("version") != 1:
        raise BtError(f"{path}: version {found.get('version')!r} is not known", "write `version: 1`")
    return found


def part(found: Mapping[str, Any], key: str, kind: type, path: Path, default: Any = None) -> Any:
    """One field of it, of the type asked for."""
    value = found.get(key, default)
    if not isinstance(value, kind):
        raise BtError(f"{path}: `{key}` must be a {_NAMES.get(kind, kind.__name__)}", f"give `{key}:`")
    return value


_NAMES = {dict: "mapping", list: "list", str: "string", int: "whole number"}
