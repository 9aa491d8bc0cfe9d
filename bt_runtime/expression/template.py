"""Text with holes: `go to {room}`. `{{` and `}}` stand for the braces themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bt_runtime.expression.call import show
from bt_runtime.expression.error import BOUND, HOLE, ExpressionError, Misfit
from bt_runtime.expression.expression import Expression, compile
from bt_runtime.expression.scope import Scope, Value
from bt_runtime.expression.token import LONGEST, scan
from bt_runtime.expression.value import MOST_TEXT

MOST_HOLES = 100
_BRACE = re.compile(r"\{\{|\}\}|\{")


class Template:
    """A text that is one hole and nothing else keeps the type of its value."""

    __slots__ = ("names", "pieces", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[str | tuple[Expression, int]] = _pieces(text) if "{" in text or "}" in text else [text]
        self.names: dict[str, tuple[int, int]] = {}  # as those of an expression, but places in this text
        for piece in self.pieces:
            if not isinstance(piece, str):
                for name, (start, end) in piece[0].names.items():
                    self.names.setdefault(name, (start + piece[1], end + piece[1]))

    @property
    def constant(self) -> bool:
        """No hole at all: the text stands for itself."""
        return all(isinstance(piece, str) for piece in self.pieces)

    @property
    def whole(self) -> Expression | None:
        """The expression of a text that is one hole."""
        first = self.pieces[0]
        return first[0] if len(self.pieces) == 1 and not isinstance(first, str) else None

    def evaluate(self, scope: Scope) -> Value:
        """Raises ExpressionError, and nothing else, whatever the values are."""
        if len(self.pieces) == 1:
            piece = self.pieces[0]
            return piece if isinstance(piece, str) else _filled(piece, scope)
        shown, left = [], MOST_TEXT
        for piece in self.pieces:
            shown.append(piece if isinstance(piece, str) else _shown(piece, scope))
            left -= len(shown[-1])
            if left < 0:
                hint = f"at most {MOST_TEXT:,} characters"
                raise ExpressionError(BOUND, "this text would be too large", hint, 0, len(self.text))
        return "".join(shown)

    def unknown(self, known: Iterable[str]) -> list[ExpressionError]:
        """A fault for each name that is not among the known ones."""
        words = dict.fromkeys(known)
        holes = [piece for piece in self.pieces if not isinstance(piece, str)]
        return [fault.shifted(offset) for hole, offset in holes for fault in hole.unknown(words)]

    def __repr__(self) -> str:
        return f"Template({self.text!r})"


def _filled(hole: tuple[Expression, int], scope: Scope) -> Value:
    try:
        return hole[0].evaluate(scope)
    except ExpressionError as fault:
        raise fault.shifted(hole[1]) from None


def _shown(hole: tuple[Expression, int], scope: Scope) -> str:
    try:
        return show(_filled(hole, scope))
    except Misfit as reason:
        end = hole[1] + len(hole[0].text)
        raise ExpressionError(reason.code, reason.message, reason.hint, hole[1], end) from None


def _pieces(text: str) -> list[str | tuple[Expression, int]]:
    pieces: list[str | tuple[Expression, int]] = []
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
        end = _closing(text, at)
        if plain:
            pieces.append(plain)
            plain = ""
        pieces.append((_hole(text[at:end], at), at))
        at = end + 1
    plain += text[at:]
    if plain or not pieces:
        pieces.append(plain)
    return pieces


def _hole(text: str, at: int) -> Expression:
    if not text.strip():
        raise ExpressionError(
            HOLE, "this hole is empty", "put a name in it, or write `{{}}` for two braces", at - 1, at + 1
        )
    try:
        return compile(text)
    except ExpressionError as fault:
        raise fault.shifted(at) from None


def _closing(text: str, start: int) -> int:
    """Where the hole ends: at the first brace that closes nothing inside it."""
    window, at, depth = text[start : start + LONGEST + 1], 0, 0
    while True:
        try:
            token, at = scan(window, at)
        except ExpressionError as fault:
            raise fault.shifted(start) if "}" in window else _unclosed(start) from None
        if token.kind == "end":
            raise _unclosed(start)
        if token.kind == "sign" and token.text in "{}":
            depth += 1 if token.text == "{" else -1
            if depth < 0:
                return start + token.start


def _unclosed(start: int) -> ExpressionError:
    hint = "close it by `}`, or write `{{` for a brace"
    return ExpressionError(HOLE, "this `{` is never closed", hint, start - 1, start)
