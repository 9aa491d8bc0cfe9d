"""Reading a world's YAML: one door, so that every fault names its file and says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from bt_runtime.diagnose import BtError


def read_yaml(path: Path) -> Mapping[str, Any]:
    """The mapping in that file, which says `version: 1`."""
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as problem:
        raise BtError(f"cannot read {path}: {problem.strerror}", "check the path and its permissions") from problem
    except UnicodeDecodeError as problem:
        raise BtError(f"{path}: not UTF-8 text", "save the file as UTF-8") from problem
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise BtError(f"{place}: {getattr(problem, 'problem', None) or 'not YAML'}", "mend the YAML") from problem
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
