"""What names stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

Value = Any  # None, bool, int, float, str, lists and mappings of those; what else a scope holds is only passed on


class Scope(Protocol):
    def __getitem__(self, name: str, /) -> Value:
        """What a name stands for; KeyError when it stands for nothing."""


Run: TypeAlias = Callable[[Scope], Value]  # an expression that was compiled
