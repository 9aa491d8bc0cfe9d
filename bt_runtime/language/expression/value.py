"""Operations on values: Python's on plain values, each bounded before execution."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import islice
from typing import Any

from bt_runtime.language.expression.error import BOUND, Misfit
from bt_runtime.language.expression.scope import Value
from bt_runtime.language.faults.diagnostic import did_you_mean

MOST_BITS = 256  # bits of a whole number
MOST_TEXT = 100_000  # characters
MOST_WORD = 200  # … of a word that others are compared with
MOST_ITEMS = 10_000  # items of a list or mapping, nested ones counted too
MOST_LEVELS = 32  # levels of nested lists and mappings
MOST_INSIDE = 4_000_000  # characters of all texts in a list or mapping, one that stands there twice counted twice

NUMBERS: frozenset[Any] = frozenset({int, float, bool})
PLAIN: frozenset[Any] = frozenset({int, float, bool, str, type(None), list, dict})
_KINDS = {bool: "a truth value", int: "a number", float: "a number", str: "text", type(None): "null"}
_KINDS |= {list: "a list", tuple: "a list", dict: "a mapping", set: "a set", frozenset: "a set"}


def kind(value: Value) -> str:
    return _KINDS.get(type(value)) or f"a {type(value).__name__}"


def too_large(what: str, most: int, unit: str) -> Misfit:
    return Misfit(f"{what} would be too large", f"at most {most:,} {unit}", BOUND)


def admit(value: Value) -> Value:
    """Converts a value of the scope: numbers of other libraries become Python's; other objects are passed on
    unchanged."""
    if isinstance(value, (tuple, set, frozenset, list, dict)):
        return value
    for base in (bool, int, float, str):
        if isinstance(value, base):
            return base.__str__(value) if base is str else base(value)
    try:
        if getattr(value, "shape", None) == () and hasattr(value, "item"):
            return value.item()  # numpy and torch: also their booleans, which are no Python numbers
        if hasattr(value, "__index__"):
            return operator.index(value)
        if hasattr(value, "__float__") and not hasattr(value, "__len__"):
            return float(value)
    except Exception:  # an array says that it is a number, until it is asked
        return value
    return value


def truth(value: Value) -> bool:
    if value.__class__ in PLAIN:
        return bool(value)
    try:
        return bool(value)
    except Exception as reason:
        raise Misfit(f"{kind(value)} is neither true nor false") from reason


def number(value: Value) -> Value:
    """Returns the number unchanged, or raises when it is too large."""
    if value.__class__ is int and value.bit_length() > MOST_BITS:
        raise too_large("this number", MOST_BITS, "bits")
    return value


def bounded(value: Value) -> Value:
    """Returns the list or mapping unchanged, or raises when it holds too much."""
    left, characters, levels, row = MOST_ITEMS, MOST_INSIDE, 0, [value]
    while row:
        levels += 1
        below: list[Value] = []
        for each in row:
            if isinstance(each, (list, tuple, dict)):
                left -= len(each)
                if left < 0 or levels > MOST_LEVELS:
                    raise too_large("this list or mapping", MOST_ITEMS, f"items, {MOST_LEVELS} levels")
                below.extend(each.values() if isinstance(each, dict) else each)
                characters -= sum(len(key) for key in each if isinstance(key, str)) if isinstance(each, dict) else 0
            elif isinstance(each, (str, bytes, bytearray)):
                characters -= len(each)
                if characters < 0:
                    raise too_large("this list or mapping", MOST_INSIDE, "characters")
        row = below
    return value


def writable(value: Value) -> Value:
    """Returns the value unchanged, or raises when its text would be too large."""
    left, todo = MOST_TEXT, [value]
    while todo:
        each = todo.pop()
        if isinstance(each, (str, bytes, bytearray)):
            left -= len(each)
        elif isinstance(each, (list, tuple, set, frozenset, dict)):
            left -= 2 * len(each)
            if left >= 0:
                todo.extend(each)
                if isinstance(each, dict):
                    todo.extend(each.values())
        elif isinstance(each, int):
            left -= each.bit_length() // 4
        left -= 1
        if left < 0:
            raise too_large("this text", MOST_TEXT, "characters")
    return value


def text(value: str) -> str:
    if len(value) > MOST_TEXT:
        raise too_large("this text", MOST_TEXT, "characters")
    return value


def add(a: Value, b: Value) -> Value:
    if a.__class__ in NUMBERS and b.__class__ in NUMBERS:
        return _arithmetic(operator.add, a, b)
    if isinstance(a, str) and isinstance(b, str):
        if len(a) + len(b) > MOST_TEXT:
            raise too_large("this text", MOST_TEXT, "characters")
        return a + b
    if isinstance(a, list) and isinstance(b, list):
        if len(a) + len(b) > MOST_ITEMS:
            raise too_large("this list", MOST_ITEMS, "items")
        return bounded(a + b)
    hint = 'write "... {name} ..." to put a value into a text' if isinstance(a, str) or isinstance(b, str) else ""
    raise Misfit(f"{kind(a)} and {kind(b)} cannot be added", hint)


def multiply(a: Value, b: Value) -> Value:
    if a.__class__ in NUMBERS and b.__class__ in NUMBERS:
        if a.__class__ is int and b.__class__ is int and a.bit_length() + b.bit_length() > 2 * MOST_BITS:
            raise too_large("this number", MOST_BITS, "bits")
        return _arithmetic(operator.mul, a, b)
    if isinstance(a, int) and isinstance(b, (str, list)):
        a, b = b, a
    if isinstance(a, str) and isinstance(b, int):
        if len(a) * max(b, 0) > MOST_TEXT:
            raise too_large("this text", MOST_TEXT, "characters")
        return a * min(max(b, 0), MOST_TEXT)  # Python counts no further, not even for nothing
    if isinstance(a, list) and isinstance(b, int):
        if len(a) * max(b, 0) > MOST_ITEMS:
            raise too_large("this list", MOST_ITEMS, "items")
        return bounded(a * min(max(b, 0), MOST_ITEMS))
    raise Misfit(f"{kind(a)} and {kind(b)} cannot be multiplied")


def power(a: Value, b: Value) -> Value:
    _both_numbers(a, b, "raised to a power")
    if not isinstance(a, float) and not isinstance(b, float) and b > 0 and (int(a).bit_length() - 1) * b > MOST_BITS:
        raise too_large("this number", MOST_BITS, "bits")
    result = _arithmetic(operator.pow, a, b)
    if isinstance(result, complex):
        raise Misfit("a negative number has no such root")
    return result


def _numeric(operation: Callable[[Value, Value], Value], verb: str) -> Callable[[Value, Value], Value]:
    def run(a: Value, b: Value) -> Value:
        _both_numbers(a, b, verb)
        return _arithmetic(operation, a, b)

    return run


def _both_numbers(a: Value, b: Value, verb: str) -> None:
    if a.__class__ not in NUMBERS or b.__class__ not in NUMBERS:
        raise Misfit(f"{kind(a)} and {kind(b)} cannot be {verb}")


def _arithmetic(operation: Callable[[Value, Value], Value], a: Value, b: Value) -> Value:
    try:
        return number(operation(a, b))
    except ZeroDivisionError:
        raise Misfit("division by zero", "ask before: `x / y if y else 0`") from None
    except OverflowError:
        raise Misfit("this number would be too large", "", BOUND) from None


def _ordered(operation: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    def run(a: Value, b: Value) -> bool:
        if a.__class__ in NUMBERS and b.__class__ in NUMBERS:
            return operation(a, b)
        if a.__class__ is str and b.__class__ is str:
            return operation(a, b)
        raise Misfit(f"{kind(a)} and {kind(b)} have no order", "only two numbers or two texts are compared")

    return run


def equal(a: Value, b: Value) -> bool:
    if a.__class__ in NUMBERS or a.__class__ is str:
        if b.__class__ in PLAIN:
            return bool(a == b)
    elif a is None:
        return b is None
    try:
        return bool(a == b)
    except Exception as reason:  # values of a scope may be anything; also: too deep
        raise Misfit(f"{kind(a)} and {kind(b)} cannot be compared") from reason


def within(a: Value, b: Value) -> bool:
    if isinstance(b, str):
        if isinstance(a, str):
            return a in b
        raise Misfit(f"only text can be in text, and this is {kind(a)}")
    if isinstance(b, (dict, set, frozenset)):
        return _hashable(a) and a in b
    if isinstance(b, (list, tuple)):
        return any(equal(a, each) for each in b)
    raise Misfit(f"nothing can be in {kind(b)}")


def _hashable(value: Value) -> bool:
    return value is None or isinstance(value, (int, float, str))


COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "in": within,
    "not in": lambda a, b: not within(a, b),
    "is": equal,
    "is not": lambda a, b: not equal(a, b),
}
ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": add,
    "-": _numeric(operator.sub, "subtracted"),
    "*": multiply,
    "/": _numeric(operator.truediv, "divided"),
    "//": _numeric(operator.floordiv, "divided"),
    "%": _numeric(operator.mod, "divided"),
    "**": power,
}


def negative(value: Value) -> Value:
    if value.__class__ not in NUMBERS:
        raise Misfit(f"{kind(value)} has no negative")
    return -value


def positive(value: Value) -> Value:
    if value.__class__ not in NUMBERS:
        raise Misfit(f"{kind(value)} is not a number")
    return +value


def key_of(value: Value) -> Value:
    if value.__class__ is not str and value.__class__ not in NUMBERS:
        raise Misfit(f"a key is text or a number, and this is {kind(value)}")
    return value


def field_of(value: Value, name: Value) -> Value:
    if not isinstance(value, dict):
        raise Misfit(f"{kind(value)} has no fields", "`name.field` reads what a mapping has")
    return item(value, name)


def item(value: Value, key: Value) -> Value:
    if isinstance(value, dict):
        if _hashable(key) and key in value:
            return plain(value[key])
        word = key[:MOST_WORD] if isinstance(key, str) else ""
        raise Misfit(
            f"no {_named(key)} in this mapping",
            did_you_mean(
                word, list(islice((each for each in value if isinstance(each, str) and len(each) <= MOST_WORD), 1000))
            ),
        )
    if not isinstance(value, (str, list, tuple)):
        raise Misfit(f"{kind(value)} has no items")
    if key.__class__ is not int:
        raise Misfit(f"items of {kind(value)} are counted by whole numbers, and this is {kind(key)}")
    if not -len(value) <= key < len(value):
        raise Misfit(f"no item {key if abs(key) < 10**9 else '...'}: there are {len(value)}", "they count from 0")
    return plain(value[key])


def _named(key: Value) -> str:
    """Returns a key for a message; describes a long one by its type."""
    if isinstance(key, str):
        return f"`{key[:40]}`"
    short = key is None or isinstance(key, float) or (isinstance(key, int) and key.bit_length() <= MOST_BITS)
    return f"`{str(key)[:40]}`" if short else kind(key)


def part(value: Value, start: Value, stop: Value) -> Value:
    if not isinstance(value, (str, list, tuple)):
        raise Misfit(f"{kind(value)} has no parts")
    for each in (start, stop):
        if each is not None and each.__class__ is not int:
            raise Misfit(f"parts are counted by whole numbers, and this is {kind(each)}")
    return value[start:stop]


def plain(value: Value) -> Value:
    return value if value.__class__ in PLAIN else admit(value)
