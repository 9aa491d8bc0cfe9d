"""Reports the faults of a document against its schema, each with place and suggestion.

Only a faulty document loads this module: importing jsonschema doubles a command's start time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from jsonschema import Draft7Validator, validators

from bt_runtime.language import schema_quick, source, typos
from bt_runtime.language.faults.diagnostic import Diagnostic, Edit, Fix, nearest
from bt_runtime.language.kinds.shape import Schema
from bt_runtime.language.placed import DataPlaces
from bt_runtime.language.schema_quick import Path
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


def named(path: Path) -> str:
    """Describes a place in words: "`type` of `room`", "an entry of `needs`"; "" for the whole."""
    said = " of ".join(reversed([f"`{step}`" for step in path if isinstance(step, str)][-2:]))
    return f"an entry of {said}" if path and isinstance(path[-1], int) else said


class SchemaFaults:
    """Finds a document's faults. `code` returns a fault's code for its place; `what` names the document: "a plan"."""

    def __init__(self, schema: Schema, code: Callable[[Path], str], what: str) -> None:
        self.schema, self.code, self.what = schema, code, what
        types = Draft7Validator.TYPE_CHECKER.redefine_many({
            "integer": lambda _, value: schema_quick.integer(value),
            "number": lambda _, value: schema_quick.number(value),
        })  # fmt: skip
        strict: Any = validators.extend(Draft7Validator, type_checker=types)  # type: ignore[no-untyped-call]
        self.validator = cast("Validator", strict(schema))

    def of(self, root: Node, file: str, given: Json) -> list[tuple[Path, Diagnostic]]:
        """Returns all faults with their place in the text."""
        text, found = DataPlaces(root, file), list[tuple[Path, Diagnostic]]()
        lacking: list[tuple[Path, str, Json]] = []
        for error in islice(self.validator.iter_errors(given), MOST):
            path = tuple(error.absolute_path)
            if error.validator == "required" and "errorMessage" not in cast(Json, error.schema):
                lacking.append((path, str(error.message).split("'")[1], error.schema))
            else:
                found += ((path, fault) for fault in self._told(error, path, text))
        meant = {fault.label for _, fault in found}  # a misspelt field is one fault, not two
        for path, name, schema in lacking:
            if _did_you_mean(name) not in meant:
                found.append((path, self._lacks(path, name, schema, text)))
        return sorted(found, key=lambda each: _place(each[1]))

    def of_json(self, data: Json, text: str = "", file: str = "") -> list[Diagnostic]:
        """Returns the faults of JSON data, with their places where the text parses as YAML."""
        document = source.parse(text or json.dumps(data, default=str), file)
        if document.root is not None and document.ok:
            return [fault for _, fault in self.of(document.root, file, data)]
        error = next(self.validator.iter_errors(data))
        path = tuple(error.absolute_path)
        return [Diagnostic(self.code(path), _said(error, named(path) or self.what), file)]

    def complaint(self, name: str, value: Json) -> str:
        """Returns why a field cannot have this value."""
        error = next(self.validator.iter_errors({name: value}), None)
        return _said(error, f"`{name}`") if error else ""

    def _told(self, error: ValidationError, path: Path, text: DataPlaces) -> Iterator[Diagnostic]:
        node, schema = text.at(path), cast(Json, error.schema)
        if error.validator == "additionalProperties" and isinstance(node, YamlMap):
            yield from self._unknown(node, path, schema, text.file)
            return
        said, span, label = _said(error, named(path) or self.what), node.span, ""
        fixes: tuple[Fix, ...] = ()
        if "propertyNames" in error.absolute_schema_path and isinstance(node, YamlMap):
            said = f"`{error.instance:.40}` cannot be a name here: {said}"
            span = text.pairs(node)[str(error.instance)][0].span
            if error.validator == "not":  # a word that is taken
                label = f"call it `{error.instance}_`"
                fixes = (Fix(f"write `{error.instance}_`", (Edit(span, f"{error.instance}_"),)),)
        elif error.validator == "enum" and isinstance(error.instance, str):
            ours = typos.type_meant(error.instance)
            known = ours in cast(Json, error.validator_value)
            fixes = (Fix(f"write `{ours}`", (Edit(node.span, ours),), True),) if known else ()
            close = (
                ours
                if known
                else nearest(
                    error.instance, [each for each in cast(Json, error.validator_value) if isinstance(each, str)]
                )
            )
            label = _did_you_mean(close) if close else ""
            if not close and "any" in cast(Json, error.validator_value) and path[0] != "inputs":
                written = f"{{type: string, default: {node.text if isinstance(node, Scalar) else ''}}}"
                label, fixes = "the value goes to `default:`", (Fix(f"write `{written}`", (Edit(node.span, written),)),)
        if (
            error.validator == "enum"
            and (port := typos.port_meant(node))
            and "any" in cast(Json, error.validator_value)
        ):
            label = f"write `{port}`"
        if error.validator_value == [1] and error.instance == "1":
            label = "write `1`"
        if isinstance(node, YamlList) and node.items and "ports are a mapping" in said:
            if all(isinstance(item, Scalar) for item in node.items):
                label = f"write `{{{', '.join(f'{item.data()}: any' for item in node.items)}}}`"
            elif isinstance(node.items[0], YamlMap):
                label = "without the dashes: `name: type`"
        if isinstance(node, Scalar) and error.validator_value == ["array", "null"] and node.text:
            label = f"write `[{node.text}]`"
        meant = typos.BOOLEANS.get(str(error.instance).casefold()) if error.validator_value == "boolean" else None
        if meant is not None and isinstance(node, Scalar) and node.plain:  # YAML 1.2 reads them as texts
            label, fixes = f"write `{meant}`", (Fix(f"write `{meant}`", (Edit(node.span, meant),), True),)
        yield Diagnostic(self.code(path), said, text.file, span, label, str(schema.get("description", "")), fixes=fixes)

    def _lacks(self, path: Path, name: str, schema: Json, text: DataPlaces) -> Diagnostic:
        whole = schema.get("$comment") or named(path) or self.what
        only = schema.get("properties", {}).get(name, {}).get("enum", ("…",))[0]
        said, help = f"{whole} lacks its field `{name}`", f"write `{name}: {only}`"
        return Diagnostic(self.code(path), said, text.file, text.at(path).span, help=help)

    def _unknown(self, node: YamlMap, path: Path, schema: Json, file: str) -> Iterator[Diagnostic]:
        """Reports each key that is not in the schema."""
        known = schema["properties"]
        what = schema.get("$comment") or named(path) or self.what
        for key, value in islice(((key, value) for key, value in node if key.text not in known), MOST):
            close = nearest(key.text, known) or typos.head_meant(key.text, known.keys() - node.keys())
            label = typos.after_comma(key, value) if " " in key.text else ""
            label = label or (_did_you_mean(close) if close else "")
            if key.text in ("required", "optional") and "default" in known:
                label = "leave it out: what has a `default` may be missing"
            if key.text == "condition" and "instant" in known:
                label = "write `instant: true`, and return true or false"
            message, help = f"{what} has no `{key.text:.40}`", f"it has: {', '.join(known)}"
            yield Diagnostic(self.code(path), message, file, key.span, label, help)


def _did_you_mean(name: str) -> str:
    return f"did you mean `{name}`?"


def _said(error: ValidationError, what: str) -> str:
    """Returns the schema's own message, or one that names the allowed values and the present one."""
    schema, wanted = cast(Json, error.schema), cast(Json, error.validator_value)
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
        return f"{what} has {bound} {wanted:,} {counted}, not {len(cast(Json, error.instance)):,}"
    return str(error.message)[:LONGEST]


def _shown(value: Json) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return f"`{value!s:.40}`" if value is not None and value != "" else "empty"


def _place(fault: Diagnostic) -> tuple[int, int]:
    span = fault.span or Span(0, 0, 0, 0)
    return span.line, span.column
