"""The expressions inside a value of a spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def expressions_in(value: Any) -> Iterator[Any]:
    """Yields each expression and template in a value, in mappings and lists as well."""
    if hasattr(value, "evaluate"):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from expressions_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from expressions_in(each)
