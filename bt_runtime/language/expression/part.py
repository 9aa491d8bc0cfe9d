"""The parts of a parsed expression: what is done with which operands, and where it stands in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bt_runtime.language.expression.call import Function
from bt_runtime.language.expression.code import function
from bt_runtime.language.expression.scope import Value
from bt_runtime.language.expression.token import LONGEST
from bt_runtime.language.expression.value import field_of, item, part


class ParsedPart:
    """A node of the parsed expression. A constant does not depend on the scope.

    `how` names the operation (a sign, a function or a keyword), `of` its operands; the checks read both. `operation`
    is what is called with the operands' values, or what else the operation needs to know."""

    __slots__ = ("constant", "end", "how", "of", "operation", "start")

    def __init__(
        self, how: str, of: Sequence[Any], start: int, end: int, constant: bool = False, operation: Any = None
    ) -> None:
        self.how = how
        self.of = of
        self.start = start
        self.end = end
        self.constant = constant
        self.operation = operation


def constant(value: Value, start: int, end: int) -> ParsedPart:
    return ParsedPart("constant", (value,), start, end, True)


def name(word: str, start: int, end: int) -> ParsedPart:
    return ParsedPart("name", (word,), start, end, False, start)  # … without the brackets around it


def exists(word: str, start: int, end: int) -> ParsedPart:
    return ParsedPart("exists", (), start, end, False, word)


def chain(first: ParsedPart, rest: Sequence[tuple[str, ParsedPart]]) -> ParsedPart:
    """Builds a chain such as `a + b - c` as one part, so that a long sum needs no deep stack."""
    return _folded(_signs("chain", first, rest))


def comparison(first: ParsedPart, rest: Sequence[tuple[str, ParsedPart]]) -> ParsedPart:
    """Builds `a < b <= c`. Each operand is evaluated at most once, a later one only when needed."""
    return _folded(_signs("comparison", first, rest))


def _signs(how: str, first: ParsedPart, rest: Sequence[tuple[str, ParsedPart]]) -> ParsedPart:
    fixed = first.constant and all(p.constant for _, p in rest)
    return ParsedPart(how, (first, *rest), first.start, rest[-1][1].end, fixed)


def either(first: ParsedPart, rest: Sequence[tuple[str, ParsedPart]], stop: bool) -> ParsedPart:
    """Builds `or` (stops at the first true operand) and `and` (at the first false one); the value is that operand, as
    in Python."""
    parts = [first, *(p for _, p in rest)]
    return ParsedPart("either", parts, first.start, parts[-1].end, all(p.constant for p in parts), stop)


def negation(operand: ParsedPart, times: int, start: int) -> ParsedPart:
    return ParsedPart("not", (operand,), start, operand.end, operand.constant, times % 2 == 1)


def choice(condition: ParsedPart, then: ParsedPart, otherwise: ParsedPart) -> ParsedPart:
    fixed = condition.constant and then.constant and otherwise.constant
    return ParsedPart("choice", (condition, then, otherwise), then.start, otherwise.end, fixed)


def applied(how: str, operation: Any, operands: Sequence[ParsedPart], start: int, end: int) -> ParsedPart:
    """Builds a function of values: a sign, an index, a slice or a call."""
    return _folded(ParsedPart(how, operands, start, end, all(p.constant for p in operands), operation))


def called(word: str, function: Function, operands: Sequence[ParsedPart], start: int, end: int) -> ParsedPart:
    return applied(word, function.run, operands, start, end)


def indexed(value: ParsedPart, key: ParsedPart, end: int) -> ParsedPart:
    return applied("item", item, (value, key), value.start, end)


def field(value: ParsedPart, name: ParsedPart) -> ParsedPart:
    return applied("item", field_of, (value, name), value.start, name.end)


def sliced(value: ParsedPart, first: ParsedPart, last: ParsedPart, end: int) -> ParsedPart:
    return applied("slice", part, (value, first, last), value.start, end)


def listing(items: Sequence[ParsedPart], start: int, end: int) -> ParsedPart:
    """Builds a list part. Each evaluation returns a new list, which the receiver may change."""
    return ParsedPart("list", items, start, end)


def mapping(pairs: Sequence[tuple[ParsedPart, ParsedPart]], start: int, end: int) -> ParsedPart:
    return ParsedPart("mapping", [each for pair in pairs for each in pair], start, end)


def _folded(made: ParsedPart) -> ParsedPart:
    """Evaluates a part without names now: it then costs nothing at run time, and its errors are found at load time."""
    if not made.constant:
        return made
    value = function(made)({})
    if isinstance(value, (list, dict)) or (isinstance(value, str) and len(value) > LONGEST):
        return made  # a document full of large texts is no large document
    return constant(value, made.start, made.end)
