"""JSON Schema of a tool → parameters and outputs of a skill. What cannot be held is told in words, never dropped
silently."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.kinds.kind import RESERVED
from bt_runtime.types import Json

TYPES = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "array": "list",
         "object": "object"}  # fmt: skip
MOST_ABOUT = 160  # characters of a description that a manifest keeps
MOST_FIELDS = 40
MOST_CHOICES = 100
REFERENCES = 8  # references followed one after another
HELD = frozenset({"type", "description", "title", "default", "enum", "const", "minimum", "maximum", "anyOf", "oneOf",
                  "$ref", "items", "properties", "required", "additionalProperties", "examples"})  # fmt: skip
_PLAIN = re.compile(r"[A-Za-z]+(?:[ _][A-Za-z]+)*[.]?")  # needs no quotes
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Unheld(BtError):
    """A schema that a manifest cannot say."""


@dataclass
class Held:
    """The fields of a skill, as its manifest has them, and what was left out."""

    fields: dict[str, dict[str, Json]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def held(schema: Any, optional_null: bool = True) -> Held:
    """The fields of an object's schema. Raises Unheld for a required one that cannot be said."""
    found = Held()
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise Unheld("its schema is not that of an object")
    fields = schema.get("properties") or {}
    if not isinstance(fields, dict) or len(fields) > MOST_FIELDS:
        raise Unheld(f"it has more than {MOST_FIELDS} parameters")
    required = [name for name in schema.get("required") or () if isinstance(name, str)]
    for name in required:
        if name not in fields:
            raise Unheld(f"it requires `{name:.40}`, and does not say what that is")
    for name, about in fields.items():
        try:
            found.fields[name] = _field(name, _resolved(about, schema), found)
        except Unheld as fault:
            if name in required:
                raise
            found.notes.append(f"left out: {fault.message}")
            continue
        if name in required:
            found.required.append(name)
        elif optional_null and "default" not in found.fields[name]:
            found.fields[name] |= {"type": "any", "default": None}  # left out of the call, unless a tree gives it
    return found


def _resolved(about: Any, whole: Mapping[str, Any]) -> dict[str, Any]:
    """A field's schema with references followed and `null` taken out of its alternatives."""
    for _ in range(REFERENCES):
        if not isinstance(about, dict):
            return {}
        reference = about.get("$ref")
        if isinstance(reference, str):
            about = {**_referred(reference, whole), **{key: about[key] for key in about if key != "$ref"}}
            continue
        options = about.get("anyOf") or about.get("oneOf")
        if not isinstance(options, list):
            return about
        left = [each for each in options if isinstance(each, dict) and each.get("type") != "null"]
        outer = {key: value for key, value in about.items() if key not in ("anyOf", "oneOf")}
        if len(left) != 1:
            return outer
        about = {**left[0], **outer}
    return {}


def _referred(reference: str, whole: Mapping[str, Any]) -> dict[str, Any]:
    found: Any = whole
    for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ():
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, dict) or found is whole:
        raise Unheld(f"it refers to `{reference:.60}`, which is not in its schema")
    return found


def _field(name: str, about: Mapping[str, Any], found: Held) -> dict[str, Json]:
    if not _NAME.fullmatch(name):
        raise Unheld(f"`{visible(name[:40])}` cannot be the name of a parameter: letters, digits and _, at most 64")
    if name in RESERVED:
        raise Unheld(f"`{name}` is a name that any node carries")
    made: dict[str, Json] = {"type": _type(about)}
    said = about.get("description")
    if isinstance(said, str) and said.strip():
        made["about"] = one_line(said)
    choices = about.get("enum") if isinstance(about.get("enum"), list) else [about["const"]] if "const" in about else []
    if choices:
        plain = [each for each in choices or () if isinstance(each, str | int | float | bool)]
        if len(plain) > MOST_CHOICES:
            found.notes.append(f"`{name}`: its {len(plain)} choices are not listed")
        elif plain:
            made["choices"] = plain
    for bound in ("minimum", "maximum"):
        if type(about.get(bound)) in (int, float) and made["type"] in ("integer", "number"):
            made[bound] = about[bound]
    if about.get("default") is not None:
        made["default"] = about["default"]
    beyond = sorted(set(about) - HELD)
    if beyond:
        found.notes.append(f"`{name}`: the server itself checks {', '.join(beyond)[:80]}")
    return made


def _type(about: Mapping[str, Any]) -> str:
    said = about.get("type")
    if isinstance(said, list):
        plain = [each for each in said if each != "null"]
        said = plain[0] if len(plain) == 1 else None
    if said is None and isinstance(about.get("enum"), list) and all(isinstance(e, str) for e in about["enum"]):
        return "string"
    return TYPES.get(said, "any") if isinstance(said, str) else "any"


def one_line(text: str, most: int = MOST_ABOUT) -> str:
    """The first sentence or line of a description, without control characters."""
    line = visible(text.strip().partition("\n")[0]).strip()
    return line if len(line) <= most else f"{line[: most - 1]}…"


def flow(value: Json) -> str:
    """A value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key_of(key)}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


def key_of(key: str) -> str:
    """A key of a mapping; one that a server chose may hold anything."""
    return key if _NAME.fullmatch(key) and key.lower() not in _WORDS else json.dumps(key)
