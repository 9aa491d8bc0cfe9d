"""Compiled expressions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from bt_runtime.language.expression.error import BOUND, ExpressionError
from bt_runtime.language.expression.scope import Scope, Value

if TYPE_CHECKING:
    from bt_runtime.language.expression.part import Part


class Expression:
    """A parsed expression. `names` maps each name it reads to its first place; `asked` are the names inside
    `exists`."""

    __slots__ = ("asked", "names", "part", "run", "text")

    def __init__(self, text: str, part: Part, names: Mapping[str, tuple[int, int]], asked: frozenset[str]) -> None:
        self.text = text
        self.part = part  # how it is made, for the checks
        self.run = part.run
        self.names = names
        self.asked = asked

    @property
    def constant(self) -> bool:
        return self.part.constant

    def evaluate(self, scope: Scope) -> Value:
        """Raises ExpressionError, and nothing else, whatever the values are."""
        try:
            return self.run(scope)
        except RecursionError:
            raise ExpressionError(BOUND, "these values are nested too deeply", "", 0, len(self.text)) from None

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


@lru_cache(maxsize=1024)
def compile(text: str) -> Expression:
    """Raises ExpressionError with the place in the text."""
    from bt_runtime.language.expression.parse import Parser

    parser = Parser(text)
    made = parser.whole()
    if not parser.names and not parser.asked:
        made.run({})  # what can only fail is a fault of the text
    return Expression(text, made, parser.names, frozenset(parser.asked))
