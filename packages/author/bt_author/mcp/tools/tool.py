"""One tool: its name, a sentence, its parameters as JSON Schema, and the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bt_author.mcp.tools.answer import Answer
from bt_author.mcp.tools.site import Site
from bt_runtime.types import Json

Schema = dict[str, Json]


class Tool(NamedTuple):
    name: str
    about: str
    params: Mapping[str, Schema]
    run: Callable[..., Answer]
    required: tuple[str, ...] = ()
    reads: bool = True  # true: the tool changes nothing
    returns: Mapping[str, Schema] = {}
    confirm: Callable[[Site, Mapping[str, Any]], str] | None = None  # the question to a person; "": none

    def schema(self) -> Schema:
        found: Schema = {"type": "object", "properties": dict(self.params)}  # others are refused: see `wrong`
        return found | ({"required": list(self.required)} if self.required else {})

    def output(self) -> Schema:
        return {"type": "object", "properties": dict(self.returns)}

    def call(self, site: Site, given: Mapping[str, Any]) -> Answer:
        return self.run(site, **given)


def text(about: str = "") -> Schema:
    return {"type": "string", "description": about} if about else {"type": "string"}


def texts(about: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": about}


def mapping(about: str) -> Schema:
    return {"type": "object", "description": about}


def count(about: str = "", least: int = 1, most: int | None = None) -> Schema:
    found: Schema = {"type": "integer", "minimum": least}
    return found | ({"maximum": most} if most else {}) | ({"description": about} if about else {})


def seconds(about: str, most: float) -> Schema:
    return {"type": "number", "exclusiveMinimum": 0, "maximum": most, "description": about}


PAGE = count()
TREE = text("name, path, YAML or draft:ID")
PAGED: Mapping[str, Schema] = {"page": {"type": "integer"}, "pages": {"type": "integer"}}
FAULTS: Mapping[str, Schema] = {
    "sound": {"type": "boolean"},
    "faults": {"type": "array", "items": {"type": "object"}},
}
