"""The fields of a plan's header: one list for the check, the editor's schema and the writer."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bt_runtime.language.kinds.shape import DRAFT, Schema, closed
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.types import Json

CODE = "BT061"  # the code of each fault in a plan's header
MARK = "---"


def _field(schema: Schema, said: str, about: str) -> Schema:
    """Returns a field's schema. `said` is the error message for a wrong value."""
    return {**schema, "description": about, "errorMessage": said}


def _text(about: str) -> Schema:
    return _field({"type": "string"}, "a text", about)


def _count(about: str, least: int = 0) -> Schema:
    return _field({"type": "integer", "minimum": least}, f"a whole number from {least}", about)


def _score(about: str) -> Schema:
    fields = _named({"reached": _count("Tasks whose goal was reached."), "of": _count("Tasks in all.", 1)})
    return _field({"type": "object", **closed(fields, fields)}, "a score: `{reached: 3, of: 8}`", about)


def _named(fields: Mapping[str, Schema]) -> dict[str, Schema]:
    """Turns error messages into whole sentences, as editors show them unchanged."""
    return {name: {**field, "errorMessage": f"`{name}` is {field['errorMessage']}"} for name, field in fields.items()}


FIELDS = _named({
    "version": _field({"enum": [1]}, "1: this runtime reads version 1", "The version of the header: 1."),
    "kind": _text("The kind of task that the plan is for."),
    "world": _text("The world in which those tasks are."),
    "model": _text("Which model it was written by, and tried with."),
    "strategy": _text("The strategy that followed it."),
    "seed": _field({"type": "integer"}, "a whole number", "The seed of the tasks it was made from."),
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
})  # fmt: skip


def plan_schema() -> Schema:
    """The editor's schema of a header."""
    return {
        "$schema": DRAFT,
        "title": "bt_runtime plans",
        "description": "The header of a plan that agents follow (guides/*.md), between two lines of ---.",
        "type": "object",
        **closed(dict(FIELDS), ("version",)),
    }


CHECK = DocumentCheck(plan_schema(), CODE, "a plan")


def as_yaml(header: Mapping[str, Json]) -> str:
    """Formats the header as YAML: JSON values are valid YAML, so that no text can be misread."""
    return "".join(f"{name}: {json.dumps(header[name], ensure_ascii=False)}\n" for name in FIELDS if name in header)
