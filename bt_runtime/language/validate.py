"""Checks a document against one of our schemas; each fault has a place and a suggestion.

Editors read the schema too. Its `errorMessage`s are the messages of both; `$comment` names a mapping: "a port"."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from bt_runtime.language.kinds.shape import Schema
from bt_runtime.language.schema_quick import Path, fits
from bt_runtime.language.source import Node, Scalar, YamlMap
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.faults.diagnostic import Diagnostic
    from bt_runtime.language.schema_faults import SchemaFaults


class DocumentCheck:
    """The check of one document type; `what` names it: "a plan". Only a faulty document loads the validator.

    `code`: one fault code, or a function from place to code."""

    def __init__(self, schema: Schema, code: str | Callable[[Path], str], what: str) -> None:
        self.schema, self.what = schema, what
        self.code = (lambda path: code) if isinstance(code, str) else code

    @cached_property
    def faulty(self) -> SchemaFaults:
        from bt_runtime.language.schema_faults import SchemaFaults

        return SchemaFaults(self.schema, self.code, self.what)

    def read(self, root: YamlMap, file: str) -> tuple[dict[str, Json], list[Diagnostic]]:
        """Returns the valid fields, and the faults of the others. A field without a value is skipped."""
        known = self.schema["properties"]
        given = {k.text: node.data() for k, node in root if k.text not in known or not empty(node)}
        faults = self.faults(root, file, given)
        wrong = {path[0] for path, _ in faults if path}
        fitting = {name: value for name, value in given.items() if name in known and name not in wrong}
        return fitting, [fault for _, fault in faults]

    def faults(self, root: Node, file: str, data: Json = None) -> list[tuple[Path, Diagnostic]]:
        """Returns all faults by place. `data`: the part to check, instead of everything."""
        given = root.data() if data is None else data
        return [] if fits(self.schema, given) else self.faulty.of(root, file, given)

    def of_json(self, data: Json, text: str = "", file: str = "") -> list[Diagnostic]:
        """Returns the faults of a JSON text."""
        return [] if fits(self.schema, data) else self.faulty.of_json(data, text, file)

    def complaint(self, name: str, value: Json) -> str:
        """Returns why a field cannot have this value; "" when it can."""
        good = fits(self.schema["properties"][name], value, self.schema)
        return "" if good else self.faulty.complaint(name, value)


def empty(node: Node) -> bool:
    """True for a key without a value, such as `inputs:`."""
    return isinstance(node, Scalar) and node.value is None
