"""The parts of a parsed expression. Each is a function of the scope, built once and run many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bt_runtime.faults.diagnostic import nearest
from bt_runtime.language.expression.call import Function
from bt_runtime.language.expression.error import NAME, ExpressionError, Misfit
from bt_runtime.language.expression.scope import Run, Scope, Value
from bt_runtime.language.expression.token import LONGEST
from bt_runtime.language.expression.value import (
    ARITHMETIC,
    COMPARISONS,
    NUMBERS,
    PLAIN,
    admit,
    bounded,
    field_of,
    item,
    kind,
    part,
    truth,
)


class Part:
    """A node of the parsed expression. `run` computes its value; a constant does not depend on the scope.

    `how` names the operation (a sign, a function or a keyword), `of` its operands; the checks read both."""

    __slots__ = ("constant", "end", "how", "of", "run", "start")

    def __init__(
        self, run: Run, start: int, end: int, constant: bool = False, how: str = "", of: Sequence[Any] = ()
    ) -> None:
        self.run = run
        self.start = start
        self.end = end
        self.constant = constant
        self.how = how
        self.of = of

    def misfit(self, reason: Misfit) -> ExpressionError:
        return ExpressionError(reason.code, reason.message, reason.hint, self.start, self.end)


def constant(value: Value, start: int, end: int) -> Part:
    return Part(lambda scope: value, start, end, True, "constant", (value,))


def name(word: str, start: int, end: int) -> Part:
    def run(scope: Scope) -> Value:
        try:
            value = scope[word]
        except KeyError:
            raise unknown(word, scope, start, end) from None
        return value if value.__class__ in PLAIN else admit(value)

    return Part(run, start, end, False, "name", (word,))


def unknown(word: str, known: object, start: int, end: int) -> ExpressionError:
    words = [each for each in known if isinstance(each, str)] if hasattr(known, "keys") else []  # type: ignore[attr-defined]
    near = nearest(word, words)
    hint = f"did you mean `{near}`?" if near else "name a port of this tree, or `set` it before"
    return ExpressionError(NAME, f"no value is named `{word}`", hint, start, end)


def exists(word: str, start: int, end: int) -> Part:
    def run(scope: Scope) -> Value:
        try:
            scope[word]
        except KeyError:
            return False
        return True

    return Part(run, start, end, False, "exists")


def chain(first: Part, rest: Sequence[tuple[str, Part]]) -> Part:
    """Builds a chain such as `a + b - c` as one part, so that a long sum needs no deep stack."""
    made = Part(first.run, first.start, rest[-1][1].end, first.constant and all(p.constant for _, p in rest))
    made.how, made.of = "chain", (first, *rest)
    if len(rest) == 1:
        operation, left, right = ARITHMETIC[rest[0][0]], first.run, rest[0][1].run

        def run(scope: Scope) -> Value:
            try:
                return operation(left(scope), right(scope))
            except Misfit as reason:
                raise made.misfit(reason) from None
    else:
        head, steps = first.run, [(ARITHMETIC[sign], part.run) for sign, part in rest]

        def run(scope: Scope) -> Value:
            value = head(scope)
            try:
                for operation, operand in steps:
                    value = operation(value, operand(scope))
            except Misfit as reason:
                raise made.misfit(reason) from None
            return value

    made.run = run
    return folded(made)


def comparison(first: Part, rest: Sequence[tuple[str, Part]]) -> Part:
    """Builds `a < b <= c`. Each operand is evaluated at most once, a later one only when needed."""
    made = Part(first.run, first.start, rest[-1][1].end, first.constant and all(p.constant for _, p in rest))
    made.how, made.of = "comparison", (first, *rest)
    if len(rest) == 1:
        made.run = _one(COMPARISONS[rest[0][0]], first.run, rest[0][1].run, made)
    else:
        made.run = _several(first.run, [(COMPARISONS[sign], part.run) for sign, part in rest], made)
    return folded(made)


def _one(holds: Callable[[Value, Value], bool], left: Run, right: Run, made: Part) -> Run:
    def run(scope: Scope) -> Value:
        try:
            return holds(left(scope), right(scope))
        except Misfit as reason:
            raise made.misfit(reason) from None

    return run


def _several(head: Run, steps: Sequence[tuple[Callable[[Value, Value], bool], Run]], made: Part) -> Run:
    def run(scope: Scope) -> Value:
        value = head(scope)
        try:
            for holds, operand in steps:
                following = operand(scope)
                if not holds(value, following):
                    return False
                value = following
        except Misfit as reason:
            raise made.misfit(reason) from None
        return True

    return run


def either(first: Part, rest: Sequence[tuple[str, Part]], stop: bool) -> Part:
    """Builds `or` (stops at the first true operand) and `and` (at the first false one); the value is that operand, as
    in Python."""
    parts = [first, *(p for _, p in rest)]
    runs, last = [p.run for p in parts[:-1]], parts[-1].run
    made = Part(last, first.start, parts[-1].end, all(p.constant for p in parts), "either", parts)

    def run(scope: Scope) -> Value:
        for each in runs:
            value = each(scope)
            if _true(value, made) is stop:
                return value
        return last(scope)

    made.run = run
    return made


def negation(operand: Part, times: int, start: int) -> Part:
    made = Part(operand.run, start, operand.end, operand.constant, "not", (operand,))
    inside, odd = operand.run, times % 2 == 1
    made.run = lambda scope: _true(inside(scope), made) is not odd
    return made


def choice(condition: Part, then: Part, otherwise: Part) -> Part:
    asked, yes, no = condition.run, then.run, otherwise.run
    return Part(
        lambda scope: yes(scope) if _true(asked(scope), condition) else no(scope),
        then.start,
        otherwise.end,
        condition.constant and then.constant and otherwise.constant,
        "choice",
        (condition, then, otherwise),
    )


def _true(value: Value, at: Part) -> bool:
    if value is True or value is False:
        return value is True
    try:
        return truth(value)
    except Misfit as reason:
        raise at.misfit(reason) from None


def applied(how: str, operation: Callable[..., Value], operands: Sequence[Part], start: int, end: int) -> Part:
    """Builds a function of values: a sign, an index, a slice or a call."""
    made = Part(operands[0].run, start, end, all(p.constant for p in operands), how, operands)
    runs = [p.run for p in operands]

    def run(scope: Scope) -> Value:
        values = [each(scope) for each in runs]
        try:
            return operation(*values)
        except Misfit as reason:
            raise made.misfit(reason) from None

    made.run = run
    return folded(made)


def called(word: str, function: Function, operands: Sequence[Part], start: int, end: int) -> Part:
    return applied(word, function.run, operands, start, end)


def indexed(value: Part, key: Part, end: int) -> Part:
    return applied("item", item, (value, key), value.start, end)


def field(value: Part, name: Part) -> Part:
    return applied("item", field_of, (value, name), value.start, name.end)


def sliced(value: Part, first: Part, last: Part, end: int) -> Part:
    return applied("slice", part, (value, first, last), value.start, end)


def listing(items: Sequence[Part], start: int, end: int) -> Part:
    """Builds a list part. Each evaluation returns a new list, which the receiver may change."""
    made = Part(lambda scope: [], start, end, False, "list", items)
    runs = [p.run for p in items]

    def run(scope: Scope) -> Value:
        try:
            return bounded([each(scope) for each in runs])
        except Misfit as reason:
            raise made.misfit(reason) from None

    if runs:
        made.run = run
    return made


def mapping(pairs: Sequence[tuple[Part, Part]], start: int, end: int) -> Part:
    made = Part(lambda scope: {}, start, end, False, "mapping", [each for pair in pairs for each in pair])
    runs = [(key.run, value.run) for key, value in pairs]

    def run(scope: Scope) -> Value:
        result = {}
        try:
            for key, value in runs:
                word = key(scope)
                if word.__class__ is not str and word.__class__ not in NUMBERS:
                    raise Misfit(f"a key is text or a number, and this is {kind(word)}")
                result[word] = value(scope)
            return bounded(result)
        except Misfit as reason:
            raise made.misfit(reason) from None

    if runs:
        made.run = run
    return made


def folded(made: Part) -> Part:
    """Evaluates a part without names now: it then costs nothing at run time, and its errors are found at load time."""
    if not made.constant:
        return made
    value = made.run({})
    if isinstance(value, (list, dict)) or (isinstance(value, str) and len(value) > LONGEST):
        return made  # a document full of large texts is no large document
    return constant(value, made.start, made.end)
