"""OpenAI-style function tools: skills as such JSON, and such JSON as a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bt_author.mcp.leaf.manifest import Foreign
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.project import disk
from bt_runtime.types import Json

MOST = 4 * 2**20  # bytes of a file of tools
SCHEMA = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "list": "array",
          "object": "object"}  # fmt: skip


def exported(kinds: Iterable[Kind]) -> list[dict[str, Json]]:
    """The skills as function tools, in the form that chat models are given them."""
    return [{"type": "function", "function": _function(kind)} for kind in kinds]


def _function(kind: Kind) -> dict[str, Json]:
    taken = [field for field in kind.fields if not field.writes]
    required = [field.name for field in taken if field.required]
    params: dict[str, Json] = {"type": "object", "properties": {field.name: _schema(field) for field in taken}}
    params |= {"required": required, "additionalProperties": False}
    return {"name": kind.name, "description": kind.about, "parameters": params}


def _schema(field: Field) -> dict[str, Json]:
    said: dict[str, Json] = {"type": SCHEMA[field.type]} if field.type in SCHEMA else {}
    if field.about:
        said["description"] = field.about
    if field.choices:
        said["enum"] = list(field.choices)
    bounds = {"minimum": field.minimum, "maximum": field.maximum, "default": field.default}
    return said | {key: bound for key, bound in bounds.items() if bound is not None}


def read(path: Path) -> list[Foreign]:
    """The tools of a file: a list of `{"type": "function", "function": …}`, of functions alone, or `{"tools": […]}`."""
    try:
        found: Any = json.loads(disk.read(path, MOST))
    except OSError as error:
        raise BtError(f"{path} cannot be read: {error.strerror}", "name a JSON file with tools") from error
    except (ValueError, RecursionError) as error:
        raise BtError(f"{path} is not JSON: {error}", "name a JSON file with tools") from error
    listed = found.get("tools") if isinstance(found, dict) and "tools" in found else found
    tools = [_tool(each) for each in (listed if isinstance(listed, list) else [listed])]
    if not tools:
        raise BtError(f"{path} holds no tools", 'such as [{"type": "function", "function": {"name": …}}]')
    return tools


def _tool(given: Any) -> Foreign:
    inner = given.get("function", given) if isinstance(given, dict) else None
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        raise BtError(f"this is no function tool: {json.dumps(given)[:120]}", 'it has a "name" and "parameters"')
    about = inner.get("description")
    params = inner.get("parameters") or inner.get("input_schema") or {"type": "object", "properties": {}}
    return Foreign(inner["name"], about if isinstance(about, str) else "", params)
