"""What is wrong with a message of another system, by a JSON Schema: each fault with its place, short enough to read."""

from __future__ import annotations

from typing import Any

from bt_runtime.types import Json

LONGEST = 200  # characters of one fault


def faults_of(validator: Any, message: Json) -> list[str]:
    """Returns the faults that a validator of jsonschema finds; [] for a sound message."""
    return [f"{error.json_path[:80]}: {_cut(error.message)}" for error in validator.iter_errors(message)]


def _cut(text: str) -> str:
    """The value stands at the beginning and what is wrong with it at the end: both are kept."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}…{text[-half:]}"
