"""A document against one of our schemas: what does not fit is a fault with its place and a way out.

The schema is the one truth: editors read it, and so does this. Its `errorMessage`s are the sentences of both, and its
`$comment`s say what a mapping is: "a port".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from bt_runtime.faults.diagnostic import Diagnostic, nearest
from bt_runtime.language import certain, slips, source
from bt_runtime.language.kinds.shape import Schema
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.types import Json, Span

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

LONGEST = 200  # characters of a sentence that is not ours
MOST = 200  # errors of one document that are looked at: nobody reads more
_TYPES = {
    "object": "a mapping", "array": "a list", "string": "a text", "integer": "a whole number", "number": "a number",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip
_BOUNDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than"}
_SIZES = {
    "minItems": ("at least", "entries"), "maxItems": ("at most", "entries"), "minProperties": ("at least", "entries"),
    "maxProperties": ("at most", "entries"), "minLength": ("at least", "characters"),
    "maxLength": ("at most", "characters"),
}  # fmt: skip


Path: TypeAlias = tuple[str | int, ...]  # from the top of a document to what is at fault in it


def named(path: Path) -> str:
    """In words: "`type` of `room`", "an entry of `needs`"; empty for the whole."""
    said = " of ".join(reversed([f"`{step}`" for step in path if isinstance(step, str)][-2:]))
    return f"an entry of {said}" if path and isinstance(path[-1], int) else said


class Check:
    """Of one sort of document, `what`: "a plan". Nothing is imported or compiled until one is at fault.

    `code`: of every fault, or what says it for a place.
    """

    def __init__(self, schema: Schema, code: str | Callable[[Path], str], what: str) -> None:
        self.schema, self.what = schema, what
        self.code = (lambda path: code) if isinstance(code, str) else code

    @cached_property
    def validator(self) -> Validator:
        from jsonschema import Draft7Validator, validators  # as long as all else at the start of a command

        types = Draft7Validator.TYPE_CHECKER.redefine_many(
            {"integer": lambda _, value: certain.integer(value), "number": lambda _, value: certain.number(value)}
        )
        strict: Any = validators.extend(Draft7Validator, type_checker=types)  # type: ignore[no-untyped-call]
        return cast("Validator", strict(self.schema))

    def read(self, root: YamlMap, file: str) -> tuple[dict[str, Json], list[Diagnostic]]:
        """The fields that fit, and the faults of the others. A field without a value is left open."""
        known = self.schema["properties"]
        given = {k.text: node.data() for k, node in root if k.text not in known or not empty(node)}
        faults = self.faults(root, file, given)
        wrong = {path[0] for path, _ in faults if path}
        fitting = {name: value for name, value in given.items() if name in known and name not in wrong}
        return fitting, [fault for _, fault in faults]

    def faults(self, root: Node, file: str, data: Json = None) -> list[tuple[Path, Diagnostic]]:
        """All that does not fit, by its place in the text. `data`: what is looked at, if it is not all of it."""
        given = root.data() if data is None else data
        if certain.fits(self.schema, given):
            return []
        text, found = Placed(root, file), list[tuple[Path, Diagnostic]]()
        lacking: list[tuple[Path, str, Any]] = []
        for error in islice(self.validator.iter_errors(given), MOST):
            path = tuple(error.absolute_path)
            if error.validator == "required" and "errorMessage" not in cast(Any, error.schema):
                lacking.append((path, str(error.message).split("'")[1], error.schema))
            else:
                found += ((path, fault) for fault in self._told(error, path, text))
        meant = {fault.label for _, fault in found}  # a misspelt field is one fault, not two
        for path, name, schema in lacking:
            if _did_you_mean(name) not in meant:
                found.append((path, self._lacks(path, name, schema, text)))
        return sorted(found, key=lambda each: _place(each[1]))

    def of_json(self, data: Json, text: str = "", file: str = "") -> list[Diagnostic]:
        """The faults of what this JSON holds, with their places where it can be read as YAML, too: nearly always."""
        if certain.fits(self.schema, data):
            return []
        import json

        document = source.parse(text or json.dumps(data, default=str), file)
        if document.root is not None and document.ok:
            return [fault for _, fault in self.faults(document.root, file, data)]
        error = next(self.validator.iter_errors(data))
        path = tuple(error.absolute_path)
        return [Diagnostic(self.code(path), _said(error, named(path) or self.what), file)]

    def complaint(self, name: str, value: Json) -> str:
        """Why a field cannot have this value; empty when it can."""
        if certain.fits(self.schema["properties"][name], value, self.schema):
            return ""
        error = next(self.validator.iter_errors({name: value}), None)
        return _said(error, f"`{name}`") if error else ""

    def _told(self, error: ValidationError, path: Path, text: Placed) -> Iterator[Diagnostic]:
        node, schema = text.at(path), cast(Any, error.schema)
        if error.validator == "additionalProperties" and isinstance(node, YamlMap):
            yield from self._unknown(node, path, schema, text.file)
            return
        said, span, label = _said(error, named(path) or self.what), node.span, ""
        if "propertyNames" in error.absolute_schema_path and isinstance(node, YamlMap):
            said = f"`{error.instance:.40}` cannot be a name here: {said}"
            span = text.pairs(node)[str(error.instance)][0].span
        elif error.validator == "enum" and isinstance(error.instance, str):
            close = nearest(
                error.instance, [each for each in cast(Any, error.validator_value) if isinstance(each, str)]
            )
            label = _did_you_mean(close) if close else ""
        yield Diagnostic(self.code(path), said, text.file, span, label, str(schema.get("description", "")))

    def _lacks(self, path: Path, name: str, schema: Any, text: Placed) -> Diagnostic:
        whole = schema.get("$comment") or named(path) or self.what
        only = schema.get("properties", {}).get(name, {}).get("enum", ("…",))[0]
        said, help = f"{whole} lacks its field `{name}`", f"write `{name}: {only}`"
        return Diagnostic(self.code(path), said, text.file, text.at(path).span, help=help)

    def _unknown(self, node: YamlMap, path: Path, schema: Any, file: str) -> Iterator[Diagnostic]:
        """A key each that the schema does not have."""
        known = schema["properties"]
        what = schema.get("$comment") or named(path) or self.what
        for key, value in islice(((key, value) for key, value in node if key.text not in known), MOST):
            close = nearest(key.text, known)
            label = slips.after_comma(key, value) if " " in key.text else ""
            label = label or (_did_you_mean(close) if close else "")
            message, help = f"{what} has no `{key.text:.40}`", f"it has: {', '.join(known)}"
            yield Diagnostic(self.code(path), message, file, key.span, label, help)


def _did_you_mean(name: str) -> str:
    return f"did you mean `{name}`?"


def _said(error: ValidationError, what: str) -> str:
    """The schema's own sentence, or one that says what it takes, and what is there."""
    schema, wanted = cast(Any, error.schema), cast(Any, error.validator_value)
    if "errorMessage" in schema:
        said = str(schema["errorMessage"])  # a sentence in an editor, the end of one here
        return said[:1].lower() + said[1:]
    if error.validator == "type":
        listed = [wanted] if isinstance(wanted, str) else list(wanted)
        takes = "a text" if "string" in listed else " or ".join(_TYPES[each] for each in listed if each != "null")
        return f"{what} is {takes}, not {_shown(error.instance)}"
    if error.validator in ("enum", "const"):
        listed = list(wanted) if error.validator == "enum" else [wanted]
        one = "one of " if len(listed) > 1 else ""
        return f"{what} is {one}{', '.join(map(str, listed))}, not {_shown(error.instance)}"[:LONGEST]
    if error.validator in _BOUNDS:
        return f"{what} is {_BOUNDS[error.validator]} {wanted:g}, not {_shown(error.instance)}"
    if error.validator in _SIZES:
        bound, counted = _SIZES[error.validator]
        return f"{what} has {bound} {wanted:,} {counted}, not {len(cast(Any, error.instance)):,}"
    return str(error.message)[:LONGEST]


def _shown(value: Json) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return f"`{value!s:.40}`" if value is not None and value != "" else "empty"


def empty(node: Node) -> bool:
    """`inputs:` and nothing after it."""
    return isinstance(node, Scalar) and node.value is None


class Placed:
    """Finds what stands at a path of the data: each mapping is gone through once, however many faults are in it."""

    def __init__(self, root: Node, file: str) -> None:
        self.root, self.file = root, file
        self.known: dict[int, dict[str, tuple[Scalar, Node]]] = {}

    def pairs(self, node: YamlMap) -> dict[str, tuple[Scalar, Node]]:
        if id(node) not in self.known:
            self.known[id(node)] = {str(key.value): (key, value) for key, value in node}
        return self.known[id(node)]

    def at(self, path: Path) -> Node:
        node = self.root
        for step in path:
            if isinstance(node, YamlMap):
                node = self.pairs(node)[str(step)][1]
            elif isinstance(node, YamlList):
                node = node.items[int(step)]
        return node


def _place(fault: Diagnostic) -> tuple[int, int]:
    span = fault.span or Span(0, 0, 0, 0)
    return span.line, span.column
