"""Compiles parsed expressions and templates to Python functions of the scope.

A function's source is written from its parts: no character of the author's text is in it. Names, literals and called
functions are its default arguments, so that expressions of one shape share one code object. Each line belongs to one
part, by which a fault in that line gets its place in the author's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from bt_runtime.language.expression.call import show
from bt_runtime.language.expression.error import BOUND, NAME, ExpressionError, Misfit
from bt_runtime.language.expression.scope import Run, Value, ValueScope
from bt_runtime.language.expression.value import (
    ARITHMETIC,
    COMPARISONS,
    MOST_TEXT,
    NUMBERS,
    PLAIN,
    admit,
    bounded,
    key_of,
    number,
    plain,
    too_large,
    truth,
)
from bt_runtime.language.faults.diagnostic import did_you_mean

Part: TypeAlias = Any  # a Part of part.py, which imports this module
Hole: TypeAlias = Any
Root: TypeAlias = Part | tuple[Sequence[str | Hole], int]  # a part, or a template's pieces and length

_SCALARS = frozenset({*NUMBERS, str, type(None)})
_ORDER = frozenset({"<", "<=", ">", ">="})
_EQUAL = {"==": "==", "is": "==", "!=": "!=", "is not": "!="}
_BOOLEAN = frozenset({"comparison", "not", "exists"})
_MOST_CODES = 1024
_CODES: dict[tuple[Any, ...], CodeType] = {}  # compiled code by the expression's shape
_LEAST, _FIRST = 1_000_000_000, 3  # a number that needs no bound; the line of a function at which its parts begin


def function(root: Root) -> Run:
    """Returns the function of the scope. It raises ExpressionError, and nothing else, whatever the values are."""
    shape: list[Any] = []
    values: list[Value] = [root]
    if isinstance(root, tuple):
        for piece in root[0]:
            if isinstance(piece, str):
                shape.append(None)
                values.append(piece)
            else:
                shape.append(Hole)
                _look(piece.expression.part, shape, values)
        values.append(max(MOST_TEXT, root[1]))
    else:
        _look(root, shape, values)
    code = _CODES.get(key := tuple(shape))
    if code is None:
        if len(_CODES) >= _MOST_CODES:
            _CODES.clear()
        code = _CODES[key] = _compiled(root, len(values) - 1)
    return FunctionType(code, _WORDS, "run", tuple(values))


def _look(part: Part, shape: list[Any], values: list[Value]) -> None:
    """Adds what the source of a part depends on to `shape`, and its arguments to `values`: its own, then those of its
    operands."""
    how = part.how
    if how == "name" or how == "constant":
        value = part.of[0]
        shape.append(how if how == "name" else float if value.__class__ in NUMBERS else value.__class__)
        values.append(value)
        return
    operands = part.of
    if how == "chain" or how == "comparison":
        signs = [sign for sign, _ in operands[1:]]
        table: Mapping[str, Any] = ARITHMETIC if how == "chain" else COMPARISONS
        shape.append((how, *signs))
        values += [table[sign] for sign in signs]
        operands = [operands[0], *(operand for _, operand in operands[1:])]
    elif how == "either" or how == "not":
        shape.append((how, part.operation, len(operands)))
    elif how in _PARTS and how != "exists":
        shape.append((how, len(operands)))
    else:
        shape.append((how == "exists", len(operands)))
        values.append(part.operation)
    for each in operands:
        _look(each, shape, values)


def _compiled(root: Root, arguments: int) -> CodeType:
    writer = _Writer()
    result = writer.whole(root)
    names = "".join([f", k{i}" for i in range(arguments)])
    body = "\n".join([line for line, *_ in writer.lines])
    source = (
        f"def run(s, root{names}):\n try:\n{body}\n  return {result}\n"
        " except (KeyError, Misfit, OverflowError, RecursionError) as reason:\n"
        "  raise located(reason, root, s) from None\n"
    )
    module = compile(source, "<expression>", "exec", dont_inherit=True)
    return next(each for each in module.co_consts if isinstance(each, CodeType))


def _located(reason: Exception, root: Root, scope: ValueScope) -> Exception:
    """Returns the fault with its place: that of the part whose line raised it."""
    writer = _Writer()
    writer.whole(root)
    assert reason.__traceback__ is not None
    at = reason.__traceback__.tb_lineno - _FIRST
    _, part, start, end = writer.lines[min(at, len(writer.lines) - 1)]
    if isinstance(reason, Misfit):
        return ExpressionError(reason.code, reason.message, reason.hint, start, end)
    if isinstance(reason, KeyError):
        if part is None or part.how != "name":
            return reason
        word, start = part.of[0], start - part.start + part.operation
        return _unknown(word, scope, start, start + len(word))
    if isinstance(reason, OverflowError):
        return ExpressionError(BOUND, "this number would be too large", "", start, end)
    return ExpressionError(BOUND, "these values are nested too deeply", "", start, end)


def _unknown(word: str, known: object, start: int, end: int) -> ExpressionError:
    known = getattr(known, "scope", known)  # entries know all names that can be read
    words = [each for each in known if isinstance(each, str)] if hasattr(known, "keys") else []  # type: ignore[attr-defined]
    hint = did_you_mean(word, words, "name a port of this tree, or `set` it before")
    return ExpressionError(NAME, f"no value is named `{word}`", hint, start, end)


def _exists(scope: ValueScope, word: str) -> bool:
    try:
        scope[word]
    except KeyError:
        return False
    return True


def _fitting(text: str, most: int) -> str:
    if len(text) > most:
        raise too_large("this text", MOST_TEXT, "characters")
    return text


_WORDS: dict[str, Any] = {
    "NUMBERS": NUMBERS, "PLAIN": PLAIN, "SCALARS": _SCALARS, "Misfit": Misfit, "admit": admit, "bounded": bounded,
    "exists": _exists, "fitting": _fitting, "key_of": key_of, "located": _located, "number": number, "plain": plain,
    "show": show, "truth": truth,
}  # fmt: skip  # all that the source of a function names


class _Writer:
    """Writes a function's lines. Each method returns the word for its part's value: a variable or an argument."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Part | None, int, int]] = []  # … the part, and its place in the whole text
        self.arguments = 0  # number of arguments, in the order of `_look`
        self.level = 2
        self.count = 0  # variables
        self.shift = 0  # the place of the part's text in the whole text

    def whole(self, root: Root) -> str:
        return self.text(*root) if isinstance(root, tuple) else self.operand(root)

    def line(self, part: Part, text: str) -> None:
        self.lines.append((" " * self.level + text, part, part.start + self.shift, part.end + self.shift))

    def argument(self) -> str:
        self.arguments += 1
        return f"k{self.arguments - 1}"

    def variable(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def operand(self, part: Part) -> str:
        if part.how == "constant":
            return self.argument()
        write: Callable[[_Writer, Part], str] = _PARTS.get(part.how, _Writer.call)
        return write(self, part)

    def loose(self, part: Part) -> tuple[str, str]:
        """Returns the operand, and the same for an operation that does not look at its class first."""
        if part.how != "name":
            word = self.operand(part)
            return word, word
        word = self.variable()
        self.line(part, f"{word} = s[{self.argument()}]")
        return word, f"plain({word})"

    def name(self, part: Part) -> str:
        word, _ = self.loose(part)
        self.line(part, f"if {word}.__class__ not in PLAIN: {word} = admit({word})")
        return word

    def call(self, part: Part) -> str:
        called = self.argument()
        words = [self.operand(each) for each in part.of]
        word = self.variable()
        self.line(part, f"{word} = {called}({', '.join(words)})")
        return word

    def exists(self, part: Part) -> str:
        word = self.variable()
        self.line(part, f"{word} = exists(s, {self.argument()})")
        return word

    def chain(self, part: Part) -> str:
        first, *rest = part.of
        slow_ones = [self.argument() for _ in rest]
        (left, slow), number = self.loose(first), _number(first)
        for (sign, operand), called in zip(rest, slow_ones, strict=True):
            right, slow_right = self.loose(operand)
            word = self.variable()
            slow_way = f"{word} = {called}({slow}, {slow_right})"
            test = _all(_in("NUMBERS", left, number), _in("NUMBERS", right, _number(operand)))
            if sign in "+-" and test:
                self.line(part, f"if {test}:")
                self.line(part, f" {word} = {left} {sign} {right}")
                self.line(part, f" if {word}.__class__ is not float and not -{_LEAST} < {word} < {_LEAST}: number({word})")  # fmt: skip # noqa: E501
                self.line(part, f"else: {slow_way}")
            else:
                self.line(part, slow_way)
            left = slow = word
            number = False
        return left

    def comparison(self, part: Part) -> str:
        level, word = self.level, self.variable()
        first, *rest = part.of
        slow_ones = [self.argument() for _ in rest]
        left, slow = self.loose(first)
        for at, (sign, operand) in enumerate(rest):
            if at:
                self.line(part, f"if {word}:")
                self.level += 1
            right, slow_right = self.loose(operand)
            test, way = self.quickly(sign, first, left, operand, right)
            slow_way = f"{word} = {slow_ones[at]}({slow}, {slow_right})"
            if test:
                self.line(part, f"if {test}: {word} = {left} {way} {right}")
                self.line(part, f"else: {slow_way}")
            else:
                self.line(part, slow_way)
            first, left, slow, self.level = operand, right, slow_right, level
        return word

    def quickly(self, sign: str, one: Part, left: str, other: Part, right: str) -> tuple[str, str]:
        """Returns the test by which Python's own comparison may be made, and its sign; "" when it never may."""
        if sign in _ORDER:
            for each in (one, other):
                if each.how == "constant" and each.of[0].__class__ is str:
                    return _all(*(f"{w}.__class__ is str" for p, w in ((one, left), (other, right)) if p is not each)), sign  # fmt: skip # noqa: E501
            return _all(_in("NUMBERS", left, _number(one)), _in("NUMBERS", right, _number(other))), sign
        if sign in _EQUAL:
            fixed = [each.how == "constant" for each in (one, other)]
            classes = "PLAIN" if any(fixed) else "SCALARS"
            return _all(_in(classes, left, fixed[0]), _in(classes, right, fixed[1])), _EQUAL[sign]
        return "", ""

    def either(self, part: Part) -> str:
        level, word, test = self.level, self.variable(), ""
        for at, operand in enumerate(part.of):
            if at:
                self.line(part, f"if {'not ' if part.operation else ''}({test}):")
                self.level += 1
            self.line(part, f"{word} = {self.operand(operand)}")
            self.level, test = level, _true(operand, word)
        return word

    def negation(self, part: Part) -> str:
        inside = self.operand(part.of[0])
        word = self.variable()
        self.line(part, f"{word} = {'not ' if part.operation else ''}({_true(part.of[0], inside)})")
        return word

    def choice(self, part: Part) -> str:
        condition, then, otherwise = part.of
        test, word = _true(condition, self.operand(condition)), self.variable()
        for head, branch in ((f"if {test}:", then), ("else:", otherwise)):
            self.line(condition, head)
            self.level += 1
            self.line(part, f"{word} = {self.operand(branch)}")
            self.level -= 1
        return word

    def list(self, part: Part) -> str:
        words = [self.operand(each) for each in part.of]
        word = self.variable()
        self.line(part, f"{word} = " + (f"bounded([{', '.join(words)}])" if words else "[]"))
        return word

    def mapping(self, part: Part) -> str:
        pairs = []
        for key, value in zip(part.of[::2], part.of[1::2], strict=True):
            word = self.operand(key)
            self.line(part, f"key_of({word})")
            pairs.append(f"{word}: {self.operand(value)}")
        word = self.variable()
        self.line(part, f"{word} = " + (f"bounded({{{', '.join(pairs)}}})" if pairs else "{}"))
        return word

    def text(self, pieces: Sequence[str | Hole], length: int) -> str:
        """Writes a template. One that is a single hole keeps the type of its value."""
        words = []
        for piece in pieces:
            if isinstance(piece, str):
                words.append(self.argument())
                continue
            self.shift = piece.at
            words.append(word := self.operand(piece.expression.part))
            if len(pieces) > 1:
                shown = words[-1] = self.variable()
                line = f"  {shown} = {word} if {word}.__class__ is str else show({word})"
                self.lines.append((line, None, piece.at, piece.at + len(piece.expression.text)))
        if len(words) == 1:
            return words[0]
        whole, most = self.variable(), self.argument()
        line = f"  {whole} = fitting(f'{{{'}{'.join(words)}}}', {most})"
        self.lines.append((line, None, 0, length))
        return whole


def _true(part: Part, word: str) -> str:
    return word if part.how in _BOOLEAN else f"{word} is True or {word} is not False and truth({word})"


def _number(part: Part) -> bool:
    return part.how == "constant" and part.of[0].__class__ in NUMBERS


def _in(classes: str, word: str, surely: bool) -> str:
    return "" if surely else f"{word}.__class__ in {classes}"


def _all(*tests: str) -> str:
    return " and ".join([test for test in tests if test])


_PARTS: Mapping[str, Callable[[_Writer, Part], str]] = {
    "name": _Writer.name, "exists": _Writer.exists, "chain": _Writer.chain, "comparison": _Writer.comparison,
    "either": _Writer.either, "not": _Writer.negation, "choice": _Writer.choice, "list": _Writer.list,
    "mapping": _Writer.mapping,
}  # fmt: skip
