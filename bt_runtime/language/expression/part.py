"""The parts of a parsed expression: what is done with which operands, and where it stands in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bt_runtime.language.expression.call import Function
from bt_runtime.language.expression.code import function
from bt_runtime.language.expression.scope import Value
from bt_runtime.language.expression.token import LONGEST
from bt_runtime.language.expression.value import field_of, item, part


class Operand:
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


def constant(value: Value, start: int, end: int) -> Operand:
    return Operand("constant", (value,), start, end, True)


def name(word: str, start: int, end: int) -> Operand:
    return Operand("name", (word,), start, end, False, start)  # … without the brackets around it


def exists(word: str, start: int, end: int) -> Operand:
    return Operand("exists", (), start, end, False, word)


def chain(first: Operand, rest: Sequence[tuple[str, Operand]]) -> Operand:
    """Builds a chain such as `a + b - c` as one part, so that a long sum needs no deep stack."""
    return _folded(_signs("chain", first, rest))


def comparison(first: Operand, rest: Sequence[tuple[str, Operand]]) -> Operand:
    """Builds `a < b <= c`. Each operand is evaluated at most once, a later one only when needed."""
    return _folded(_signs("comparison", first, rest))


def _signs(how: str, first: Operand, rest: Sequence[tuple[str, Operand]]) -> Operand:
    fixed = first.constant and all(p.constant for _, p in rest)
    return Operand(how, (first, *rest), first.start, rest[-1][1].end, fixed)


def either(first: Operand, rest: Sequence[tuple[str, Operand]], stop: bool) -> Operand:
    """Builds `or` (stops at the first true operand) and `and` (at the first false one); the value is that operand, as
    in Python."""
    parts = [first, *(p for _, p in rest)]
    return Operand("either", parts, first.start, parts[-1].end, all(p.constant for p in parts), stop)


def negation(operand: Operand, times: int, start: int) -> Operand:
    return Operand("not", (operand,), start, operand.end, operand.constant, times % 2 == 1)


def choice(condition: Operand, then: Operand, otherwise: Operand) -> Operand:
    fixed = condition.constant and then.constant and otherwise.constant
    return Operand("choice", (condition, then, otherwise), then.start, otherwise.end, fixed)


def applied(how: str, operation: Any, operands: Sequence[Operand], start: int, end: int) -> Operand:
    """Builds a function of values: a sign, an index, a slice or a call."""
    return _folded(Operand(how, operands, start, end, all(p.constant for p in operands), operation))


def called(word: str, function: Function, operands: Sequence[Operand], start: int, end: int) -> Operand:
    return applied(word, function.run, operands, start, end)


def indexed(value: Operand, key: Operand, end: int) -> Operand:
    return applied("item", item, (value, key), value.start, end)


def field(value: Operand, name: Operand) -> Operand:
    return applied("item", field_of, (value, name), value.start, name.end)


def sliced(value: Operand, first: Operand, last: Operand, end: int) -> Operand:
    return applied("slice", part, (value, first, last), value.start, end)


def listing(items: Sequence[Operand], start: int, end: int) -> Operand:
    """Builds a list part. Each evaluation returns a new list, which the receiver may change."""
    return Operand("list", items, start, end)


def mapping(pairs: Sequence[tuple[Operand, Operand]], start: int, end: int) -> Operand:
    return Operand("mapping", [each for pair in pairs for each in pair], start, end)


def _folded(made: Operand) -> Operand:
    """Evaluates a part without names now: it then costs nothing at run time, and its errors are found at load time."""
    if not made.constant:
        return made
    value = function(made)({})
    if isinstance(value, (list, dict)) or (isinstance(value, str) and len(value) > LONGEST):
        return made  # a document full of large texts is no large document
    return constant(value, made.start, made.end)
