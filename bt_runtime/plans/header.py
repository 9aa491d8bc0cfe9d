"""What the header of a plan may say: one list, from which the check, the editor's schema and the writing come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from bt_runtime.schema.shape import DRAFT, Schema, closed
from bt_runtime.types import Json

CODE = "BT061"  # of every fault in a plan's header
MARK = "---"


class HeaderField(NamedTuple):
    schema: Schema
    said: str  # what it must be, in words
    about: str


def _text(about: str) -> HeaderField:
    return HeaderField({"type": "string"}, "a text", about)


def _count(about: str) -> HeaderField:
    return HeaderField({"type": "integer", "minimum": 0}, "a whole number from 0", about)


_SCORE: Schema = {
    "type": "object",
    **closed(
        {
            "reached": {"type": "integer", "minimum": 0, "description": "Tasks whose goal was reached."},
            "of": {"type": "integer", "minimum": 1, "description": "Tasks in all."},
        },
        ("reached", "of"),
    ),
}


def _score(about: str) -> HeaderField:
    return HeaderField(_SCORE, "a score: `{reached: 3, of: 8}`", about)


FIELDS: Mapping[str, HeaderField] = {
    "version": HeaderField({"enum": [1]}, "1: this runtime reads version 1", "The version of the header: 1."),
    "kind": _text("The kind of task that the plan is for."),
    "world": _text("The world in which those tasks are."),
    "model": _text("Which model it was written by, and tried with."),
    "strategy": _text("The strategy that followed it."),
    "seed": HeaderField({"type": "integer"}, "a whole number", "The seed of the tasks it was made from."),
    "reflection": _text("What was written of each attempt."),
    "options": _text("Options of the world that differ from the usual."),
    "tasks": _text("Options of its tasks."),
    "steps": _count("How many acts an attempt could do."),
    "batch": _count("From how many tasks each version was made."),
    "iteration": _count("Which version it is; 0 is the empty plan at the start."),
    "parent": _text("The file of the version before it."),
    "training": _score("How the tasks went from which it was made, under the plan before it."),
    "validation": _score("How the tasks went that are kept aside to compare versions with."),
    "test": _score("How tasks of the other split went, which had no part in choosing it."),
    "setup": _text("A digest of everything it was made with: versions of another one do not belong to it."),
}


def plan_schema() -> Schema:
    """The editor's schema of a header."""
    return {
        "$schema": DRAFT,
        "title": "bt_runtime plans",
        "description": "The header of a plan that agents follow (plans/*.md), between two lines of ---.",
        "type": "object",
        **closed({name: {**f.schema, "description": f.about} for name, f in FIELDS.items()}, ("version",)),
    }


def complaint(field: HeaderField, value: Json) -> str:
    """What the value should have been; empty when it fits."""
    return "" if _fits(field.schema, value) else field.said


def as_yaml(header: Mapping[str, Json]) -> str:
    """The header's lines: JSON values are YAML, and no text can be misread."""
    return "".join(f"{name}: {json.dumps(header[name], ensure_ascii=False)}\n" for name in FIELDS if name in header)


def _fits(schema: Mapping[str, Any], value: Json) -> bool:
    if "enum" in schema:
        return value in schema["enum"] and not isinstance(value, bool)
    kind = schema["type"]
    if kind == "object":
        known = schema["properties"]
        return (
            isinstance(value, dict)
            and all(name in known and _fits(known[name], value[name]) for name in value)
            and all(name in value for name in schema["required"])
        )
    if kind == "string":
        return isinstance(value, str)
    return isinstance(value, int) and not isinstance(value, bool) and value >= schema.get("minimum", value)
