"""The holes of a text, such as `{room}`: finds them and parses their expressions."""

from __future__ import annotations

import re

from bt_runtime.language.expression.error import BOUND, HOLE, SYNTAX, ExpressionError
from bt_runtime.language.expression.expression import Expression, compile
from bt_runtime.language.expression.token import LONGEST, scan

_CLOSER = frozenset("{'\"")
MOST_HOLES = 100
_BRACE = re.compile(r"\{\{|\}\}|\{")


class Hole:
    """An expression, and where it begins in the text around it."""

    __slots__ = ("at", "expression")

    def __init__(self, expression: Expression, at: int) -> None:
        self.expression = expression
        self.at = at


def cut(text: str) -> list[str | Hole]:
    """Splits a text into the pieces between its holes, and the holes; there is at least one piece."""
    pieces: list[str | Hole] = []
    plain, at, holes = "", 0, 0
    while brace := _BRACE.search(text, at):
        plain += text[at : brace.start()]
        at = brace.end()
        if brace[0] != "{":
            plain += brace[0][0]
            continue
        holes += 1
        if holes > MOST_HOLES:
            raise ExpressionError(BOUND, "too many holes", f"at most {MOST_HOLES} in one text", brace.start(), at)
        end = text.find("}", at)
        made = _plainly(text[at:end]) if end >= 0 else None
        if made is None:
            end = _closing(text, at)
            made = _compiled(text[at:end], at)
        if plain:
            pieces.append(plain)
            plain = ""
        pieces.append(Hole(made, at))
        at = end + 1
    plain += text[at:]
    if plain or not pieces:
        pieces.append(plain)
    return pieces


def _plainly(text: str) -> Expression | None:
    """Returns the expression of a hole without quotes and braces in it; None when it needs a closer look."""
    if not _CLOSER.isdisjoint(text):
        return None
    try:
        return compile(text)
    except ExpressionError:
        return None


def _compiled(text: str, at: int) -> Expression:
    if not text.strip():
        raise ExpressionError(
            HOLE, "this hole is empty", "put a name in it, or write `{{}}` for two braces", at - 1, at + 1
        )
    try:
        return compile(text)
    except ExpressionError as fault:
        raise fault.shifted(at) from None


def _closing(text: str, start: int) -> int:
    """Returns the end of the hole: the first brace that closes nothing inside."""
    window, at, depth = text[start : start + LONGEST + 1], 0, 0
    while True:
        try:
            token, at = scan(window, at)
        except ExpressionError as fault:
            _formatted(window.partition("}")[0], start)
            raise fault.shifted(start) if "}" in window else _unclosed(start) from None
        if token.kind == "end":
            raise _unclosed(start)
        if token.kind == "sign" and token.text in "{}":
            depth += 1 if token.text == "{" else -1
            if depth < 0:
                return start + token.start


def _formatted(text: str, start: int) -> None:
    """Raises for a hole with a format, as `{n:.2f}`: the value is rounded by an expression here."""
    name, _, places = text.rpartition(":.")
    if name and "}" not in name and places.rstrip("f").isdecimal():
        hint = f"no formats here: `{{round({name.strip()}, {places.rstrip('f')})}}`"
        raise ExpressionError(SYNTAX, "a hole has no format", hint, start, start + len(text))


def _unclosed(start: int) -> ExpressionError:
    hint = "close it by `}`, or write `{{` for a brace"
    return ExpressionError(HOLE, "this `{` is never closed", hint, start - 1, start)
