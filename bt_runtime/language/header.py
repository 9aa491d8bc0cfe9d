"""Reads the head of a tree file: version, name and typed ports."""

from __future__ import annotations

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.head_schema import PORT_TYPES, header_schema
from bt_runtime.language.schema_quick import Path, number
from bt_runtime.language.source import Node, Scalar, YamlMap
from bt_runtime.language.spec import ABSENT, Port
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.language.values import NAME
from bt_runtime.types import Json

PORTS = ("inputs", "outputs", "blackboard")
_VALUES = ("default", "choices")  # fields of a port whose values must fit its type


def _code(path: Path) -> str:
    if not path or path[0] not in PORTS:
        return "BT018"
    return "BT016" if len(path) > 2 and path[2] == "default" else "BT048"


CHECK = DocumentCheck(header_schema(), _code, "a tree file")


class Header:
    """The head above `root`. Faulty parts are reported and skipped."""

    def __init__(self, top: YamlMap, file: str, diagnostics: Diagnostics) -> None:
        self.top, self.file, self.diagnostics = top, file, diagnostics
        self.places: dict[str, str] = {}  # port → the head under which it stands
        head = {key.text: None if key.text == "root" else node.data() for key, node in top}
        diagnostics.add(*(fault for _, fault in CHECK.faults(top, file, head)))

    def name(self) -> str:
        node = self.top.get("tree")
        fits = isinstance(node, Scalar) and isinstance(node.value, str) and NAME.fullmatch(node.text)
        return node.text if isinstance(node, Scalar) and fits else "tree"

    def text(self, key: str) -> str:
        node = self.top.get(key)
        return node.text if isinstance(node, Scalar) else ""

    def ports(self, key: str) -> dict[str, Port]:
        """Reads typed ports: `room: {type: string, default: kitchen}`, or in short `room: string`. A faulty port is
        kept, so that its uses are not reported as well."""
        node = self.top.get(key)
        named = node if isinstance(node, YamlMap) else ()
        found = {name.text: self.port(name, value) for name, value in named if NAME.fullmatch(name.text)}
        if found.keys() & self.places.keys():
            from bt_runtime.language import port_faults

            port_faults.twice(found, key, self.places, self.file, self.diagnostics)
        self.places |= dict.fromkeys(found, key)
        return found

    def port(self, key: Scalar, value: Node) -> Port:
        given: dict[str, Node] = {k.text: v for k, v in value} if isinstance(value, YamlMap) else {"type": value}
        said = {name: node.data() for name, node in given.items()}
        type = said.get("type", "any")
        choices = tuple(said["choices"]) if isinstance(said.get("choices"), list) else ()
        least, most = (said.get(k) if number(said.get(k)) else None for k in ("minimum", "maximum"))
        about = given.get("about")
        text = about.text if isinstance(about, Scalar) else ""
        kind: Json = type if type in PORT_TYPES else "any"
        outside = said["outside"] if isinstance(said.get("outside"), bool) else None
        port = Port(key.text, kind, said.get("default", ABSENT), text, choices, key.span, least, most, outside=outside)
        if choices or least is not None or most is not None:
            from bt_runtime.language import port_faults

            port_faults.check(port, given, self.file, self.diagnostics)
        return port
