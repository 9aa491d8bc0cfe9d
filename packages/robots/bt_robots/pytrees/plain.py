"""Operations on plain values, within bounds: no text, list or number gets large, whatever a file says."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from bt_robots.pytrees.values import Value

MOST_ITEMS = 10_000
MOST_TEXT = 10_000
MOST_BITS = 256
Scalar = (str, int, float, bool, type(None))
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_TEXT = {"lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "replace", "split", "join", "startswith",
         "endswith", "format", "removeprefix", "removesuffix", "isdigit"}  # fmt: skip
_LIST = {"append", "extend", "insert", "index", "count", "copy", "reverse", "pop", "remove"}
_MAPPING = {"get", "items", "keys", "values", "update", "setdefault", "pop", "copy"}
_SET = {"add", "update", "union"}
_WIDTH = re.compile(r"\d{4,}|\*|\{[^}]*\{")
BUILTINS: dict[str, Callable[..., Any]] = {
    "len": len, "str": str, "int": int, "float": float, "bool": bool, "min": min, "max": max, "sum": sum, "abs": abs,
    "round": round, "any": any, "all": all, "list": list, "tuple": tuple, "dict": dict, "set": set, "frozenset": set,
    "sorted": sorted, "reversed": lambda given: list(reversed(given)), "repr": repr,
    "enumerate": lambda given, start=0: list(enumerate(given, start)),
    "zip": lambda *given: list(zip(*given, strict=False)),
}  # fmt: skip
_HOLDERS = {"list", "tuple", "dict", "enumerate", "zip", "reversed", "len"}  # may hold what is not plain


class TooMuch(Exception):
    """A value would exceed its bound; the text says which."""


class NoValue(Exception):
    """Nothing is known of the result, or Python would raise."""


def is_plain(value: Value) -> bool:
    """Is it made of plain values alone, and of few of them?"""
    left, todo = 1_000, [value]
    while todo:
        each = todo.pop()
        left -= 1
        if left < 0:
            return False
        if isinstance(each, list | tuple | set | range):
            if len(each) > left:
                return False
            todo += each
        elif isinstance(each, dict):
            if len(each) > left:
                return False
            todo += [*each.keys(), *each.values()]
        elif not isinstance(each, Scalar):
            return False
    return True


def bounded(value: Value) -> Value:
    if isinstance(value, str) and len(value) > MOST_TEXT:
        raise TooMuch(f"a text of more than {MOST_TEXT:,} characters")
    if isinstance(value, list | tuple | set | dict | range) and len(value) > MOST_ITEMS:
        raise TooMuch(f"a list of {len(value):,} items, more than {MOST_ITEMS:,}")
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise TooMuch(f"a whole number of more than {MOST_BITS} bits")
    return value


def combined(sign: ast.AST, left: Value, right: Value) -> Value:
    """`left` and `right` by an operator or a comparison of Python."""
    if isinstance(sign, ast.In | ast.NotIn) and is_plain(left) and is_plain(right):
        return guarded(lambda: (left in right) is isinstance(sign, ast.In))
    if isinstance(sign, ast.Add) and isinstance(left, list | tuple) and isinstance(right, type(left)):
        return bounded(type(left)((*left, *right)))
    if isinstance(sign, ast.Is | ast.IsNot):
        return _OPERATORS[type(sign)](left, right)
    if isinstance(sign, ast.Mult):
        return _times(left, right)
    if isinstance(sign, ast.Mod) and isinstance(left, str) and _WIDTH.search(left):
        raise NoValue
    if isinstance(sign, ast.Pow):
        return _power(left, right)
    if type(sign) not in _OPERATORS or not is_plain(left) or not is_plain(right):
        raise NoValue
    return guarded(lambda: _OPERATORS[type(sign)](left, right))


def _times(left: Value, right: Value) -> Value:
    if isinstance(left, int) and isinstance(right, list | tuple | str):
        left, right = right, left
    if isinstance(left, list | tuple | str) and isinstance(right, int):
        if len(left) * right > MOST_ITEMS:
            what = "text" if isinstance(left, str) else "list"
            raise TooMuch(f"a {what} of {len(left) * right:,} items, more than {MOST_ITEMS:,}")
        return left * right
    if not is_plain(left) or not is_plain(right):
        raise NoValue
    return guarded(lambda: left * right)


def _power(left: Value, right: Value) -> Value:
    if type(left) is not int or type(right) is not int or not 0 <= right <= MOST_BITS or left.bit_length() > 32:
        raise NoValue
    return bounded(left**right)


def guarded(make: Callable[[], Value]) -> Value:
    try:
        return bounded(make())
    except (TooMuch, NoValue):
        raise
    except Exception:
        raise NoValue from None


def method(receiver: Value, name: str, args: list[Value], named: dict[str, Value]) -> Value:
    """Calls a method of a text, a list, a mapping or a set. Those that hold values take any."""
    if isinstance(receiver, str) and name in _TEXT:
        if any(isinstance(each, set) for each in args):
            raise NoValue
        if not is_plain(args) or not is_plain(named) or (name == "format" and _WIDTH.search(receiver)):
            raise NoValue
        if name == "replace" and len(args) > 1 and len(receiver) * max(len(str(args[1])), 1) > 100 * MOST_TEXT:
            raise TooMuch(f"a text of more than {MOST_TEXT:,} characters")
        return guarded(lambda: getattr(receiver, name)(*args, **named))
    known = _LIST if isinstance(receiver, list) else _MAPPING if isinstance(receiver, dict) else _SET
    if isinstance(receiver, list | dict | set) and name in known:
        if len(receiver) >= MOST_ITEMS:
            raise TooMuch(f"a list of more than {MOST_ITEMS:,} items")
        made = guarded(lambda: getattr(receiver, name)(*args, **named))
        return list(made) if name in ("items", "keys", "values") else made
    raise NoValue


def builtin(name: str, args: list[Value], named: dict[str, Value]) -> Value:
    if name == "range":
        return guarded(lambda: range(*args))
    if any(isinstance(each, set) for each in args) and name not in ("sorted", "len", "min", "max", "sum", "any", "all"):
        raise NoValue  # a set has no order that a file says
    if name not in BUILTINS or (name not in _HOLDERS and not (is_plain(args) and is_plain(named))):
        raise NoValue
    return guarded(lambda: BUILTINS[name](*args, **named))


def formatted(value: Value, conversion: int, spec: str) -> str:
    """A hole of an f-string."""
    if not is_plain(value) or isinstance(value, set) or _WIDTH.search(spec):
        raise NoValue
    shown = repr(value) if conversion in (ord("r"), ord("a")) else str(value) if conversion == ord("s") else value
    return str(guarded(lambda: format(shown, spec)))


def item(value: Value, key: Value) -> Value:
    if isinstance(value, str | list | tuple | dict | range):
        return guarded(lambda: value[key])
    raise NoValue
