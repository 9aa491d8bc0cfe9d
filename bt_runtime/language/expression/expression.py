"""Compiled expressions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bt_runtime.language.expression.scope import Run, Value, ValueScope

if TYPE_CHECKING:
    from bt_runtime.language.expression.part import Operand


class Computed:
    """What has a value in a scope. `run` computes it: compiled when first asked for, it raises no other error."""

    __slots__ = ("run",)
    run: Run
    root: Any  # the parsed parts that the function is compiled from

    def __getattr__(self, name: str) -> Any:
        if name != "run":
            raise AttributeError(name)
        from bt_runtime.language.expression.code import function

        self.run = run = function(self.root)
        return run

    def evaluate(self, scope: ValueScope) -> Value:
        return self.run(scope)


class Expression(Computed):
    """A parsed expression. `names` maps each name it reads to its first place; `asked` are the names inside
    `exists`."""

    __slots__ = ("asked", "names", "part", "text")

    def __init__(self, text: str, part: Operand, names: Mapping[str, tuple[int, int]], asked: frozenset[str]) -> None:
        self.text = text
        self.part = part  # how it is made, for the checks
        self.names = names
        self.asked = asked

    root = property(lambda self: self.part)

    @property
    def constant(self) -> bool:
        return self.part.constant

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


@lru_cache(maxsize=1024)
def compile(text: str) -> Expression:
    """Raises ExpressionError with the place in the text."""
    from bt_runtime.language.expression.parse import Parser

    parser = Parser(text)
    made = parser.whole()
    found = Expression(text, made, parser.names, frozenset(parser.asked))
    if not parser.names and not parser.asked and made.how != "constant":
        found.run({})  # a constant expression that fails is a fault of the text
    return found
