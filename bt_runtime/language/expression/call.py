"""The functions that an expression may call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bt_runtime.language.expression.error import Misfit
from bt_runtime.language.expression.scope import Value
from bt_runtime.language.expression.value import (
    COMPARISONS,
    MOST_BITS,
    MOST_ITEMS,
    MOST_TEXT,
    NUMBERS,
    PLAIN,
    add,
    admit,
    kind,
    number,
    text,
    too_large,
    truth,
    writable,
)

_SHORT = 10**18  # numbers whose text needs no bound
_LONGEST_NUMBER = 64  # characters


class Function(NamedTuple):
    run: Callable[..., Value]
    fewest: int
    most: int


def show(value: Value) -> str:
    """Formats a value as text, in YAML's spelling."""
    if value.__class__ is str:
        return text(value)
    if value.__class__ is float or (value.__class__ is int and -_SHORT < value < _SHORT):
        return str(value)
    if value is None or value.__class__ is bool:
        return {None: "null", True: "true", False: "false"}[value]
    try:
        if isinstance(value, (list, dict, tuple)):
            import json

            return text(json.dumps(writable(value), ensure_ascii=False, default=str))
        return text(str(writable(value)))
    except Misfit:
        raise
    except Exception as reason:  # values of a scope may be anything; also: too deep, too many digits
        raise Misfit(f"{kind(value)} cannot be written as text") from reason


def _texts(*values: Value) -> None:
    for value in values:
        if not isinstance(value, str):
            raise Misfit(f"text is needed here, and this is {kind(value)}")


def _items(value: Value) -> Sequence[Value]:
    if isinstance(value, (list, tuple)):
        return [each if each.__class__ in PLAIN else admit(each) for each in value]
    raise Misfit(f"a list is needed here, and this is {kind(value)}")


def _length(value: Value) -> int:
    if isinstance(value, (str, list, tuple, dict, set, frozenset)):
        return len(value)
    raise Misfit(f"{kind(value)} has no length")


def _extreme(sign: str) -> Callable[..., Value]:
    before = COMPARISONS[sign]

    def run(*values: Value) -> Value:
        rest = _items(values[0]) if len(values) == 1 else values
        if not rest:
            raise Misfit("this list is empty", "ask before: `max(x) if x else 0`")
        best = rest[0]
        for each in rest:
            if before(each, best):
                best = each
        return best

    return run


def _sum(value: Value) -> Value:
    total: Value = 0
    for each in _items(value):
        if each.__class__ not in NUMBERS:
            raise Misfit(f"only numbers can be summed up, and this is {kind(each)}")
        total = add(total, each)
    return total


def _abs(value: Value) -> Value:
    return abs(_a_number(value))


def _round(value: Value, digits: Value = None) -> Value:
    _a_number(value)
    if digits is not None and (digits.__class__ is not int or abs(digits) > _LONGEST_NUMBER):
        raise Misfit(f"digits are a whole number, at most {_LONGEST_NUMBER}")
    try:
        return round(value) if digits is None else round(value, digits)
    except (OverflowError, ValueError):
        raise Misfit("infinity and not-a-number cannot be rounded") from None


def _a_number(value: Value) -> Value:
    if value.__class__ not in NUMBERS:
        raise Misfit(f"a number is needed here, and this is {kind(value)}")
    return value


def _convert(to: type[int] | type[float], name: str) -> Callable[[Value], Value]:
    def run(value: Value) -> Value:
        if value.__class__ not in NUMBERS and not isinstance(value, str):
            raise Misfit(f"{kind(value)} is not a {name}")
        if isinstance(value, str) and len(value) > _LONGEST_NUMBER:
            raise too_large("this number", MOST_BITS, "bits")
        try:
            return number(to(value))
        except (ValueError, OverflowError):
            shown = (
                f"the text `{value}`"
                if isinstance(value, str)
                else str(value)
                if isinstance(value, float)
                else kind(value)
            )
            raise Misfit(f"{shown} is not a {name}") from None

    return run


def _on_text(operation: Callable[..., Value]) -> Callable[..., Value]:
    def run(*values: Value) -> Value:
        _texts(*values)
        result = operation(*values)
        return text(result) if isinstance(result, str) else result

    return run


def _split(value: Value, separator: Value = None) -> list[str]:
    _texts(value, *([] if separator is None else [separator]))
    if separator == "":
        raise Misfit("a text is not split at nothing")
    pieces: list[str] = value.split(separator, MOST_ITEMS)
    if len(pieces) > MOST_ITEMS:
        raise too_large("this list", MOST_ITEMS, "items")
    return pieces


def _join(values: Value, separator: Value) -> str:
    _texts(separator)
    shown, length = [], 0
    for each in _items(values):
        shown.append(show(each))
        length += len(shown[-1]) + len(separator)
        if length > MOST_TEXT + len(separator):
            raise too_large("this text", MOST_TEXT, "characters")
    return str(separator).join(shown)


FUNCTIONS: dict[str, Function] = {
    "abs": Function(_abs, 1, 1),
    "bool": Function(truth, 1, 1),
    "endswith": Function(_on_text(str.endswith), 2, 2),
    "float": Function(_convert(float, "number"), 1, 1),
    "int": Function(_convert(int, "whole number"), 1, 1),
    "join": Function(_join, 2, 2),
    "len": Function(_length, 1, 1),
    "lower": Function(_on_text(lambda value: text(value).lower()), 1, 1),
    "max": Function(_extreme(">"), 1, 20),
    "min": Function(_extreme("<"), 1, 20),
    "round": Function(_round, 1, 2),
    "split": Function(_split, 1, 2),
    "startswith": Function(_on_text(str.startswith), 2, 2),
    "str": Function(show, 1, 1),
    "strip": Function(_on_text(str.strip), 1, 1),
    "sum": Function(_sum, 1, 1),
    "upper": Function(_on_text(lambda value: text(value).upper()), 1, 1),
}
EXISTS = "exists"  # takes a name, not its value; so the parser knows it
KNOWN = (*FUNCTIONS, EXISTS)
