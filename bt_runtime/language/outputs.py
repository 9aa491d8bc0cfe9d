"""The answers that a model may give for an entry: a bounded type, or choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.data import an, fits, type_name
from bt_runtime.types import Json

TYPES = ("string", "integer", "number", "boolean", "list", "object")
MOST_CHOICES = 500  # choices of one output
LONGEST_CHOICE = 200  # characters
MOST_APART = 100  # bounds of an integer that is chosen
MOST_LENGTH, MOST_ITEMS, MOST_DECIMALS = 4_000, 100, 9
FARTHEST = 10**15  # a number without a bound is nearer to zero than that


class Output(NamedTuple):
    """One answer. `choices` may be computed when it is asked; `items` is of a list, `fields` are of an object."""

    name: str
    type: str
    about: str = ""
    choices: Any = ()
    minimum: float | None = None
    maximum: float | None = None
    max_length: int = 200
    decimals: int = 2
    max_items: int = 10
    items: Output | None = None
    fields: tuple[Output, ...] = ()


def said(choice: Json) -> str:
    """Returns a choice as the model sees it."""
    if isinstance(choice, bool):
        return "true" if choice else "false"
    return str(choice)


def sound_choices(choices: Json, name: str) -> tuple[Json, ...]:
    """Returns the choices unchanged, or raises when a model cannot tell them apart."""
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise BtError(f"`choices` of `{name}` is not a list with something in it", "write [yes, no, unclear]")
    if len(choices) > MOST_CHOICES:
        raise BtError(
            f"`{name}` has {len(choices)} choices; at most {MOST_CHOICES} are compared", "choose in two steps"
        )
    for choice in choices:
        if type_name(choice) not in ("string", "integer", "number", "boolean"):
            raise BtError(
                f"a choice of `{name}` is {an(type_name(choice))}", "text, numbers, true and false can be chosen"
            )
        text = said(choice)
        if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > LONGEST_CHOICE:
            raise BtError(
                f"{text!r:.60} cannot be a choice of `{name}`",
                f"one line of 1 to {LONGEST_CHOICE} characters, without blanks around it",
            )
    told = [said(choice) for choice in choices]
    double = next((text for text in told if told.count(text) > 1), None)
    if double is not None:
        raise BtError(f"`{name}` has the choice {double!r} twice", "a model could not say which one it means")
    return tuple(choices)


def schema(output: Output) -> dict[str, Json]:
    """Returns the JSON Schema of an output."""
    if output.choices:
        return {"enum": [*output.choices]}
    if output.type == "list" and output.items is not None:
        return {"type": "array", "items": schema(output.items), "maxItems": output.max_items}
    if output.type == "object":
        inner = {field.name: schema(field) for field in output.fields}
        return {"type": "object", "properties": inner, "required": [*inner], "additionalProperties": False}
    made: dict[str, Json] = {"type": output.type}
    if output.type == "string":
        made["maxLength"] = output.max_length
    return made | {name: bound for name in ("minimum", "maximum") if (bound := getattr(output, name)) is not None}


def misfit(output: Output, value: Json) -> str:
    """Returns why a value does not fit the output; "" when it does."""
    if output.choices and isinstance(output.choices, tuple):
        known = {said(choice) for choice in output.choices}
        return "" if said(value) in known else f"{value!r:.60} is none of its choices"
    if not fits(value, output.type):
        return f"it is {an(type_name(value))}, not {an(output.type)}"
    if output.type in ("integer", "number"):
        low, high = output.minimum, output.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            return f"{value} is out of its bounds"
    if output.type == "string" and (not value.strip() or "\n" in value or len(value) > output.max_length):
        return f"it is not one line of 1 to {output.max_length} characters"
    inside = [(output.items, each) for each in value] if output.items is not None else []
    if output.type == "object":
        if {*value} != {field.name for field in output.fields}:
            return f"it has not exactly {', '.join(field.name for field in output.fields)}"
        inside = [(field, value[field.name]) for field in output.fields]
    return next((why for part, each in inside if part is not None and (why := misfit(part, each))), "")


def chosen(output: Output) -> bool:
    """True when the output has so few possible values that all of them are compared."""
    if output.choices or output.type == "boolean":
        return True
    low, high = output.minimum, output.maximum
    return output.type == "integer" and low is not None and high is not None and high - low <= MOST_APART
