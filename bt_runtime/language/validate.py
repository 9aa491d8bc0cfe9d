"""A document against one of our schemas: what does not fit is a fault with its place and a way out.

The schema is the one truth: editors read it, and so does this. Its `errorMessage`s are the sentences of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from bt_runtime.faults.diagnostic import Diagnostic, nearest
from bt_runtime.language.kinds.shape import Schema
from bt_runtime.language.source import Listing, Mapping, Node, Scalar
from bt_runtime.types import Json, Span

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

LONGEST = 200  # characters of a sentence that is not ours


class Check:
    """Of one sort of document, `what`: "a plan". Nothing is imported or compiled until one is looked at."""

    def __init__(self, schema: Schema, code: str, what: str) -> None:
        self.schema, self.code, self.what = schema, code, what

    @cached_property
    def validator(self) -> Validator:
        from jsonschema import Draft7Validator, validators  # as long as all else at the start of a command

        types = Draft7Validator.TYPE_CHECKER.redefine_many({"integer": _integer, "number": _number})
        strict: Any = validators.extend(Draft7Validator, type_checker=types)  # type: ignore[no-untyped-call]
        return cast("Validator", strict(self.schema))

    def read(self, root: Mapping, file: str) -> tuple[dict[str, Json], list[Diagnostic]]:
        """The fields that fit, and the faults of the others. A field without a value is left open."""
        given = {k.text: node.data() for k, node in root if not (isinstance(node, Scalar) and node.value is None)}
        open_ = [key.text for key, _ in root if key.text not in given]
        found: list[Diagnostic] = [each for name in open_ for each in self._unknown(root, (name,), self.schema, file)]
        lacking: list[Diagnostic] = []
        for error in tuple(self.validator.iter_errors(given)):
            faults = lacking if error.validator == "required" and not error.absolute_path else found
            faults.extend(self._told(error, root, file))
            if error.absolute_path:
                given.pop(str(error.absolute_path[0]), None)
        known = self.schema["properties"]
        fitting = {name: value for name, value in given.items() if name in known}
        return fitting, sorted(found or lacking, key=_place)

    def _told(self, error: ValidationError, root: Mapping, file: str) -> Iterator[Diagnostic]:
        node, schema = _at(root, error.absolute_path), cast(Any, error.schema)
        if error.validator == "additionalProperties" and isinstance(node, Mapping):
            yield from self._unknown(node, node.keys(), schema, file)
            return
        said, help = str(schema.get("errorMessage") or error.message)[:LONGEST], str(schema.get("description", ""))
        if error.validator == "required" and "errorMessage" not in schema:
            missing = next(each for each in schema["required"] if each not in cast(Any, error.instance))
            only = schema["properties"][missing].get("enum", ("…",))[0]
            said, help = f"{self.what} lacks its field `{missing}`", f"write `{missing}: {only}`"
        yield Diagnostic(self.code, said, file, node.span, help=help)

    def _unknown(self, node: Mapping, names: Iterable[str], schema: Any, file: str) -> Iterator[Diagnostic]:
        """A key each that the schema does not have."""
        known = schema["properties"]
        for key, _ in node:
            if key.text in names and key.text not in known:
                close = nearest(key.text, known)
                label = f"did you mean `{close}`?" if close else ""
                message, help = f"{self.what} has no `{key.text}`", f"fields: {', '.join(known)}"
                yield Diagnostic(self.code, message, file, key.span, label, help)


def _at(root: Node, path: Iterable[str | int]) -> Node:
    """The node at a path of the data."""
    node = root
    for step in path:
        if isinstance(node, Mapping):
            node = node.get(str(step)) or node
        elif isinstance(node, Listing):
            node = node.items[int(step)]
    return node


def _place(fault: Diagnostic) -> tuple[int, int]:
    span = fault.span or Span(0, 0, 0, 0)
    return span.line, span.column


def _integer(checker: object, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # 4.0 is written as 4


def _number(checker: object, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
