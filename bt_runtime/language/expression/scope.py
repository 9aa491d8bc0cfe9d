"""The mapping from names to values, and the words that are no names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

Value = Any  # None, bool, int, float, str, lists and mappings of those; what else a scope holds is only passed on


OPERATORS = frozenset(("and", "or", "not", "in", "is", "if", "else"))
CONSTANTS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None, "none": None}
STATEMENTS = frozenset((
    "lambda", "for", "while", "await", "async", "yield", "from", "import", "def", "class", "return", "with", "as",
    "assert", "del", "global", "nonlocal", "pass", "raise", "try", "except", "finally", "break", "continue",
))  # fmt: skip  # of Python: no part of an expression here
WORDS = OPERATORS | STATEMENTS | CONSTANTS.keys()  # an entry of such a name could be written, and never read


class ValueScope(Protocol):
    def __getitem__(self, name: str, /) -> Value:
        """Returns the value of a name; raises KeyError for an unknown name."""


Run: TypeAlias = Callable[[ValueScope], Value]  # an expression that was compiled
