"""Models of nodes: the ports of each, with direction and type, as `TreeNodesModel` says them."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from bt_robots.btcpp.document import Element
from bt_runtime.types import Json

SORTS = ("Action", "Condition", "Control", "Decorator", "SubTree")
DIRECTIONS = {"input_port": "in", "output_port": "out", "inout_port": "both", "bidirectional_port": "both"}
TAGS = {"in": "input_port", "out": "output_port", "both": "inout_port"}
_INTEGERS = {"int", "unsigned", "unsigned int", "long", "size_t", "short", "char"}
_NUMBER = re.compile(r"-?\d+")
_REAL = re.compile(r"-?(?:\d+\.\d*|\.?\d+)(?:[eE][+-]?\d+)?")
ENTRY = re.compile(r"\{\s*(@?[^{}\s]+|=)\s*\}")


class Port(NamedTuple):
    name: str  # as in the XML
    direction: str = "in"  # `in`, `out`, `both`
    type: str = "any"  # ours
    foreign: str = ""  # the C++ type, where ours says less
    default: str | None = None  # as in the XML
    about: str = ""
    reads: str = ""  # the type by which texts are read, where one of them does not fit and the port is `any`
    follow: bool = False  # is it told anew while it runs: `follow="true"`, a word of ours in models


class Model(NamedTuple):
    id: str
    sort: str
    ports: dict[str, Port]
    given: bool = True  # did somebody say so, or is it guessed from how it is used
    at_once: bool = False  # an action that answers in the tick: `instant="true"`, a word of ours in models

    @property
    def instant(self) -> bool:
        return self.at_once or self.sort != "Action"


def models(top: Element) -> dict[str, Model]:
    """The models in all `TreeNodesModel` elements of a document."""
    return {
        each.get("ID"): Model(each.get("ID"), each.tag, {p.name: p for p in map(port, each.children) if p.name},
                             at_once=each.get("instant") == "true")
        for part in top.children if part.tag == "TreeNodesModel"
        for each in part.children if each.tag in SORTS and each.get("ID")
    }  # fmt: skip


def port(element: Element) -> Port:
    said = element.get("type")
    type = type_of(said)
    about = " ".join((element.text or element.get("description")).split())
    foreign = said if type == "any" and said not in ("", "any", "BT::Any", "AnyTypeAllowed") else ""
    direction, default = DIRECTIONS.get(element.tag, "in"), element.attributes.get("default")
    follow = element.get("follow") == "true"
    return Port(element.get("name"), direction, type, foreign, default, about, follow=follow)


def type_of(said: str) -> str:
    """Returns our type for a C++ type."""
    plain = said.replace("const", "").replace("&", "").strip()
    if plain in _INTEGERS or re.fullmatch(r"(?:std::)?u?int(?:8|16|32|64)_t", plain):
        return "integer"
    if plain in ("double", "float"):
        return "number"
    if plain in ("bool", "std::string", "string", "std::string_view"):
        return "boolean" if plain == "bool" else "string"
    return "list" if plain.startswith(("std::vector<", "std::list<", "BT::SharedQueue<")) else "any"


CPP = {
    "integer": "int",
    "number": "double",
    "boolean": "bool",
    "string": "std::string",
    "list": "std::vector<std::string>",
}


def entry_of(text: str, port: str = "") -> str | None:
    """Returns the name in `{entry}`; `{=}` means the port's own name."""
    found = ENTRY.fullmatch(text.strip())
    if found is None:
        return None
    return port if found[1] == "=" else found[1]


def literal(text: str, type: str) -> Json:
    """Parses the text of an attribute by the port's type; returns the text when it does not fit."""
    plain = text.strip()
    if plain.startswith("json:"):
        try:
            return json.loads(plain[5:], parse_constant=lambda word: word)
        except (ValueError, RecursionError):
            return text
    if type == "boolean" and plain.lower() in ("true", "false", "0", "1"):
        return plain.lower() in ("true", "1")
    if type == "integer" and _NUMBER.fullmatch(plain):
        return int(plain[:300])
    if type == "number" and _REAL.fullmatch(plain):
        return int(plain[:300]) if _NUMBER.fullmatch(plain) else float(plain)
    if type == "list":
        return [guessed(part) for part in plain.split(";") if part.strip()]
    return text


def guessed(text: str) -> Json:
    """A value of undeclared type, with its type guessed from its form."""
    return literal(text, type_seen([text]))


def type_seen(texts: list[str]) -> str:
    """Returns the narrowest type that fits all of these texts."""
    plain = [text.strip() for text in texts]
    if not plain or any(text.startswith("json:") for text in plain):
        return "any"
    if all(text in ("true", "false") for text in plain):
        return "boolean"
    if all(_REAL.fullmatch(text) for text in plain):
        return "integer" if all(_NUMBER.fullmatch(text) for text in plain) else "number"
    return "string"


def attribute(value: Any) -> str:
    """Formats a value as an attribute's text that `literal` can read."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, int | float) else "json:" + json.dumps(value)
