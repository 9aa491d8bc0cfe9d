"""Reads what a model may answer, `outputs:` of a node, with the places of what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.kinds.data import an, fits, type_name
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.outputs import FARTHEST, MOST_DECIMALS, MOST_ITEMS, MOST_LENGTH, TYPES, Output, sound_choices
from bt_runtime.language.source import Node, Scalar, YamlMap
from bt_runtime.language.typos import type_meant
from bt_runtime.language.values import BAD, NAME, Computed, Values, misnamed
from bt_runtime.types import Json

DEEPEST = 5  # lists and objects inside one another
_OWN = {
    "string": ("max_length",), "integer": ("minimum", "maximum"), "number": ("minimum", "maximum", "decimals"),
    "boolean": (), "list": ("items", "max_items"), "object": ("fields",), "choices": ("choices",),
}  # fmt: skip
_BOUNDS = {"max_length": MOST_LENGTH, "max_items": MOST_ITEMS, "decimals": MOST_DECIMALS}


def outputs_of(values: Values, field: Field, node: Node) -> Json:
    """Returns the outputs by entry, or BAD."""
    return OutputsReader(values).all(field, node)


class OutputsReader:
    """Reads `outputs:` of a node; what is wrong goes to `diagnostics`."""

    def __init__(self, values: Values) -> None:
        self.values = values

    def all(self, field: Field, node: Node) -> Json:
        if not isinstance(node, YamlMap) or not node.pairs:
            return self.values.wrong(
                node,
                f"`{field.name}` takes a mapping of entries to what they may be",
                "`room: {choices: [hall, cellar]}`",
            )
        found = self.each(node, 1)
        return BAD if any(output is BAD for output in found.values()) else found

    def each(self, node: YamlMap, depth: int) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, inner in node:
            why = misnamed(key.text) if depth == 1 or not NAME.fullmatch(key.text) else ""
            found[key.text] = self.values.wrong(key, why) if why else self.one(key.text, inner, depth)
        return found

    def one(self, name: str, node: Node, depth: int) -> Json:
        """`room: string`, or a mapping."""
        if isinstance(node, Scalar) and node.value is not None:
            return self.typed(name, node, node, depth)
        if not isinstance(node, YamlMap):
            return self.values.wrong(
                node, f"the output `{name}` has no type", f"one of {', '.join(TYPES)}; or `choices: [...]`"
            )
        if node.get("choices") is not None:
            return self.chosen(name, node, depth)
        type = node.get("type")
        if type is None:
            return self.values.wrong(
                node, f"the output `{name}` has no type", f"one of {', '.join(TYPES)}; or `choices: [...]`"
            )
        return self.typed(name, type, node, depth)

    def typed(self, name: str, type: Node, node: Node, depth: int) -> Json:
        said = type.text if isinstance(type, Scalar) else ""
        if said not in TYPES:
            ours = type_meant(said)
            label = f"did you mean `{ours}`?" if ours else did_you_mean(said, TYPES)
            return self.values.wrong(type, f"`{said or type_name(type.data())}` is no type of an output", label)
        if depth > DEEPEST:
            return self.values.wrong(node, f"outputs stand at most {DEEPEST} deep inside one another")
        if isinstance(node, YamlMap):
            return self.filled(Output(name, said), node, _OWN[said], depth)
        if said in ("list", "object"):
            part = "items: string" if said == "list" else "fields: {room: string}"
            return self.values.wrong(node, f"`{name}` does not say what is in it", f"{{type: {said}, {part}}}")
        return Output(name, said)

    def chosen(self, name: str, node: YamlMap, depth: int) -> Json:
        given: Json = node.get("choices")
        choices = self.values.computed(given)
        if choices is BAD:
            return BAD
        kind = "any"
        if not isinstance(choices, Computed):
            try:
                choices = sound_choices(choices, name)
            except BtError as fault:
                return self.values.wrong(given, fault.message, fault.hint)
            kinds = {type_name(choice) for choice in choices}
            kind = kinds.pop() if len(kinds) == 1 else "any"
        elif depth > 1:
            return self.values.wrong(given, "choices inside a list or an object are written out", "no template here")
        return self.filled(Output(name, kind, choices=choices), node, ("choices",), depth)

    def filled(self, output: Output, node: YamlMap, own: Sequence[str], depth: int) -> Json:
        """Reads the fields of an output besides its type."""
        for key, inner in node:
            if key.text not in ("type", "about", *own):
                return self.values.wrong(
                    key, f"`{key.text}` says nothing of {'choices' if own == ('choices',) else an(output.type)}",
                    f"known here: {', '.join(('type', 'about', *own))}",
                )  # fmt: skip
            value: Json = self.part(output, key.text, inner, depth)
            if value is BAD:
                return BAD
            if key.text not in ("type", "choices"):
                output = output._replace(**{key.text: value})
        if output.type == "list" and output.items is None:
            return self.values.wrong(node, f"`{output.name}` does not say what is in it", "`items: string`")
        if output.type == "object" and not output.fields:
            return self.values.wrong(node, f"`{output.name}` does not say what is in it", "`fields: {room: string}`")
        low, high = output.minimum, output.maximum
        if low is not None and high is not None and low > high:
            return self.values.wrong(node, f"nothing is between {low:g} and {high:g}", "minimum is the lower one")
        return output

    def part(self, output: Output, key: str, node: Node, depth: int) -> Json:
        data = node.data()
        if key == "items":
            return self.one(f"{output.name}[]", node, depth + 1)
        if key == "fields":
            if not isinstance(node, YamlMap):
                return self.values.wrong(node, "`fields` takes a mapping of names to what they may be")
            found = self.each(node, depth + 1)
            return BAD if any(value is BAD for value in found.values()) else tuple(found.values())
        if key in ("minimum", "maximum"):
            kind = "integer" if output.type == "integer" else "number"
            if not fits(data, kind) or not abs(data) < FARTHEST:
                return self.values.wrong(node, f"`{key}` of `{output.name}` takes {an(kind)}, not {data!r:.40}")
        elif key in _BOUNDS and (type(data) is not int or not 0 < data <= _BOUNDS[key]):
            return self.values.wrong(node, f"`{key}` takes 1 to {_BOUNDS[key]}, not {data!r:.40}")
        return str(data) if key == "about" else data
