"""The example of a kind as a whole tree, as text and as data."""

from __future__ import annotations

from typing import Any

from bt_runtime.language import source
from bt_runtime.language.kinds.kind import Kind

_PORTS = {
    "message": "string",
    "battery": "number",
    "room": "string",
    "count": "integer",
    "error": "object",
    "place": "string",
}


def tree_text(example: str) -> str:
    ports = ", ".join(f"{name}: {type}" for name, type in _PORTS.items())
    inside = "".join(f"  {line}\n" for line in example.splitlines())
    return f"version: 1\ntree: t\nblackboard: {{{ports}}}\nroot:\n{inside}"


def tree_data(kind: Kind) -> Any:
    return source.parse(tree_text(kind.example)).sound().data()


MANIFEST = """\
version: 1
skills: house
impl: world
kinds:
  go_to:
    sentence: "go to {place} with {thing}"
    params:
      place: {type: string, about: a room}
      thing: {type: string}
      speed: {type: number, default: 1, minimum: 0, maximum: 2, choices: [1, 2]}
    outputs: {seen: list}
    needs: [hand free]
    brings: ["near {place}"]
    takes: 30
    on_resume: verify
  ring: {impl: "os:system", params: {command: string}}
"""
