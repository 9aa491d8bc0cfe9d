"""The mapping from names to values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

Value = Any  # None, bool, int, float, str, lists and mappings of those; what else a scope holds is only passed on


class Scope(Protocol):
    def __getitem__(self, name: str, /) -> Value:
        """Returns the value of a name; raises KeyError for an unknown name."""


Run: TypeAlias = Callable[[Scope], Value]  # an expression that was compiled
