"""The example of a kind as a whole tree, as text and as data."""

from __future__ import annotations

from typing import Any

from bt_runtime.language import source
from bt_runtime.plugins import Kind

HEAD = """version: 1
tree: t
outputs:
  battery: {type: number, default: 0.9}
  message: {type: string, default: hi}
  room: {type: string, default: hall}
  count: {type: integer, default: 0}
  lessons: {type: list, default: []}
  plan: {type: string, default: ""}
  team: {type: string, default: ""}
  urgency: {type: integer, default: 1}
  margin: {type: number, default: 0}
  error: {type: object, default: {}}
  place: {type: string, default: shelf}
root:
"""
DOCK = "version: 1\ntree: dock\ninputs: {speed: {type: number, default: 1}}\nroot: {wait: 0}\n"  # `dock.yaml`


def tree_text(example: str) -> str:
    return HEAD + "".join(f"  {line}\n" for line in example.splitlines())


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
